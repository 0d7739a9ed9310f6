"""Runners of the next submissions, started while those before are graded.

A process that is confined and has the card takes 0.2 s to start, which is a fifth of a rough grade.
Nothing of the submission is in it until it is loaded, in its turn.
"""

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import NamedTuple

from harness.device.base import Device
from harness.errors import JudgeError
from harness.grading.checking import OpenSession
from harness.problem.terms import Limits
from harness.session.programs import RunnerProgram
from harness.session.session import Session

_MOST = 2
"""Sessions that are started at once: the turn of a wrong submission is over before one that begins
with it could start."""


class Wanted(NamedTuple):
    """What a session is for."""

    program: RunnerProgram
    limits: Limits


class StartedAhead:
    """Starts sessions ahead; ``open_session`` starts their processes."""

    def __init__(self, open_session: OpenSession, device: Device) -> None:
        self._open_session = open_session
        self._device = device
        self._thread = ThreadPoolExecutor(1, "start-ahead")
        self._started: list[tuple[Wanted, Future[Session]]] = []

    def begin(self, wanted: Sequence[Wanted]) -> None:
        """Start sessions for the first of these, a few; end those for others. Returns at once."""
        others = [each for each in self._started if each[0] not in wanted]
        self._started = [each for each in self._started if each[0] in wanted]
        known = [each for each, _ in self._started]
        new = [each for each in wanted if each not in known]
        for each in new[: _MOST - len(known)]:
            self._started.append((each, self._thread.submit(self._start, each)))
        _end(others)

    def take(self, wanted: Wanted) -> Session:
        """The session that was started for this, or one that begins to start now.

        Raises:
            MachineError: it does not start.
        """
        for each in self._started:
            if each[0] == wanted:
                self._started.remove(each)
                return each[1].result()
        return self._opened(wanted)

    def settle(self) -> None:
        """Wait until all have started: then they wait for their turn, and disturb no time."""
        for _, starting in self._started:
            starting.exception()

    def close(self) -> None:
        """End those that were started, and start no others."""
        started, self._started = self._started, []
        _end(started)
        self._thread.shutdown()

    def _opened(self, wanted: Wanted) -> Session:
        return self._open_session(wanted.program, self._device, wanted.limits)

    def _start(self, wanted: Wanted) -> Session:
        session = self._opened(wanted)
        try:
            session.start()
        except BaseException:
            session.close()
            raise
        return session


def _end(started: Sequence[tuple[Wanted, Future[Session]]]) -> None:
    for _, starting in started:
        with suppress(JudgeError):
            starting.result().close()
