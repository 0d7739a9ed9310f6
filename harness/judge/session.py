"""The judge's side of one runner: starts it, tells it what to do, times it, ends it.

Whatever the runner does ends in a value here: an answer, a time, or a :class:`Fault`. Verdicts rest
on what can be seen from outside (exit status, memory, the judge's clock); what the runner says of
itself is shown, and can only harm its own verdict.
"""

import os
import re
import select
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.errors import MachineError
from harness.judge.batch import Batch
from harness.judge.memory import Arena, Device, sealed_memory
from harness.problem.model import Limits
from harness.result import Mismatch, Verdict
from harness.runner import wire
from harness.runner.wire import Closed, Mailbox, Message, WireError
from harness.sandbox.launch import OUTPUT_BYTES, Sandbox
from harness.sandbox.means import packages
from harness.sandbox.nursery import Nursery, nursery
from harness.solution.contract import IN_ORDER, Contract
from harness.solution.launches import LaunchError, Launches

_START_SECONDS = 90.0
_ANSWER_SECONDS = 20.0
_DEATH_SECONDS = 1.0
_OUTPUT_SECONDS = 0.1
_CPU_PATIENCE = 3
"""Without a GPU a call may take so many times as long: kernels are emulated there."""

_POLL_SECONDS = 0.02
_SPIN_CHECKS = 64
_LOOK_SECONDS = 0.02
_ASAN_EXIT = 99
_TEXT_LIMIT = 4000
_REPORT_LINE = 1000
_MOST_KERNELS = 1e6
_TOOL_OUTPUT_BYTES = 4 << 20
_MOST_COPIES = 1000

_FAULT_VERDICTS = {
    wire.Fault.UNSUPPORTED: Verdict.NOT_EXECUTABLE_HERE,
    wire.Fault.MEMORY: Verdict.MEMORY_LIMIT,
    wire.Fault.NO_ENTRY: Verdict.INVALID_SUBMISSION,
    wire.Fault.COMPILE: Verdict.COMPILE_ERROR,
}


@dataclass(frozen=True, slots=True)
class Fault:
    """A phase of the runner ended badly: the verdict that follows, and why.

    ``shared`` says that whoever else uses the device could be the cause.
    """

    verdict: Verdict
    message: str
    mismatch: Mismatch | None = None
    shared: bool = False


_BROKEN = Fault(Verdict.RUNTIME_ERROR, "the submission broke the judge's protocol")
_RESTLESS = Fault(Verdict.RUNTIME_ERROR, "the submission's processes cannot be stopped")


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """What a runner is to load: a built ``file`` or Python ``source``, and how.

    ``interpret`` runs Triton through its interpreter; ``sanitizer`` is the runtime to preload for
    a library built with AddressSanitizer, ``sanitizer_options`` its settings. ``wrapper`` is a
    command that starts the runner, such as a debugging tool. ``contract`` says how it is called,
    ``launches`` how its kernels are where that is not code of its own. ``language`` is the one that
    Python ``source`` is written in, where it may need something to be ready before; ``kernels`` is
    what Triton has compiled for it already.
    """

    kind: str
    file: Path | None = None
    source: bytes = b""
    interpret: bool = False
    sanitizer: Path | None = None
    sanitizer_options: str = ""
    wrapper: tuple[str, ...] = ()
    contract: Contract = IN_ORDER
    launches: Launches | None = None
    language: str = ""
    kernels: Path | None = None

    def open(self) -> list[int]:
        """Descriptors of what to load; the runner never learns a path of ours.

        The second, if there is one, is of the kernels that were compiled before.
        """
        if self.file is not None:
            return [_opened(self.file)]
        fd = os.memfd_create("solution", os.MFD_CLOEXEC)
        os.write(fd, self.source)
        os.lseek(fd, 0, os.SEEK_SET)
        return [fd] if self.kernels is None else [fd, _opened(self.kernels)]


def _opened(file: Path) -> int:
    return os.open(file, os.O_RDONLY | os.O_CLOEXEC)


@dataclass(frozen=True, slots=True)
class Plan:
    """How a batch is to be run: warm-up calls, graph capture, order of threads on the CPU."""

    warmups: int = 0
    capture: bool = False
    order: int = 0
    order_seed: int = 0


