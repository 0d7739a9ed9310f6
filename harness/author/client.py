"""The judge's side of the author's process: starts it, asks it, watches it, reads its numbers."""

import atexit
import math
import mmap
import os
import select
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

import torch
from torch import Tensor

from harness.author.messages import (
    ANSWERS,
    WIDE_NAMES,
    AuthorFailed,
    AuthorOpened,
    DrawTensors,
    FileLoaded,
    Kind,
    LoadFile,
    OpenAuthor,
    TensorsDrawn,
    WantedTensor,
)
from harness.errors import MachineError
from harness.sandbox import ROOT
from harness.sandbox.launch import Sandbox
from harness.sandbox.support import packages, search_path
from harness.sandbox.zygote import zygote
from harness.text.plain import plain
from harness.wire import transport
from harness.wire.memory import sealed_memory
from harness.wire.messages import Answer, Confined, Message
from harness.wire.validation import WireError

ENTRY = "harness.author.main:main"
WIDE: Mapping[Kind, torch.dtype] = {kind: getattr(torch, name) for kind, name in WIDE_NAMES.items()}
"""Kind of a tensor → the element type it travels as."""

MEMORY_BYTES = 8 << 30
"""Memory that drawing may take."""
PROCESSOR_S, IDLE_S = 120.0, 60.0
"""Processor time that one call of the function may take, and time without taking any."""

_ALIGNMENT = 64
_MOST = 4
"""Files whose processes are kept; each process holds torch."""
_POLL_S = 0.1
"""Limits are looked at so often: each look goes through all processes, and threads take turns."""
_INHERITED = ("LD_LIBRARY_PATH",)
_OUTPUT_BYTES = 4 << 10
_LAST_WORDS, _LAST_WORDS_S = 200, 0.5
"""Characters of the last line that a process has printed, and the time to read it."""
_FILES = (f"{ROOT}/harness/author",)

_STARTER = ThreadPoolExecutor(1, "start-author")
"""Its thread lasts as long as the judge."""

AnswerT = TypeVar("AnswerT", bound=Answer)


class AuthorError(Exception):
    """What is wrong with an author's file, in words, and the ``line`` of it, from 1."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


class AuthorComplaint(AuthorError):
    """One in the process's own words: it goes on."""


