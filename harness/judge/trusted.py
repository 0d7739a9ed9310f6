"""The runner that is ours: it runs the calibration kernel and the problems' baselines."""

from concurrent.futures import Future, ThreadPoolExecutor

from harness.errors import MachineError
from harness.judge.calibrate import calibration_problem, measure_constants
from harness.judge.constants import Constants
from harness.judge.memory import Device
from harness.judge.programs import source_program
from harness.judge.session import Program, Session
from harness.judge.task import Task
from harness.problem.model import Problem


class TrustedRunner:
    """One session for all baselines of a run, started in the background (it imports torch).

    The same confinement and protocol as a submission's, so that times can be compared.
    """

    def __init__(self, device: Device) -> None:
        self._device = device
        self._calibration = calibration_problem()
        self._thread = ThreadPoolExecutor(1)
        self._session: Future[Session] | None = None
        self._loaded: tuple[str, str] | None = None
        self._constants: Constants | None = None

    def start(self) -> None:
        """Begin to start it; returns at once, and does nothing the second time."""
        if self._session is None:
            self._session = self._thread.submit(self._start)

    def session(self) -> Session:
        """The session, started; waits for it."""
        self.start()
        assert self._session is not None
        return self._session.result()

    def constants(self) -> Constants:
        """What a batch costs on this machine beyond its calls; measured once.

        Not known on the CPU path (0), where its noise is larger than what small calls take.
        """
        if self._device.kind == "cpu":
            return Constants()
        if self._constants is None:
            session = self.session()
            self._constants = measure_constants(session, self._calibration, self._device)
        return self._constants

    def baseline(self, task: Task) -> Session:
        """The session with the task's baseline loaded.

        Raises:
            MachineError: the baseline does not run here.
        """
        session = self.session()
        wanted = (task.problem.hash, task.dtype)
        if self._loaded != wanted:
            fault = session.load(_baseline(task.problem))
            if fault is not None:
                text = f"{fault.message}\n{session.output()}"
                raise MachineError(f"the baseline of {task.problem.slug} does not run: {text}")
            self._loaded = wanted
        return session

    def close(self) -> None:
        """End the runner, however far it came."""
        self._thread.shutdown(wait=True)
        if self._session is not None and self._session.exception() is None:
            self._session.result().close()

    def _start(self) -> Session:
        problem = self._calibration
        session = Session(_baseline(problem), self._device, problem.limits)
        fault = session.load()
        if fault is not None:
            text = f"{fault.message}\n{session.output()}"
            session.close()
            raise MachineError(f"the baseline's runner does not start: {text}")
        return session


def _baseline(problem: Problem) -> Program:
    """The first baseline of a problem: a solution file of the package itself."""
    file = next(iter(problem.baselines.values()))
    return source_program(file.read_bytes())
