"""The judge's own runners: one for the problems' baselines, one for the null kernel."""

from concurrent.futures import Future, ThreadPoolExecutor

from harness.device.base import Device
from harness.errors import MachineError
from harness.judge.task import Task
from harness.problem.gradable import Gradable
from harness.session.programs import RunnerProgram, source_program
from harness.session.session import Session
from harness.timing.launch_overhead import OverheadProbe, null_problem, null_program


class TrustedRunners:
    """One session for all baselines of a run and, where launch overhead is measured, one for that.

    They start in the background, with the same confinement and protocol as a submission's, so that
    times can be compared.
    """

    def __init__(self, device: Device) -> None:
        self._device = device
        self._null = null_problem()
        self._threads = ThreadPoolExecutor(2)
        self._sessions: list[Future[Session]] = []
        self._loaded: tuple[str, str] | None = None
        self._overhead: OverheadProbe | None = None

    def start(self) -> None:
        """Begin to start them, unless that is done; returns at once."""
        if not self._sessions:
            programs = [_baseline(self._null)]
            if self._device.captures_graphs:
                programs.append(null_program(self._null))
            self._sessions = [self._threads.submit(self._start, each) for each in programs]

    def session(self) -> Session:
        """The session for baselines, started; waits for it."""
        self.start()
        return self._sessions[0].result()

    @property
    def calibrated(self) -> bool:
        """Whether :meth:`overhead` has its answer already."""
        return not self._device.captures_graphs or self._overhead is not None

    def overhead(self, cpu: int | None) -> OverheadProbe | None:
        """The probe of launch overhead; None on the CPU path, where it scatters too much.

        What an idle device is like is measured the first time: no submitted code may run by then.
        ``cpu`` is the processor that timed runners launch from.

        Raises:
            MachineError: the null kernel does not run here.
        """
        if not self._device.captures_graphs:
            return None
        if self._overhead is None:
            self.start()
            _, null = [session.result() for session in self._sessions]  # neither starting any more
            self._overhead = OverheadProbe(null, self._null, self._device, cpu=cpu)
            self._device.read_times()  # calibrated now, on an idle device
        return self._overhead

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
                file = next(iter(task.problem.baselines.values()))
                what = f"the baseline of {task.problem.slug} does not run: {file}"
                raise MachineError(f"{what}: {fault.message}\n{session.output()}".strip())
            self._loaded = wanted
        return session

    def close(self) -> None:
        """End the runners, however far they came."""
        self._threads.shutdown(wait=True)
        self.renew()

    def renew(self) -> None:
        """Close all trusted runners; the next call starts new ones."""
        if self._overhead is not None:
            self._overhead.close()
        for session in self._sessions:
            if session.exception() is None:
                session.result().close()
        self._sessions, self._loaded, self._overhead = [], None, None

    def _start(self, program: RunnerProgram) -> Session:
        with self._device.shared(lambda _: None):
            session = Session(program, self._device, self._null.limits, trusted=True)
            fault = session.load()
        if fault is not None:
            text = f"{fault.message}\n{session.output()}"
            session.close()
            raise MachineError(f"a runner of the judge's own does not start: {text}")
        return session


def _baseline(problem: Gradable) -> RunnerProgram:
    """The first baseline of a problem: a solution file of the package itself."""
    file = next(iter(problem.baselines.values()))
    return source_program(file.read_bytes())