class AuthorProcess:
    """A confined process that runs somebody's Python; started when asked, again once it has ended.

    It sees Python, and of the harness what ``readable`` names; what it loads, it is given as text.
    One thread at a time may ask it: see :class:`Authors`.
    """

    entry: str
    readable: tuple[str, ...]
    answers: Mapping[str, type[Message]]
    """All that it may send, by type."""
    devices: tuple[str, ...] = ()
    """Device nodes that it may use."""
    variables: Mapping[str, str] = MappingProxyType({"CUDA_VISIBLE_DEVICES": ""})
    """Of its environment, beside those of all."""
    preload = ""
    """What a zygote imports, from which it is forked; empty for a fresh interpreter."""

    def __init__(self) -> None:
        self._sandbox: Sandbox | None = None

    @property
    def memory_bytes(self) -> int:
        """Memory that it may take."""
        return MEMORY_BYTES

    @property
    def processor_s(self) -> float:
        """Processor time that one answer may take."""
        return PROCESSOR_S

    def close(self) -> None:
        """End the process."""
        if self._sandbox is not None:
            self._sandbox.close()
            self._sandbox = None

    def load(self, sandbox: Sandbox) -> None:
        """Have the code loaded; whatever is wrong with it is an AuthorError."""
        raise NotImplementedError

    def complaint(self, message: Message) -> AuthorComplaint | None:
        """What an answer complains of; the process goes on."""
        if isinstance(message, AuthorFailed):
            return AuthorComplaint(message.line, message.message)
        return None

    def ask(
        self, message: Message, expected: type[AnswerT], descriptors: tuple[int, ...]
    ) -> AnswerT:
        """The answer to a message; a process that failed otherwise than in words is ended."""
        try:
            if self._sandbox is not None and self._sandbox.ended() is not None:
                self.close()
            self._sandbox = self._sandbox or self._start()
            return self.exchange(self._sandbox, message, expected, descriptors)
        except AuthorComplaint:
            raise
        except BaseException:  # an answer that is still to come would be taken for the next one
            self.close()
            raise

    def _start(self) -> Sandbox:
        """Start the process and load the file."""
        inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
        environment = {**inherited, "PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
        # Threads that spin would be in a timing's way.
        environment |= {"OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive"}
        path = search_path()
        # A builder's thread would have it paused, and end it with its build.
        sandbox = _STARTER.submit(
            Sandbox,
            self.entry,
            {**environment, **self.variables},
            memory_bytes=self.memory_bytes,
            host_bytes=self.memory_bytes,
            readable=(*self.readable, *packages(path)),
            devices=self.devices,
            output_bytes=_OUTPUT_BYTES,
            zygote=zygote(path, preload=self.preload, environment=environment)
            if self.preload
            else None,
        ).result()
        try:
            self._open(sandbox, path)
            self.load(sandbox)
        except BaseException:
            sandbox.close()
            raise
        return sandbox

    def _open(self, sandbox: Sandbox, path: list[str]) -> None:
        """Have torch imported: until here nothing is the author's fault."""
        try:
            self._receive(sandbox, Confined)
            self.exchange(sandbox, OpenAuthor(path=tuple(path)), AuthorOpened)
        except AuthorError as error:
            words = sandbox.output.text().strip() or str(error)
            raise MachineError(f"the process for a problem's own code failed: {words}") from None

    def exchange(
        self,
        sandbox: Sandbox,
        message: Message,
        expected: type[AnswerT],
        descriptors: tuple[int, ...] = (),
    ) -> AnswerT:
        """The answer to one message of a process that has been started."""
        try:
            transport.send(sandbox.channel, message, descriptors)
        except WireError as error:
            raise self._ended(sandbox) from error
        return self._receive(sandbox, expected)

    def _receive(self, sandbox: Sandbox, expected: type[AnswerT]) -> AnswerT:
        self._wait(sandbox)
        try:
            message, descriptors = transport.receive(
                sandbox.channel, self.answers, most=transport.MAX_DESCRIPTION
            )
        except WireError as error:
            raise self._ended(sandbox) from error
        for fd in descriptors:  # nobody asked for any
            os.close(fd)
        if (complaint := self.complaint(message)) is not None:
            raise complaint
        if not isinstance(message, expected):
            raise AuthorError(1, f"its process answered {message.type}")
        return message

    def _wait(self, sandbox: Sandbox) -> None:
        """Wait for a message within the limits of memory and time."""
        began = computed = -1.0
        moved = time.monotonic()
        while not select.select([sandbox.channel], [], [], _POLL_S)[0]:
            if sandbox.ended() is not None:
                return  # what it has sent is still to be read
            if sandbox.memory() > self.memory_bytes:
                raise _too_much_memory(self.memory_bytes)
            now, spent = time.monotonic(), sandbox.processor_seconds()
            began = spent if began < 0 else began
            if spent > computed:
                computed, moved = spent, now
            if spent - began > self.processor_s:
                message = (
                    f"took more than {self.processor_s:g} s: draw less, or in fewer operations"
                )
                raise AuthorError(1, message)
            if now - moved > IDLE_S:
                message = f"did nothing for {IDLE_S:g} s: it must not wait for anything"
                raise AuthorError(1, message)

    def _ended(self, sandbox: Sandbox) -> AuthorError:
        """Why the process is gone."""
        deadline = time.monotonic() + 1.0
        while (status := sandbox.ended()) is None and time.monotonic() < deadline:
            time.sleep(0.01)
        if sandbox.out_of_memory():
            return _too_much_memory(self.memory_bytes)
        how = f"by signal {status - 128}" if status and status > 128 else f"with status {status}"
        said = sandbox.output.text(_LAST_WORDS_S).strip().splitlines()
        last = f": {plain(said[-1], _LAST_WORDS)}" if said else ""
        return AuthorError(1, f"ended its process {how}{last}")


class Author(AuthorProcess):
    """The process with one file loaded, which it does not see: it may be another user's."""

    entry = ENTRY
    readable = _FILES
    answers = ANSWERS

    def __init__(self, file: Path) -> None:
        super().__init__()
        self._file = file.absolute()

    def draw(
        self,
        *,
        seed: int,
        family: str,
        values: Mapping[str, int | float],
        tensors: Mapping[str, tuple[Kind, tuple[int, ...]]],
    ) -> tuple[dict[str, Tensor], int]:
        """What the file's ``draw`` returns for these arguments, and the line where it begins.

        ``tensors`` has the kind (of :data:`WIDE`) and shape of each; they come dense, in the wide
        type of their kind, each with bits of its own.

        Raises:
            AuthorError: the file cannot be loaded, or the function not be called; it returned
                something else; or it took too much memory or time.
            MachineError: the process cannot be started.
        """
        wanted, size = _laid_out(tensors)
        memory = sealed_memory("drawn", size)
        message = DrawTensors(seed=seed, family=family, values=dict(values), tensors=wanted)
        try:
            answer = self.ask(message, TensorsDrawn, (memory,))
            return _read(memory, size, wanted), answer.line
        finally:
            os.close(memory)

    def load(self, sandbox: Sandbox) -> None:
        """Have the file loaded: its text, since another user may not open it."""
        with tempfile.TemporaryFile() as text:
            try:
                text.write(self._file.read_bytes())
            except OSError as error:
                raise AuthorError(1, f"cannot be read: {error.strerror}") from error
            text.seek(0)
            message = LoadFile(file=str(self._file))
            self.exchange(sandbox, message, FileLoaded, (text.fileno(),))


def _too_much_memory(limit: int) -> AuthorError:
    return AuthorError(
        1, f"took more than {limit >> 20} MiB of memory: draw in pieces, or declare less"
    )


def _laid_out(
    tensors: Mapping[str, tuple[Kind, tuple[int, ...]]],
) -> tuple[tuple[WantedTensor, ...], int]:
    """Where each tensor lies in the memory, and the memory's size."""
    wanted, offset = [], 0
    for name, (kind, shape) in tensors.items():
        wanted.append(WantedTensor(name=name, kind=kind, shape=shape, offset=offset))
        size = WIDE[kind].itemsize * math.prod(shape)
        offset += -(-size // _ALIGNMENT) * _ALIGNMENT
    return tuple(wanted), max(offset, _ALIGNMENT)


def _read(memory: int, size: int, wanted: Sequence[WantedTensor]) -> dict[str, Tensor]:
    """Copies of the tensors: what the process writes from now on changes nothing."""
    room = torch.frombuffer(mmap.mmap(memory, size), dtype=torch.uint8)
    found = {}
    for each in wanted:
        kind = WIDE[each.kind]
        count = math.prod(each.shape) * kind.itemsize
        part = room[each.offset : each.offset + count]
        found[each.name] = part.clone().view(kind).view(each.shape)
    return found


class Authors:
    """Processes with the same file loaded: as many as threads have asked at once."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = threading.Lock()
        self._idle: list[Author] = []
        self._closed = False

    @contextmanager
    def process(self) -> Iterator[Author]:
        """One of them, which is asked by nobody else in this block."""
        with self._lock:
            author = self._idle.pop() if self._idle else Author(self._file)
        try:
            yield author
        finally:
            with self._lock:
                if kept := not self._closed:
                    self._idle.append(author)
            if not kept:
                author.close()

    def close(self) -> None:
        """End the processes: one that is asked just now, when it has answered."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for author in idle:
            author.close()


_lock = threading.Lock()
_authors: OrderedDict[tuple[Path, str], Authors] = OrderedDict()
"""By file and version, those that were asked last at the end. Global, since all grades of a run
share them, and the exit must close them."""


def authors_of(file: Path, version: str) -> Authors:
    """The processes for a ``version`` (such as a hash) of a file; those of few files are kept."""
    key = file.absolute(), version
    with _lock:
        authors = _authors.setdefault(key, Authors(key[0]))
        _authors.move_to_end(key)
        old = [_authors.popitem(last=False)[1] for _ in range(len(_authors) - _MOST)]
    for each in old:
        each.close()
    return authors


@atexit.register
def _close_all() -> None:
    for authors in _authors.values():
        authors.close()
