"""One runner process as the judge sees it: its phases, its time, its end.

Whatever the runner does ends in a value here: an answer, a time, or a :class:`Fault`.
"""

import os
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import Self

from torch import OutOfMemoryError

from harness.device.base import Arena, Device, sealed_memory
from harness.errors import MachineError
from harness.problem.terms import Construction, Limits
from harness.records.result import Verdict
from harness.session import start_runner as runners
from harness.session.allowance import Allowance
from harness.session.channel import Channel
from harness.session.done import DoneWatch
from harness.session.fault import BROKEN, RESTLESS, Fault
from harness.session.programs import RunnerProgram
from harness.session.reported import Returned, copied_per_call, kernels_per_call, returned_in_vain
from harness.session.runs import Bindable, Fillable, RunOptions, construct
from harness.solution.launches import LaunchError
from harness.wire import messages
from harness.wire.arguments import KernelLaunch, ListedWeight
from harness.wire.extensions import ROOM, ExtensionRequest, read_requests
from harness.wire.mailbox import MAILBOX_BYTES, Mailbox

_START_SECONDS = 90.0
_ANSWER_SECONDS = 20.0
_UNMAP_SECONDS = 5.0
_FINISHED_SECONDS = 0.02


class Session:
    """One runner process; as a context manager it is gone, with all its children, after.

    ``trusted``: it runs a program of the judge's own.
    """

    def __init__(
        self, program: RunnerProgram, device: Device, limits: Limits, *, trusted: bool = False
    ) -> None:
        self._program = program
        self._device = device
        self._limits = limits
        self._call_s = limits.call_s * device.patience
        self._round = 0
        self.layers: tuple[str, ...] = ()
        """The layers that confine the runner, in words; empty until it has started."""
        self.probes = (0.0, 0.0)
        """Seconds that the device's probes took before *go* and after *done* of the last batch, the
        latter by the device's own clock.

        Each is the longer of two. Before *go* one is taken once the runner is stopped, unless it is
        awake, and one when the inputs are written: what waits on the device for them has not ended
        by then. After *done* one is taken at once, together with the receipt of the outputs, and
        one when the runner is stopped."""
        self.kernels: float | None = None
        """Kernels per call that the last batch launched, as the runner reports; untrusted."""
        self.copied: int | None = None
        """Outputs per call that the last batch copied into place; likewise."""
        self.returned: Returned | None = None
        """What a call returned that nobody reads; likewise."""
        self.mapped = 0
        """Bytes of the judge's buffers that the runner maps."""
        self.took_s = 0.0
        """What the last run took of what limits count: see :mod:`harness.session.own_time`."""
        self._asked_fd = -1
        self._trusted = trusted
        self._start_sandbox()
        self._mailbox_fd = sealed_memory("mailbox", MAILBOX_BYTES)
        self._mailbox = Mailbox(self._mailbox_fd)
        self._done = DoneWatch(self._mailbox, naps=device.emulated)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self, *, wait: bool = True) -> None:
        """End the runner; idempotent. Without ``wait`` it may hold memory for a moment still."""
        if self._mailbox_fd < 0:
            return
        os.close(self._mailbox_fd)
        self._mailbox_fd = -1
        if self._asked_fd >= 0:
            os.close(self._asked_fd)
        self._mailbox.close()
        self._sandbox.close(wait=wait)
        self.mapped = 0

    @property
    def allowance(self) -> Allowance | None:
        """What the submission may take from now on, over several phases; None: each has a limit."""
        return self._channel.allowance

    @allowance.setter
    def allowance(self, allowance: Allowance | None) -> None:
        self._channel.allowance = allowance

    @property
    def isolated(self) -> bool:
        """Whether the runner is in namespaces of its own."""
        return self._sandbox.isolated

    @property
    def peak_bytes(self) -> int:
        """The most host memory that the runner was seen to use."""
        return self._channel.peak_bytes

    def output(self) -> str:
        """The submission's output so far: untrusted, capped."""
        return self._channel.output()

    def running(self) -> int:
        """Processes of the submission that had not ended when it was stopped last."""
        return self._sandbox.running()

    def _start_sandbox(self) -> None:
        program, limits = self._program, self._limits
        self._sandbox = runners.start_runner(program, self._device, limits)
        sanitized = program.sanitizer is not None
        self._channel = Channel(
            self._sandbox,
            host_bytes=limits.host_bytes,
            sanitized=sanitized,
            trusted=self._trusted,
            own_time=self._device.emulated,
        )

    def start(self) -> None:
        """Wait until the process is confined and has the device, once.

        Nothing that is submitted has run by then, so faults are the machine's, and a process that
        ended is started again, once; later faults never are, whatever the runner reports.

        Raises:
            MachineError: the sandbox, the runner or the device does not work.
        """
        if self.layers:
            return
        try:
            self._open()
        except MachineError:
            if self._sandbox.ended() is None:
                raise
            self._sandbox.close()
            self._start_sandbox()
            self._open()

    def _open(self) -> None:
        confined = self._channel.receive(messages.Confined, _START_SECONDS)
        if isinstance(confined, Fault):
            raise MachineError(f"the sandbox does not start: {confined.message}\n{self.output()}")
        if confined.version != messages.VERSION:
            raise MachineError(
                f"the runner speaks version {confined.version} of the protocol and the judge "
                f"version {messages.VERSION}: two versions of harness are mixed; if it was "
                "installed anew meanwhile, start again"
            )
        message = messages.Open(device=self._device.kind)
        opened = self._channel.ask(message, messages.Opened, _START_SECONDS)
        if isinstance(opened, Fault):
            text = f"{opened.message}\n{self.output()}"
            raise MachineError(f"a runner cannot use {self._device.name}: {text}")
        self.layers = confined.layers

    def unbuilt(self) -> tuple[ExtensionRequest, ...]:
        """The extensions that the loaded submission has asked for, and that it was not offered."""
        return read_requests(self._asked_fd) if self._asked_fd >= 0 else ()

    def _offer(self) -> Fault | None:
        """Hand over what was built of the extensions that the submission may ask for."""
        for each in self._program.extensions or ():
            message = messages.Offer(
                digest=each.request.digest, error=each.error, refused=each.refused
            )
            with ExitStack() as opened:
                files = [opened.enter_context(each.library.open("rb"))] if each.library else []
                given = tuple(file.fileno() for file in files)
                answer = self._channel.ask(message, messages.Offered, _ANSWER_SECONDS, given)
            if isinstance(answer, Fault):
                return answer
        return None

    def load(self, program: RunnerProgram | None = None) -> Fault | None:
        """Load the submission, or another program in its place (trusted ones only).

        Raises:
            MachineError: the sandbox does not start.
        """
        self.start()
        if program is not None:
            self._program = program
        contract = self._program.contract
        message = messages.Load(
            kind=self._program.kind,
            interpret=self._program.interpret,
            language=self._program.language,
            extensions=self._program.extensions is not None,
            path=tuple(runners.search_path()),
            entry=contract.called,
            parameters=contract.parameters,
        )
        seconds = self._limits.prepare_s + _START_SECONDS
        if (fault := self._offer()) is not None:
            return fault
        if self._program.extensions is not None and self._asked_fd < 0:
            self._asked_fd = sealed_memory("asked", ROOM)
        asked = () if self._program.extensions is None else (self._asked_fd,)
        with self._program.open() as (artifact, *kernels):
            given = (artifact, self._mailbox_fd, *kernels, *asked)
            answer = self._channel.ask(message, messages.Loaded, seconds, given)
        return answer if isinstance(answer, Fault) else None

    def weights(self, construction: Construction) -> tuple[ListedWeight, ...] | Fault:
        """The weights that the loaded submission's module says it is made with; untrusted."""
        message = messages.ListWeights(construct=construct(construction))
        answer = self._channel.ask(message, messages.WeightsListed, self._limits.prepare_s)
        return answer if isinstance(answer, Fault) else answer.weights

    def map(self, arena: Arena) -> Fault | None:
        """Have the runner map the judge's buffers."""
        message = messages.Map(bytes=arena.size)
        answer = self._channel.ask(message, messages.Mapped, _ANSWER_SECONDS, (arena.fd,))
        self.mapped = arena.size
        return answer if isinstance(answer, Fault) else None

    def unmap(self) -> Fault | None:
        """Have the runner let go of the judge's buffers: until then their memory is not free."""
        answer = self._channel.ask(messages.Unmap(), messages.Unmapped, _UNMAP_SECONDS)
        if isinstance(answer, Fault):
            return answer
        self.mapped = 0
        return None

    def prepare(
        self,
        batch: Bindable,
        options: RunOptions,
        meanwhile: Iterable[None] = (),
    ) -> bool | Fault:
        """Bind the calls, warm up, capture; returns whether they were captured.

        Steps of ``meanwhile`` are taken while the runner is at work; after one has raised, the
        session is of no more use.
        """
        launches: tuple[KernelLaunch, ...] = ()
        if (header := self._program.launches) is not None:
            try:
                launches = header.at(batch.case.values)
            except LaunchError as error:
                return Fault(Verdict.INVALID_SUBMISSION, header.message(error))
        made = batch.construction
        message = messages.Prepare(
            calls=batch.layout.calls,
            arguments=batch.arguments(),
            warmups=options.warmups,
            capture=options.capture,
            order=options.order,
            seed=options.order_seed,
            launches=launches,
            tidy=options.tidy,
            construct=None if made is None else construct(made),
        )
        compiles = self._program.kind == "python"  # at its first call, and may tune itself
        seconds = self._limits.prepare_s if compiles else self._call_s
        answer = self._channel.ask(message, messages.Prepared, seconds, meanwhile=meanwhile)
        if isinstance(answer, messages.Prepared):
            return answer.captured
        if compiles and options.warmups and answer.verdict is Verdict.TIME_LIMIT:
            about = f"its first call with {batch.case.spec}, which compiles its kernels:"
            return replace(answer, message=f"{about} {answer.message}")
        return answer

    def run(
        self,
        batch: Fillable,
        seed: str,
        *,
        stop: bool = True,
        cpu: int | None = None,
        during: Callable[[float], None] | None = None,
        profiled: bool = False,
        expected_s: float = 0.0,
        probed: bool = True,
    ) -> float | Fault:
        """Fill the batch with fresh inputs, reveal them, and time its calls; seconds.

        The runner is stopped while the inputs are written, the clock starts before it is
        continued and stops when *done* is written; then it is stopped again until the next message,
        so that nothing is written any more while the outputs are checked. A runner that writes
        *done* early only gets wrong outputs checked; what it leaves at work on the device shows in
        the ``probes``. Continuing a stopped process takes a time that scatters by 200 µs, in which
        a batch of one short call drowns: without ``stop`` the runner waits for *go* awake. ``cpu``
        is the processor that it launches recorded calls from; None: any. ``during`` is called again
        and again while the calls are at work, with the seconds since *go*. ``profiled``: a profiler
        that waits for it is told of these calls. ``expected_s`` is about how long they take, where
        that is known: nothing else is done when they end. Calls whose time decides nothing need not
        be ``probed``; nor is there a receipt of their outputs.
        """
        self._round += 1
        message = messages.Run(round=self._round, cpu=cpu, profiled=profiled)
        ready = self._channel.ask(message, messages.Ready, _ANSWER_SECONDS)
        if isinstance(ready, Fault):
            return ready
        if stop and not self._sandbox.pause():
            return RESTLESS
        waiting = self._device.probe() if stop and probed else 0.0
        try:
            batch.fill(seed)
        except OutOfMemoryError:
            self._run_out()
            raise
        before = max(waiting, self._device.probe()) if probed else 0.0
        if not probed:
            self._device.synchronize()
        # A batch of many calls is one of short calls: all of them together get no more than two.
        seconds = self._call_s * min(2, batch.layout.calls)
        elapsed, fault = self._go(seconds, during, expected_s)
        if fault is not None:
            return fault
        # The receipt before all else: what is written from here on is late.
        after = self._device.lag(batch.take_receipt) if probed else 0.0
        if not self._sandbox.pause():
            return RESTLESS
        if probed:
            self.probes = (before, max(after, self._device.lag()))
        finished = self._channel.receive(messages.Finished, _FINISHED_SECONDS)
        if isinstance(finished, Fault):
            # `finished` goes before *done*: a runner that has not sent it is not late, it lies.
            return BROKEN if finished.verdict is Verdict.TIME_LIMIT else finished
        self.kernels = kernels_per_call(finished)
        self.copied = copied_per_call(finished)
        self.returned = returned_in_vain(finished)
        return elapsed

    def _go(
        self,
        seconds: float,
        during: Callable[[float], None] | None = None,
        expected_s: float = 0.0,
    ) -> tuple[float, Fault | None]:
        """Reveal the inputs, and wait until the calls are done: how long they took by the wall."""
        deadline = self._channel.time() + seconds
        look = partial(self._channel.look, deadline, seconds)
        start = time.perf_counter()
        self._sandbox.resume()
        self._mailbox.go = self._round
        with self._channel.used():
            fault = self._done.wait(self._round, start, look, during, expected_s)
        elapsed = time.perf_counter() - start
        self.took_s = self._channel.time() - (deadline - seconds)
        return elapsed, fault

    def _run_out(self) -> None:
        """Let the runner, which waits for *go*, make its calls: it then hears messages again."""
        _, fault = self._go(self._call_s)
        if fault is None:
            self._channel.receive(messages.Finished, _FINISHED_SECONDS)