class Session:
    """One runner process. Use as a context manager: it is gone, with all its children, after."""

    def __init__(self, program: Program, device: Device, limits: Limits) -> None:
        self._program = program
        self._device = device
        self._limits = limits
        self._call_s = limits.call_s * (_CPU_PATIENCE if device.kind == "cpu" else 1)
        self._round = 0
        self.layers: tuple[str, ...] = ()
        self.peak_bytes = 0
        self.probes = (0.0, 0.0)
        """Seconds that flushing the device took before *go* and after *done* of the last batch."""
        self.kernels: float | None = None
        """Kernels per call that the last batch launched, as the runner says; shown, not judged."""
        self.copied: int | None = None
        """Outputs per call that the last batch copied into place; likewise."""
        unlimited = program.sanitizer is not None or bool(program.wrapper)
        self._sandbox = Sandbox(
            _environment(program),
            memory_bytes=0 if unlimited else 2 * limits.host_bytes,
            readable=packages(_search_path()),
            devices=device.nodes(),
            nursery=_nursery(program),
            wrapper=program.wrapper,
            output_bytes=_TOOL_OUTPUT_BYTES if program.wrapper else OUTPUT_BYTES,
        )
        self._mailbox_fd = sealed_memory("mailbox", wire.MAILBOX_BYTES)
        self._mailbox = Mailbox(self._mailbox_fd)

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the runner; idempotent."""
        if self._mailbox_fd < 0:
            return
        os.close(self._mailbox_fd)
        self._mailbox_fd = -1
        self._mailbox.close()
        self._sandbox.close()

    @property
    def isolated(self) -> bool:
        """Whether the runner is in namespaces of its own."""
        return self._sandbox.isolated

    def output(self) -> str:
        """What the submission printed so far: untrusted, capped."""
        return self._sandbox.output.text(_OUTPUT_SECONDS)

    # -- phases ----------------------------------------------------------------------------------

    def _start(self) -> None:
        """Wait until the process is confined and has the device, once.

        Nothing that is submitted has run by then: what fails so far is the machine's fault, and
        nothing later is for being told so.
        """
        if self.layers:
            return
        confined = self._receive("confined", _START_SECONDS)
        if isinstance(confined, Fault):
            text = f"{confined.message}\n{self.output()}"
            raise MachineError(f"the sandbox does not start: {text}")
        opened = self._ask({"type": "open", "device": self._device.kind}, "opened", _START_SECONDS)
        if isinstance(opened, Fault):
            text = f"{opened.message}\n{self.output()}"
            raise MachineError(f"a runner cannot use {self._device.name}: {text}")
        self.layers = tuple(str(layer) for layer in confined.get("layers", ()))

    def compile(
        self,
        calls: Sequence[list[Message]],
        arch: int,
        kernels: int | None = None,
        *,
        within_s: float | None = None,
    ) -> Message | Fault:
        """Have a Triton submission's launches compiled for ``sm_<arch>``; nothing is executed.

        ``calls`` are the arguments of each call. What is built is packed into the descriptor for
        ``kernels``, if there is one, with all configurations that an autotuner may choose. After
        ``within_s`` seconds nothing more is begun. The answer is what the runner says
        (:func:`harness.runner.triton_compile.main`): untrusted.
        """
        self._start()
        message: Message = {
            "type": "compile",
            "calls": calls,
            "seconds": self._limits.build_s if within_s is None else within_s,
            "arch": arch,
            "path": _search_path(),
            **self._program.contract.told(),
        }
        (artifact,) = self._program.open()
        try:
            given = (artifact,) if kernels is None else (artifact, kernels)
            return self._ask(message, "compiled", self._limits.build_s, given)
        finally:
            os.close(artifact)

    def load(self, program: Program | None = None) -> Fault | None:
        """Load the submission, or another program in its place (trusted ones only).

        The first time, wait until the process is confined. Python submissions import torch here.

        Raises:
            MachineError: the sandbox does not start.
        """
        self._start()
        if program is not None:
            self._program = program
        message: Message = {
            "type": "load",
            "kind": self._program.kind,
            "interpret": self._program.interpret,
            "language": self._program.language,
            "path": _search_path(),
            **self._program.contract.told(),
        }
        opened = self._program.open()
        try:
            seconds = self._limits.prepare_s + _START_SECONDS
            answer = self._ask(
                message, "loaded", seconds, (opened[0], self._mailbox_fd, *opened[1:])
            )
        finally:
            for fd in opened:
                os.close(fd)
        return answer if isinstance(answer, Fault) else None

    def map(self, arena: Arena) -> Fault | None:
        """Let the runner map the judge's buffers."""
        message: Message = {"type": "map", "bytes": arena.size}
        answer = self._ask(message, "mapped", _ANSWER_SECONDS, (arena.fd,))
        return answer if isinstance(answer, Fault) else None

    def prepare(self, batch: Batch, plan: Plan) -> bool | Fault:
        """Bind the calls, warm up, capture; returns whether they were captured."""
        launches = self._program.launches
        try:
            told = launches.at(batch.case.values) if launches is not None else []
        except LaunchError as error:
            assert launches is not None
            return Fault(Verdict.INVALID_SUBMISSION, launches.message(error))
        message: Message = {
            "type": "prepare",
            "calls": batch.layout.calls,
            "arguments": batch.arguments(),
            "warmups": plan.warmups,
            "capture": plan.capture,
            "order": plan.order,
            "seed": plan.order_seed,
            "launches": told,
        }
        compiles = self._program.kind == "python"  # at its first call, and may tune itself
        seconds = self._limits.prepare_s if compiles else self._call_s
        answer = self._ask(message, "prepared", seconds)
        return answer if isinstance(answer, Fault) else answer.get("captured") is True

    def run(self, batch: Batch, seed: str, *, stop: bool = True) -> float | Fault:
        """Fill the batch with fresh inputs, reveal them, and time its calls; seconds.

        The runner is stopped while the inputs are written, the clock starts before it is
        continued and stops when it says *done*; then it is stopped again until the next message,
        so that nothing is written any more while the outputs are copied. A runner that says *done*
        early only gets wrong outputs checked; what it leaves at work on the device shows in the
        ``probes``. Continuing a stopped process takes a time that scatters by 200 µs, which a batch
        of one short call drowns in: without ``stop`` the runner waits for *go* awake.
        """
        self._round += 1
        ready = self._ask({"type": "run", "round": self._round}, "ready", _ANSWER_SECONDS)
        if isinstance(ready, Fault):
            return ready
        if stop and not self._sandbox.pause():
            return _RESTLESS
        batch.fill(seed)
        before = self._device.probe()
        start = time.perf_counter()
        self._sandbox.resume()
        self._mailbox.go = self._round
        # A batch of many calls is one of short calls: all of them together get no more than two.
        fault = self._await_done(start + self._call_s * min(2, batch.layout.calls))
        elapsed = time.perf_counter() - start
        if fault is not None:
            return fault
        self.probes = (before, self._device.probe())
        if not self._sandbox.pause():
            return _RESTLESS
        finished = self._receive("finished", _POLL_SECONDS)
        if isinstance(finished, Fault):
            # Whoever is done has said so before: it is not late, it has lied.
            return _BROKEN if finished.verdict is Verdict.TIME_LIMIT else finished
        self.kernels = _kernels(finished)
        self.copied = _copied(finished)
        return elapsed

    # -- waiting ---------------------------------------------------------------------------------

    def _await_done(self, deadline: float) -> Fault | None:
        """Spin on the mailbox; now and then see whether the runner is alive and within limits."""
        mailbox, number = self._mailbox, self._round
        patient = self._device.kind == "cpu"
        look = time.perf_counter() + _LOOK_SECONDS
        while True:
            for _ in range(1 if patient else _SPIN_CHECKS):
                if mailbox.done == number:
                    return None
            if patient:
                time.sleep(50e-6)
            if time.perf_counter() < look:
                continue
            if (fault := self._look(deadline)) is not None:
                return None if mailbox.done == number else fault
            look = time.perf_counter() + _LOOK_SECONDS

    def _look(self, deadline: float) -> Fault | None:
        if self._sandbox.ended() is not None:
            return self._death()
        self.peak_bytes = max(self.peak_bytes, self._sandbox.memory())
        if self.peak_bytes > self._limits.host_bytes:
            limit = self._limits.host_bytes >> 20
            return Fault(Verdict.MEMORY_LIMIT, f"used more than {limit} MiB of host memory")
        if time.perf_counter() > deadline:
            return Fault(Verdict.TIME_LIMIT, "did not finish within the time limit")
        return None

    def _ask(
        self, message: Message, answer: str, seconds: float, descriptors: tuple[int, ...] = ()
    ) -> Message | Fault:
        self._sandbox.resume()
        try:
            wire.send(self._sandbox.channel, message, descriptors)
        except WireError as error:
            return self._broken(error)
        return self._receive(answer, seconds)

    def _receive(self, expected: str, seconds: float) -> Message | Fault:
        deadline = time.perf_counter() + seconds
        channel = self._sandbox.channel
        while not select.select([channel], [], [], _POLL_SECONDS)[0]:
            if (fault := self._look(deadline)) is not None:
                if fault.verdict is Verdict.TIME_LIMIT:
                    return Fault(fault.verdict, f"no answer within {seconds:.0f} s")
                return fault
        try:
            message, descriptors = wire.receive(channel)
        except WireError as error:
            return self._broken(error)
        for fd in descriptors:
            os.close(fd)
        if message["type"] == "failed":
            return _reported(message)
        if message["type"] != expected:
            return _BROKEN
        return message

    def _broken(self, error: WireError) -> Fault:
        """The channel is useless: if it is closed, usually because the process died."""
        deadline = time.perf_counter() + (_DEATH_SECONDS if isinstance(error, Closed) else 0.0)
        while self._sandbox.ended() is None and time.perf_counter() < deadline:
            time.sleep(0.002)
        if self._sandbox.ended() is not None:
            return self._death()
        return Fault(_BROKEN.verdict, f"{_BROKEN.message}: {error}")

    def _death(self) -> Fault:
        """The process ended although it was not told to."""
        status = self._sandbox.ended() or 0
        if self._program.sanitizer is not None and status == _ASAN_EXIT:
            return Fault(Verdict.RUNTIME_ERROR, sanitizer_summary(self.output()))
        if self.peak_bytes > 0.9 * self._limits.host_bytes:
            return Fault(Verdict.MEMORY_LIMIT, "ran out of host memory")
        if status >= 128:
            return Fault(Verdict.RUNTIME_ERROR, f"was killed by {_signal(status - 128)}")
        return Fault(
            Verdict.RUNTIME_ERROR,
            f"the process ended (exit status {status}) before its work was done",
        )


