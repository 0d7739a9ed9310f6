"""The runner of the next submission, started while the one before is checked.

A process that is confined and has the card takes 0.2 s to start, which is a tenth of a rough grade.
Nothing of the submission is in it until it is loaded, in its turn.
"""

from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress

from harness.device.base import Device
from harness.errors import JudgeError
from harness.grading.checking import OpenSession
from harness.problem.terms import Limits
from harness.session.programs import RunnerProgram
from harness.session.session import Session


class StartedAhead:
    """Starts one session ahead; ``open_session`` starts its process."""

    def __init__(self, open_session: OpenSession, device: Device) -> None:
        self._open_session = open_session
        self._device = device
        self._thread = ThreadPoolExecutor(1, "start-ahead")
        self._wanted: tuple[RunnerProgram, Limits] | None = None
        self._starting: Future[Session] | None = None

    def begin(self, program: RunnerProgram, limits: Limits) -> None:
        """Start a session for this program, in place of any that was; returns at once."""
        if self._wanted != (program, limits):
            self.drop()
            self._wanted = program, limits
            self._starting = self._thread.submit(self._start, program, limits)

    def take(self, program: RunnerProgram, limits: Limits) -> Session:
        """The session that was started for this program, or one that begins to start now.

        Raises:
            MachineError: it does not start.
        """
        starting = self._starting
        if starting is None or self._wanted != (program, limits):
            return self._open_session(program, self._device, limits)
        self._wanted = self._starting = None
        return starting.result()

    def settle(self) -> None:
        """Wait until it has started: then it waits for its turn, and disturbs no time."""
        if self._starting is not None:
            self._starting.exception()

    def drop(self) -> None:
        """End the one that was started, if there is one."""
        starting, self._wanted, self._starting = self._starting, None, None
        if starting is not None:
            with suppress(JudgeError):
                starting.result().close()

    def close(self) -> None:
        """The same, and start no other."""
        self.drop()
        self._thread.shutdown()

    def _start(self, program: RunnerProgram, limits: Limits) -> Session:
        session = self._open_session(program, self._device, limits)
        try:
            session.start()
        except BaseException:
            session.close()
            raise
        return session
