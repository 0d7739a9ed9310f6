"""The runner: loads one submission and obeys the judge's messages.

Runs confined (:mod:`harness.sandbox.init`), one process per submission, the same protocol for
checking and for timing. Imports torch only for Python submissions.
"""

import contextlib
import ctypes
import os
import socket
import sys
import time
from collections.abc import Iterable
from functools import partial
from pathlib import Path

from harness.runner.driver import CudaError, Driver
from harness.runner.memory import ImportedArena, ImportedDeviceArena, ImportedHostArena
from harness.runner.program import LoadedProgram, ProgramFailed
from harness.runner.triton.kernel_cache import pack, unpack
from harness.sandbox.syscalls import forbid_programs
from harness.wire import messages, transport
from harness.wire.arguments import TensorArgument
from harness.wire.mailbox import Mailbox
from harness.wire.messages import FaultCode
from harness.wire.validation import WireError

_LINE_BUFFERED = 1
_MAX_CONFIGURATIONS = 64
_GO_POLL_SECONDS = 20e-6
"""Sleep between two looks at the mailbox on a CPU, where spinning would slow the judge down."""


class ThreadAffinity:
    """The processor that the calling thread is pinned to.

    Other threads, and those that are started while it is unpinned, run where they like.
    """

    def __init__(self) -> None:
        self._cpu: int | None = None
        self._before: set[int] = set()

    def pin(self, cpu: int) -> None:
        """Run on no other processor than ``cpu``; changes nothing where that is not allowed."""
        if cpu == self._cpu:
            return
        self.unpin()
        with contextlib.suppress(OSError):
            before = os.sched_getaffinity(0)
            os.sched_setaffinity(0, {cpu})
            self._cpu, self._before = cpu, before

    def unpin(self) -> None:
        """Run wherever the thread could before :meth:`pin`."""
        if self._cpu is not None:
            with contextlib.suppress(OSError):
                os.sched_setaffinity(0, self._before)
            self._cpu = None