def _nursery(program: Program) -> Nursery | None:
    """Where the runners of Python submissions come from: they need torch, which loads slowly."""
    if program.kind != "python" or program.wrapper:
        return None
    environment = _environment(program)
    return nursery(_search_path(), interpret=program.interpret, environment=environment)


def _search_path() -> list[str]:
    """Where the runner finds the packages that the judge has."""
    return [entry for entry in sys.path if Path(entry).is_absolute()]


def _reported(message: Message) -> Fault:
    try:
        fault = wire.Fault(str(message.get("fault")))
    except ValueError:
        return _BROKEN
    text = str(message.get("message", ""))[:_TEXT_LIMIT]
    return Fault(_FAULT_VERDICTS.get(fault, Verdict.RUNTIME_ERROR), text or str(fault))


def _kernels(message: Message) -> float | None:
    """What the runner says of its launches: a number that can be one, or nothing."""
    said = message.get("kernels")
    if isinstance(said, bool) or not isinstance(said, int | float):
        return None
    return float(said) if 0 <= said <= _MOST_KERNELS else None


def _copied(message: Message) -> int | None:
    """Likewise of its copies."""
    said = message.get("copied")
    if isinstance(said, bool) or not isinstance(said, int):
        return None
    return said if 0 <= said <= _MOST_COPIES else None


