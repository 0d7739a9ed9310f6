"""Launch overhead: what a batch costs beyond its calls, from batches of a kernel that only waits.

Stopping and continuing a process, launching a graph, waiting for the device: a batch takes 0.2 ms
beyond its calls, up to 0.4 where gigabytes of inputs were written before, and 0.1 more where it
lasts for 25 ms. So beside batches that count the judge times a *null batch*: the same buffers
are filled in the same way, and then a runner of ours, under the protocol of every submission,
launches a graph of one kernel that waits as long as the calls take, by the device's own clock. What
it takes beyond that is the overhead. docs/explanation/measurement.md has the method.
"""

from pathlib import Path

from torch import Tensor

from harness.device.base import Device
from harness.errors import MachineError
from harness.judge.batch import Batch
from harness.judge.task import Task
from harness.problem.format.load import load_problem
from harness.problem.package import Problem
from harness.problem.reference import Reference
from harness.session.fault import Fault
from harness.session.programs import RunnerProgram
from harness.session.session import Session
from harness.solution.launches import Launches, read_launches
from harness.timing.audit import IdleBaseline
from harness.timing.statistics import lower_quartile
from harness.timing.timed_program import BaselineError, TimedProgram

_FOLDER = Path(__file__).with_name("null_kernel")
_REPEATS = 20
_TIMER_TEST_S, _TIMER_TESTS, _TIMER_SLACK_S = 3e-3, 5, 0.25e-3


def null_problem() -> Problem:
    """The problem whose buffers belong to the null kernel."""
    return load_problem(_FOLDER)


def null_program(problem: Problem) -> RunnerProgram:
    """The null kernel, in PTX: its runner needs neither a compiler nor torch."""
    file = _FOLDER / "wait.ptx"
    text = file.read_text(encoding="utf-8")
    launches = Launches(read_launches(text, problem), {}, 0, file.name)
    return RunnerProgram(kind="ptx", source=text.encode(), launches=launches)


class OverheadProbe:
    """Times null batches with a session that has the null kernel loaded.

    Args:
        cpu: the processor that its runner launches from, as that of submissions.

    Raises:
        MachineError: the null kernel does not run here.
    """

    def __init__(
        self, session: Session, problem: Problem, device: Device, *, cpu: int | None = None
    ) -> None:
        self._session = session
        case = problem.timed_cases(emulated=device.emulated)[0]
        task = Task(problem, Reference(problem), problem.dtypes[0], device, "null")
        self._small = TimedProgram(
            session, task, name="null kernel", trusted=True, capture=device.captures_graphs
        )
        try:
            self._small.setup(case, 1)
        except BaselineError as error:
            raise MachineError(f"the null kernel fails: {error.reason}") from error
        times, probes = [], []
        for repeat in range(_REPEATS):
            times.append(self._run(self._small.batch, f"null/{repeat}", cpu))
            probes.append(IdleBaseline(*session.probes))
        self.batch_s = lower_quartile(times)
        """Seconds of a null batch on small buffers that does not wait, lower quartile."""
        self.idle = IdleBaseline.median(probes[1:])
        """How long the judge's probes take while the device is idle."""
        self._waits = self._timer_is_usable(cpu)

    def _timer_is_usable(self, cpu: int | None) -> bool:
        """Whether the device's clock is fine enough to wait by: it need not be, on every card."""
        beyond = [
            self._run(self._small.batch, f"null/wait/{trial}", cpu, _TIMER_TEST_S)
            for trial in range(_TIMER_TESTS)
        ]
        return abs(lower_quartile(beyond) - self.batch_s) <= _TIMER_SLACK_S

    def warm_up(self, seed: str, cpu: int | None) -> None:
        """Run a batch that counts for nothing, on small buffers.

        The first batch after outputs were checked takes 0.05 ms longer than others.

        Raises:
            MachineError: the null kernel does not run here.
        """
        self._run(self._small.batch, f"{seed}/before", cpu)

    def time(self, batch: Batch, seed: str, cpu: int | None, wait_s: float) -> float:
        """Seconds from *go* to *done* beyond the calls of ``batch``, whose program does not run.

        Its buffers are filled; the null kernel waits for ``wait_s``, as long as the calls would.
        Raises as :meth:`warm_up`.
        """
        return self._run(batch, seed, cpu, wait_s if self._waits else 0.0)

    def _run(self, batch: Batch, seed: str, cpu: int | None, wait_s: float = 0.0) -> float:
        argument = self._small.batch.outputs(0)["nanoseconds"]
        nanoseconds = round(wait_s * 1e9)
        waiting = _WaitingBatch(batch, argument, nanoseconds)
        seconds = self._session.run(waiting, seed, cpu=cpu, expected_s=wait_s)
        if isinstance(seconds, Fault):
            raise MachineError(f"the null kernel fails: {seconds.message}")
        return seconds - nanoseconds * 1e-9

    @property
    def after_s(self) -> float:
        """What the judge's probe took after the last null batch: nothing was at work then."""
        return self._session.probes[1]

    def started_early_fault(self) -> Fault | None:
        """The fault of a device at work before the inputs of the last null batch were there.

        A null batch that has to wait is too long an overhead to subtract.
        """
        return self.idle.started_early_fault(self._session.probes[0])

    def close(self) -> None:
        """Give its buffers back."""
        self._small.release()


class _WaitingBatch:
    """A batch that is filled, and with it the null kernel's ``argument``: how long to wait."""

    def __init__(self, batch: Batch, argument: Tensor, nanoseconds: int) -> None:
        self.layout = batch.layout
        self._batch = batch
        self._argument = argument
        self._nanoseconds = nanoseconds

    def fill(self, seed: str) -> None:
        self._batch.fill(seed, once=True)
        self._argument.fill_(self._nanoseconds)

    def take_receipt(self) -> None:
        self._batch.take_receipt()
