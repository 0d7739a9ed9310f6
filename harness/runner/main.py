"""The runner: loads one submission and does what the judge's messages say.

Runs confined (:mod:`harness.sandbox.init`), one process per submission, the same protocol for
checking and for timing. Imports torch only for Python submissions.
"""

import ctypes
import os
import socket
import sys
import time
from pathlib import Path
from typing import Any

from harness import wire
from harness.runner.affinity import ThreadAffinity
from harness.runner.driver import CudaError, Driver
from harness.runner.memory import ImportedArena, ImportedDeviceArena, ImportedHostArena
from harness.runner.program import BoundCalls, Failed, LoadedProgram
from harness.runner.triton.kernel_cache import pack, unpack
from harness.sandbox.syscalls import forbid_programs
from harness.wire import FaultCode, Mailbox, Message

_LINE_BUFFERED = 1
_MAX_CONFIGURATIONS = 64


class Runner:
    """State between messages: the loaded program, the arena, the prepared batch."""

    def __init__(self, channel: socket.socket, folder: Path) -> None:
        self._channel = channel
        self._folder = folder
        self._device = "cpu"
        self._driver: Driver | None = None
        self._program: LoadedProgram | None = None
        self._arena: ImportedArena | None = None
        self._mailbox: Mailbox | None = None
        self._calls = 0
        self._captured = False
        self._seat = ThreadAffinity()

    def serve(self) -> None:
        """Answer messages until the judge closes the channel."""
        while True:
            message, descriptors = wire.receive(self._channel)
            try:
                answer = self._answer(message, descriptors)
            except Failed as failure:
                answer = _failed(failure.fault, failure.message)
            except CudaError as error:
                answer = _failed(FaultCode.CUDA, str(error))
            if answer is not None:
                wire.send(self._channel, answer)

    def _answer(self, message: Message, descriptors: list[int]) -> Message | None:
        if message["type"] != "run":  # threads that are started meanwhile may go anywhere
            self._seat.leave()
        match message["type"]:
            case "open":
                self._open(str(message["device"]))
                return {"type": "opened"}
            case "load":
                self._load(message, descriptors)
                return {"type": "loaded"}
            case "compile":
                return {"type": "compiled", **self._compile(message, *descriptors)}
            case "map":
                self._map(int(message["bytes"]), descriptors[0])
                return {"type": "mapped"}
            case "prepare":
                return {"type": "prepared", "captured": self._prepare(message)}
            case "run":
                self._run(int(message["round"]), message.get("cpu"))
                return None
            case other:
                raise wire.WireError(f"unknown message {other!r}")

    def _open(self, device: str) -> None:
        """Reach the device, while nothing that is submitted has run."""
        self._device = device
        if device == "cuda":
            self._driver = Driver()

    def _load(self, message: Message, descriptors: list[int]) -> None:
        artifact, mailbox, *kernels = descriptors
        self._mailbox = Mailbox(mailbox)
        for fd in kernels:
            unpack(fd, Path(os.environ["TRITON_CACHE_DIR"]))
        if message["kind"] in ("library", "ptx"):  # need no other program from here on
            forbid_programs()
        sys.path[:] = message["path"]
        self._program = self._make_program(message, artifact)

    def _compile(self, message: Message, artifact: int, kernels: int | None = None) -> Message:
        """Build what the submission would launch, for a card that is not here.

        With a descriptor for ``kernels`` whatever it may launch is built, and left there.
        """
        sys.path[:] = message["path"]
        from harness.runner.triton import compile as triton_compile

        source = self._folder / "solution.py"
        with os.fdopen(artifact, "rb") as file:
            source.write_bytes(file.read())
        cache = self._folder / "compiled"
        cache.mkdir()
        answer = triton_compile.main(
            {
                "source": str(source),
                "calls": message["calls"],
                "arch": message["arch"],
                "cache": str(cache),
                "entry": message["entry"],
                "parameters": message["parameters"],
                "configurations": _MAX_CONFIGURATIONS if kernels is not None else 1,
                "launchers": kernels is not None,
                "seconds": message["seconds"],
            }
        )
        if kernels is not None:
            pack(cache, kernels)
            os.close(kernels)
        return answer

    def _make_program(self, message: Message, artifact: int) -> LoadedProgram:
        entry = str(message.get("entry", "solution"))
        if message["kind"] == "library":
            from harness.runner.library import CpuLibrary, CudaLibrary

            if self._driver is not None:
                return CudaLibrary(artifact, self._driver, entry)
            return CpuLibrary(artifact, entry)
        if message["kind"] == "ptx":
            from harness.runner.ptx import PtxProgram

            assert self._driver is not None  # there is no other way to run it
            return PtxProgram(artifact, self._driver)
        from harness.runner.python import TorchProgram, load_framework

        load_framework(message["language"])
        interpreter: Any = None
        if message["interpret"]:
            from harness.runner.triton import cpu as triton_cpu

            triton_cpu.enable(os.environ)
            interpreter = triton_cpu
        return TorchProgram(
            artifact,
            self._folder,
            self._device,
            interpreter,
            self._driver,
            entry=entry,
            parameters=message.get("parameters", ()),
        )

    def _map(self, size: int, fd: int) -> None:
        if self._arena is not None:
            self._arena.close()
        if self._driver is not None:
            self._arena = ImportedDeviceArena(self._driver, fd, size)
        else:
            self._arena = ImportedHostArena(fd, size)

    def _prepare(self, message: Message) -> bool:
        """Bind the calls, warm up, capture: all before the inputs that count exist."""
        assert self._program is not None
        assert self._arena is not None
        batch = BoundCalls(
            calls=message["calls"],
            arguments=message["arguments"],
            order=message["order"],
            seed=message["seed"],
            launches=message["launches"],
        )
        self._calls = batch.calls
        self._program.bind(batch, self._arena)
        for index in range(message["warmups"]):
            self._program.warm_up(index % batch.calls)
        self._program.synchronize()
        self._captured = bool(message["capture"]) and self._program.capture()
        if self._captured:  # its first run also sends the graph to the device
            self._program.replay()
            self._program.synchronize()
        return self._captured

    def _run(self, number: int, cpu: int | None) -> None:
        """Wait for *go*, do all calls of the batch, wait for the device, say *done*."""
        assert self._program is not None
        assert self._mailbox is not None
        # Plain calls may need other threads, which must not wait until this one has waited.
        if self._captured and cpu is not None:
            self._seat.take(cpu)
        wire.send(self._channel, {"type": "ready"})
        mailbox = self._mailbox
        pause = 0.0 if self._device == "cuda" else 20e-6
        while mailbox.go != number:
            if pause:
                time.sleep(pause)
        answer: Message = {"type": "finished"}
        before = self._program.launched()
        try:
            if self._captured:
                self._program.replay()
            else:
                for index in range(self._calls):
                    self._program.call(index)
            self._program.synchronize()
            after = self._program.launched()
            if before is not None and after is not None:
                answer["kernels"] = (after - before) / self._calls
            if (copied := self._program.copied()) is not None:
                answer["copied"] = copied
        except Failed as failure:
            answer = _failed(failure.fault, failure.message)
        except CudaError as error:
            answer = _failed(FaultCode.CUDA, str(error))
        wire.send(self._channel, answer)
        mailbox.done = number


def _failed(fault: FaultCode, message: str) -> Message:
    return {"type": "failed", "fault": fault, "message": message[: wire.MAX_TEXT]}


def _show_lines_at_once() -> None:
    """Have C's ``printf`` hand over every line: what ends us gives no time to flush."""
    libc = ctypes.CDLL(None)
    libc.setvbuf(ctypes.c_void_p.in_dll(libc, "stdout"), None, _LINE_BUFFERED, ctypes.c_size_t(0))


def main(channel: socket.socket, folder: Path) -> None:
    """Serve until the judge is done with us."""
    _show_lines_at_once()
    try:
        Runner(channel, folder).serve()
    except wire.WireError:
        return