def _signal(number: int) -> str:
    try:
        return f"{signal.Signals(number).name} ({signal.strsignal(number)})"
    except ValueError:
        return f"signal {number}"


def sanitizer_summary(report: str) -> str:
    """The lines of an AddressSanitizer report that a contestant needs: what, and where."""
    # Line by line, and short ones: a submission may print anything before.
    lines = [line[:_REPORT_LINE] for line in report.splitlines()]

    def first(pattern: str) -> re.Match[str] | None:
        return next((found for line in lines if (found := re.match(pattern, line))), None)

    what = first(r".*?ERROR: AddressSanitizer: (.+)")
    access = first(r"((?:READ|WRITE) of size \d+)")
    where = first(r" *#\d+ \S+ in (.+?) (\S*solution\.cu:\d+)")
    parts = ["out-of-bounds or invalid memory access"]
    if access:
        parts.append(access[1].lower())
    if where:
        parts.append(f"at {Path(where[2]).name} in {where[1][:200]}")
    if what:
        parts.append(f"({what[1].split(' on ')[0][:100]}, found by AddressSanitizer)")
    return " ".join(parts)


def _environment(program: Program) -> dict[str, str]:
    """What the runner's environment holds; nothing else is inherited."""
    keep = ("LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "CUDA_HOME", "CC")
    environment = {name: os.environ[name] for name in keep if name in os.environ}
    environment |= {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
    environment["TORCHINDUCTOR_COMPILE_THREADS"] = "1"  # no pool of processes in a sandbox
    if program.sanitizer is not None:
        environment["LD_PRELOAD"] = str(program.sanitizer)
        environment["ASAN_OPTIONS"] = program.sanitizer_options
    return environment