class Runner:
    """State between messages: the loaded program, the arena, the prepared batch."""

    def __init__(self, channel: socket.socket, folder: Path) -> None:
        self._channel = channel
        self._folder = folder
        self._driver: Driver | None = None
        self._program: LoadedProgram | None = None
        self._arena: ImportedArena | None = None
        self._mailbox: Mailbox | None = None
        self._calls = 0
        self._captured = self._tidy = False
        self._offers: list[tuple[messages.Offer, int | None]] = []
        self._affinity = ThreadAffinity()

    def serve(self) -> None:
        """Answer messages until the judge closes the channel, which raises a WireError."""
        while True:
            answer = self.answer(*transport.receive(self._channel))
            if answer is not None:
                transport.send(self._channel, answer)

    def answer(self, message: messages.Message, descriptors: list[int]) -> messages.Answer | None:
        """Obey ``message``; None where its answers are sent on the way."""
        if not isinstance(message, messages.Run):  # threads that are started now may go anywhere
            self._affinity.unpin()
        try:
            match message:
                case messages.Open():
                    if message.device == "cuda":
                        self._driver = Driver()
                    return messages.Opened()
                case messages.Record():
                    return self._record(message, *descriptors)
                case messages.Offer():
                    self._offers.append((message, descriptors[0] if descriptors else None))
                    return messages.Offered()
                case messages.Load():
                    return self._load(message, *descriptors)
                case messages.ListWeights():
                    assert self._program is not None
                    weights = self._program.weights(message.construct)
                    return messages.WeightsListed(weights=weights)
                case messages.Compile():
                    return self._compile(message, *descriptors)
                case messages.Map():
                    return self._map(message.bytes, *descriptors)
                case messages.Unmap():
                    self._unmap()
                    return messages.Unmapped()
                case messages.Prepare():
                    return self._prepare(message)
                case messages.Run():
                    self._run(message)
                    return None
        except (ProgramFailed, CudaError) as error:
            return _failed(error)
        raise WireError(f"{message.type} is no message for a runner")

    def _record(self, message: messages.Record, artifact: int, asked: int) -> messages.Recorded:
        """Import the submission with nothing of what it asks for there."""
        sys.path[:] = message.path
        from harness.runner.recording import record
        from harness.runner.source import write_source

        record(message, write_source(artifact, self._folder), asked)
        return messages.Recorded()

    def _load(
        self, message: messages.Load, artifact: int, mailbox: int, *more: int
    ) -> messages.Loaded:
        self._mailbox = Mailbox(mailbox)
        kernels = more[:-1] if message.extensions else more
        if kernels:
            unpack(kernels[0], Path(os.environ["TRITON_CACHE_DIR"]))
        if message.kind in ("library", "ptx"):  # need no other program from here on
            forbid_programs()
        sys.path[:] = message.path
        if message.extensions:
            self._answer_extensions(more[-1])
        self._program = self._make_program(message, artifact)
        return messages.Loaded()

    def _compile(
        self, message: messages.Compile, artifact: int, kernels: int | None = None
    ) -> messages.Compiled:
        """Build what the submission launches; all that it may launch if ``kernels`` wants it."""
        sys.path[:] = message.path
        from harness.runner.source import write_source
        from harness.runner.triton.compile import compile_submission

        source = write_source(artifact, self._folder)
        cache = self._folder / "compiled"
        cache.mkdir()
        compiled = compile_submission(
            message,
            source=source,
            cache=cache,
            max_configurations=1 if kernels is None else _MAX_CONFIGURATIONS,
            launchers=kernels is not None,
        )
        if kernels is not None:
            pack(cache, kernels)
            os.close(kernels)
        return compiled

    def _answer_extensions(self, asked: int) -> None:
        """Have `load_inline` and `load` answered with what was offered."""
        from harness.runner.extensions import Asked, Library, own_folders, stand_in

        library = Library(Asked(asked))
        for offer, file in self._offers:
            library.add(offer.digest, file, offer.error, refused=offer.refused)
        stand_in(library, own_folders(self._folder))

    def _make_program(self, message: messages.Load, artifact: int) -> LoadedProgram:
        if message.kind == "library":
            from harness.runner.library import load_library

            return load_library(artifact, self._driver, message.entry)
        if message.kind == "ptx":
            from harness.runner.ptx import PtxProgram

            assert self._driver is not None, "there is no other way to run PTX"
            return PtxProgram(artifact, self._driver)
        from harness.runner.python import TorchProgram, load_framework

        load_framework(message.language)
        return TorchProgram(artifact, self._folder, message, self._driver)

    def _map(self, size: int, fd: int) -> messages.Mapped:
        self._unmap()
        if self._driver is not None:
            self._arena = ImportedDeviceArena(self._driver, fd, size)
        else:
            self._arena = ImportedHostArena(fd, size)
        return messages.Mapped()

    def _unmap(self) -> None:
        arena, self._arena = self._arena, None
        if arena is not None:
            arena.close()

    def _prepare(self, batch: messages.Prepare) -> messages.Prepared:
        """Bind the calls, warm up, capture: all before the inputs that count exist."""
        assert self._program is not None
        assert self._arena is not None
        self._calls, self._tidy = batch.calls, batch.tidy
        self._program.bind(batch, self._arena)
        for number in range(batch.warmups):
            index = number % batch.calls
            self._program.warm_up(index, partial(_clear, batch, self._arena, [index]))
        self._program.synchronize()
        if batch.tidy:
            self._program.tidy()
        self._captured = batch.capture and self._program.capture()
        if self._captured:
            self._program.upload()
            self._program.synchronize()
        return messages.Prepared(captured=self._captured)

    def _run(self, message: messages.Run) -> None:
        """Wait for *go*, do all calls of the batch, wait for the device, write *done*."""
        assert self._program is not None
        assert self._mailbox is not None
        # Plain calls may need other threads, which must not wait until this one has waited.
        if self._captured and message.cpu is not None:
            self._affinity.pin(message.cpu)
        # What a recorded batch will come to is known: between its end and *done* it is only sent.
        kernels = self._program.recorded()
        known = transport.packed(self._finished(kernels)) if self._captured else None
        transport.send(self._channel, messages.Ready())
        mailbox = self._mailbox
        while mailbox.go != message.round:
            if self._driver is None:
                time.sleep(_GO_POLL_SECONDS)
        try:
            kernels = self._call_all(self._program, self._driver if message.profiled else None)
            answer = known or transport.packed(self._finished(kernels))
        except (ProgramFailed, CudaError) as error:
            answer = transport.packed(_failed(error))
        transport.send_packed(self._channel, answer)
        mailbox.done = message.round

    def _call_all(self, program: LoadedProgram, profiler: Driver | None) -> int | None:
        """Make all calls, wait for the device; kernels that were launched, if they are counted."""
        before = program.launched()
        if profiler is not None:
            profiler.start_profiler()
        if self._captured:
            program.replay()
        else:
            for index in range(self._calls):
                program.call(index)
        program.synchronize()
        if self._tidy:
            program.tidy()
        if profiler is not None:
            profiler.stop_profiler()
        after = program.launched()
        return None if before is None or after is None else after - before

    def _finished(self, kernels: int | None) -> messages.Finished:
        """What a batch of so many ``kernels`` came to."""
        assert self._program is not None
        return messages.Finished(
            kernels=None if kernels is None else kernels / self._calls,
            copied=self._program.copied(),
            returned=self._program.returned(),
        )


def _clear(batch: messages.Prepare, arena: ImportedArena, calls: Iterable[int]) -> None:
    """Set the outputs of some calls that are 0 before every call to that again."""
    for argument in batch.arguments:
        if isinstance(argument, TensorArgument) and argument.zeroed:
            for index in calls:
                arena.clear(argument.base + index * argument.stride, argument.bytes)


def _failed(error: ProgramFailed | CudaError) -> messages.Failed:
    fault = error.fault if isinstance(error, ProgramFailed) else FaultCode.CUDA
    return messages.Failed(fault=fault, message=str(error)[: messages.MAX_TEXT])


def main(channel: socket.socket, folder: Path) -> None:
    """Serve until the judge is done with us."""
    # C's `printf` hands over every line: what ends us gives no time to flush.
    libc = ctypes.CDLL(None)
    libc.setvbuf(ctypes.c_void_p.in_dll(libc, "stdout"), None, _LINE_BUFFERED, ctypes.c_size_t(0))
    with contextlib.suppress(WireError):
        Runner(channel, folder).serve()
