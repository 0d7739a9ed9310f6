"""The channel to one runner, which is watched while its answers, or faults, are waited for."""

import os
import select
import time
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import TypeVar

from harness import cudacpu
from harness.records.result import Verdict
from harness.sandbox.launch import Sandbox
from harness.sandbox.pause_gate import waiting
from harness.session.allowance import Allowance
from harness.session.fault import BROKEN, Fault, of_exit, parse_fault, sanitizer_summary
from harness.session.own_time import OwnTime, Stopwatch, WallTime
from harness.wire import transport
from harness.wire.messages import Answer, Failed, Message
from harness.wire.transport import Closed
from harness.wire.validation import WireError

_DEATH_SECONDS = 1.0
"""A process whose channel is closed is given so long to end, so that its status is known."""

_OUTPUT_SECONDS = 0.1
_POLL_SECONDS, _RARE_POLL_SECONDS = 0.02, 0.16
_UNSEEN_SECONDS = 0.25
"""However fast it answers, a runner's memory is looked at so often."""

AnswerT = TypeVar("AnswerT", bound=Answer)


class Channel:
    """Carries messages between the judge and the runner in a sandbox.

    The runner may use ``host_bytes`` of host memory. Where it is ``sanitized``, AddressSanitizer
    was preloaded and ends it at an error. A ``trusted`` one hides nothing: what a submission hides
    may not be laid to it. Its limits are in its ``own_time``, or in the wall's.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        *,
        host_bytes: int,
        sanitized: bool,
        trusted: bool = False,
        own_time: bool = False,
    ) -> None:
        self._sandbox = sandbox
        self._host_bytes = host_bytes
        self._sanitized = sanitized
        self.allowance: Allowance | None = None
        """What it may take over many messages and runs; None: only each has its limit."""
        self._trusted = trusted
        self.time: Stopwatch = OwnTime(sandbox) if own_time else WallTime()
        """What its limits are measured by."""
        self._looked = 0.0
        self.peak_bytes = 0
        """The most memory that the runner was seen to use."""

    def output(self) -> str:
        """The submission's output so far: untrusted, capped."""
        return self._sandbox.output.text(_OUTPUT_SECONDS)

    def used(self) -> AbstractContextManager[None]:
        """In this block the runner is waited for, on its :attr:`allowance`."""
        return self.allowance.used(self.time) if self.allowance else nullcontext()

    def look(self, deadline: float, seconds: float) -> Fault | None:
        """Check that the runner is alive and within its limits of memory and time.

        ``deadline`` is when, by :attr:`time`, the ``seconds`` that it has are over.
        """
        if self._sandbox.ended() is not None:
            return self._death()
        if (fault := self._look_at_memory()) is not None:
            return fault
        if self.time() > deadline:
            message = f"did not finish within {seconds:g} s{self.time.name}"
            return Fault(Verdict.TIME_LIMIT, message)
        return self.allowance.look(self._sandbox.computes) if self.allowance else None

    def _look_at_memory(self) -> Fault | None:
        memory = self._sandbox.memory()
        self.peak_bytes = max(self.peak_bytes, memory)
        over = self.peak_bytes > self._host_bytes
        if not (over or self._trusted):  # what hides is looked for in the room that is left
            over = self._sandbox.hides(self._host_bytes - memory)
        self._looked = time.perf_counter()
        if over:
            limit = self._host_bytes >> 20
            return Fault(Verdict.MEMORY_LIMIT, f"used more than {limit} MiB of host memory")
        return None

    def ask(
        self,
        message: Message,
        answer: type[AnswerT],
        seconds: float,
        descriptors: tuple[int, ...] = (),
        meanwhile: Iterable[None] = (),
    ) -> AnswerT | Fault:
        """Send ``message``, with ``descriptors``, and wait for its ``answer``, so many seconds.

        They begin after ``meanwhile``, of which a step is taken after the other until the answer is
        there; what it raises leaves that unread.
        """
        self._sandbox.resume()
        try:
            transport.send(self._sandbox.channel, message, descriptors)
        except WireError as error:
            return self._broken(error)
        for _ in meanwhile:
            if self._arrived(0.0):
                break
        return self.receive(answer, seconds)

    def receive(self, expected: type[AnswerT], seconds: float) -> AnswerT | Fault:
        """Wait for an ``expected`` message, so many seconds."""
        with self.used():
            fault = self._await_message(seconds)
        if fault is not None:
            return fault
        unseen = time.perf_counter() - self._looked > _UNSEEN_SECONDS
        if unseen and (fault := self._look_at_memory()) is not None:
            return fault
        try:
            message, descriptors = transport.receive(self._sandbox.channel)
        except WireError as error:
            return self._broken(error)
        for fd in descriptors:  # nobody asked for any
            os.close(fd)
        if isinstance(message, Failed):
            return parse_fault(message)
        return message if isinstance(message, expected) else BROKEN

    def _await_message(self, seconds: float) -> Fault | None:
        deadline = self.time() + seconds
        wait = _POLL_SECONDS
        while True:
            with waiting():
                if self._arrived(wait):
                    return None
            wait = min(2 * wait, _RARE_POLL_SECONDS)
            if (fault := self.look(deadline, seconds)) is not None:
                return fault

    def _arrived(self, seconds: float) -> bool:
        """Whether a message arrives within so many seconds."""
        return bool(select.select([self._sandbox.channel], [], [], seconds)[0])

    def _broken(self, error: WireError) -> Fault:
        """The fault of a useless channel; where it is closed, usually the process has died."""
        deadline = time.perf_counter() + (_DEATH_SECONDS if isinstance(error, Closed) else 0.0)
        while self._sandbox.ended() is None and time.perf_counter() < deadline:
            time.sleep(0.002)
        if self._sandbox.ended() is not None:
            return self._death()
        return Fault(BROKEN.verdict, f"{BROKEN.message}: {error}")

    def _death(self) -> Fault:
        """The fault of a process that ended before it was asked to."""
        status = self._sandbox.ended() or 0
        if self._sanitized and status == cudacpu.ASAN_EXIT_STATUS:
            return Fault(Verdict.RUNTIME_ERROR, sanitizer_summary(self.output()))
        if self._sandbox.out_of_memory() or self.peak_bytes > 0.9 * self._host_bytes:
            return Fault(Verdict.MEMORY_LIMIT, "ran out of host memory")
        return of_exit(status)
