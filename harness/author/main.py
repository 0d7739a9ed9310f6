"""The author's process: loads one file, and draws tensors with its function ``draw``.

Runs confined (:mod:`harness.sandbox.init`), on one thread, so that the same seed gives the same on
every machine. What its answers say is for the author to read, and decides nothing.
"""

import mmap
import os
import socket
import sys
from pathlib import Path
from types import ModuleType

from harness.author.messages import (
    REQUESTS,
    WIDE_NAMES,
    AuthorFailed,
    AuthorOpened,
    DrawTensors,
    FileLoaded,
    LoadFile,
    OpenAuthor,
    TensorsDrawn,
    WantedTensor,
)
from harness.author.returned import Mistake, returned_tensors
from harness.author.source import first_line, line_of, load_text, named_arguments, no_memory
from harness.sandbox.syscalls import forbid_programs
from harness.wire import transport
from harness.wire.messages import MAX_TEXT, Answer, Message
from harness.wire.validation import WireError

FUNCTION = "draw"
TOO_MUCH_MEMORY = "takes too much memory: draw in pieces, or declare smaller sizes"


def main(channel: socket.socket, _: Path) -> None:
    """Answer messages until the judge closes the channel."""
    author = Author()
    while True:
        try:
            message, descriptors = transport.receive(channel, REQUESTS)
        except transport.Closed:
            return
        try:
            answer = author.answer(message, descriptors)
        except Exception as error:  # the author's code: anything can come
            answer = author.failed(error)
        finally:
            for fd in descriptors:
                os.close(fd)
        transport.send(channel, answer)


class Author:
    """State between messages: the loaded file."""

    def __init__(self) -> None:
        self._file = Path()
        self._module: ModuleType | None = None

    def answer(self, message: Message, descriptors: list[int]) -> Answer:
        """Obey ``message``; whatever the author's code raises comes through."""
        match message:
            case OpenAuthor():
                sys.path += message.path
                import torch

                torch.set_num_threads(1)
                forbid_programs()
                return AuthorOpened()
            case LoadFile():
                self._file = Path(message.file)
                with open(descriptors[0], "rb", closefd=False) as text:
                    self._module = load_text(text.read(), self._file)
                return FileLoaded()
            case DrawTensors():
                return self._draw(message, *descriptors)
        raise WireError(f"{message.type} is no message for an author's process")

    def failed(self, error: Exception) -> AuthorFailed:
        """The answer for what loading the file, or calling its function, has raised."""
        line = line_of(error, self._file)
        if isinstance(error, Mistake):
            line = first_line(getattr(self._module, FUNCTION, None))
            return AuthorFailed(line=line, message=str(error)[:MAX_TEXT])
        if no_memory(error):
            return AuthorFailed(line=line, message=TOO_MUCH_MEMORY)
        return AuthorFailed(line=line, message=f"{type(error).__name__}: {error}"[:MAX_TEXT])

    def _draw(self, message: DrawTensors, memory: int) -> TensorsDrawn:
        import torch

        function = getattr(self._module, FUNCTION, None)
        if not callable(function):
            raise Mistake(f"the file defines no function {FUNCTION}")
        generator = torch.Generator(device="cpu").manual_seed(message.seed)
        given = {"generator": generator, "family": message.family, **message.values}
        try:
            arguments = named_arguments(function, given)
        except TypeError as error:
            raise Mistake(f"cannot be called with {', '.join(given)}: {error}") from None
        with torch.no_grad():
            _write(memory, message.tensors, function(**arguments))
        return TensorsDrawn(line=first_line(function))


def _write(memory: int, wanted: tuple[WantedTensor, ...], returned: object) -> None:
    """Write what the function returned to the memory, once all of it is checked."""
    import torch

    found = returned_tensors(returned, {each.name: (each.kind, each.shape) for each in wanted})
    room = mmap.mmap(memory, 0)
    for each in wanted:
        x, dtype = found[each.name], getattr(torch, WIDE_NAMES[each.kind])
        out = torch.frombuffer(room, dtype=dtype, count=x.numel(), offset=each.offset)
        out.view(each.shape).copy_(x)
