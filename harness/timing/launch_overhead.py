"""What a batch costs beyond its calls: batches of a runner of ours whose kernel only waits.

Stopping and continuing a process, launching a graph, waiting for the device: a batch takes 0.2 ms
beyond its calls, up to 0.4 where gigabytes of inputs were written before, and 0.1 more where it
lasts for 25 ms. So beside every batch that counts the judge times a *blank* one: the same buffers
are filled in the same way, and then a runner of ours, under the protocol of every submission,
launches a graph of one kernel that waits as long as the calls take, by the device's own clock. What
it takes beyond that is the constant. docs/measurement.md has the figures.
"""

from pathlib import Path

from torch import Tensor

from harness.device.memory import Device
from harness.errors import MachineError
from harness.judge.batch import Batch, Layout
from harness.judge.task import Task
from harness.problem.case import benchmark_case
from harness.problem.format.load import load_problem
from harness.problem.model import Problem
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
_TRIAL_S, _TRIALS, _TRIAL_SLACK_S = 3e-3, 5, 0.25e-3


def null_problem() -> Problem:
    """The problem whose buffers belong to the kernel that waits."""
    return load_problem(_FOLDER)


def waiting_program(problem: Problem) -> RunnerProgram:
    """The kernel that waits, in PTX: its runner needs neither a compiler nor torch."""
    file = _FOLDER / "wait.ptx"
    text = file.read_text(encoding="utf-8")
    launches = Launches(read_launches(text, problem), {}, 0, file.name)
    return RunnerProgram(kind="ptx", source=text.encode(), launches=launches)


class OverheadProbe:
    """A session that has the waiting kernel loaded, and what its batches took at the start.

    ``batch_s``: seconds of one on small buffers that does not wait, lower quartile. ``usual``: how
    long the judge's probes take while the device is idle.

    Raises:
        MachineError: our own kernel does not run here.
    """

    def __init__(self, session: Session, problem: Problem, device: Device) -> None:
        self._session = session
        sizes = problem.benchmarks if device.kind == "cuda" else problem.cpu_benchmarks
        case = benchmark_case(problem, sizes[0])
        task = Task(problem, Reference(problem), problem.dtypes[0], device, "blank")
        self._own = TimedProgram(session, task, trusted=True, capture=device.kind == "cuda")
        try:
            self._own.setup(case, 1)
        except BaselineError as error:
            raise MachineError(f"the empty kernel fails: {error.reason}") from error
        times, probes = [], []
        for repeat in range(_REPEATS):
            times.append(self._run(self._own.batch, f"blank/{repeat}"))
            probes.append(IdleBaseline(*session.probes))
        self.batch_s = lower_quartile(times)
        self.usual = IdleBaseline.median(probes[1:])
        self._waits = self._timer_is_usable()

    def _timer_is_usable(self) -> bool:
        """Whether the device's clock is fine enough to wait by: it need not be, on every card."""
        beyond = [
            self._run(self._own.batch, f"blank/wait/{trial}", _TRIAL_S) for trial in range(_TRIALS)
        ]
        return abs(lower_quartile(beyond) - self.batch_s) <= _TRIAL_SLACK_S

    def warm_up(self, seed: str) -> None:
        """A batch that counts for nothing, on small buffers.

        The first batch after outputs were checked takes 0.05 ms longer than others, and is to be
        neither a blank one nor one that counts.

        Raises:
            MachineError: our own kernel does not run here.
        """
        self._run(self._own.batch, f"{seed}/before")

    def time(self, batch: Batch, seed: str, lasting_s: float) -> float:
        """Seconds from *go* to *done* beyond the calls, of ``batch``, of whomever.

        It is filled and not run: what runs takes ``lasting_s``, which its calls are thought to.

        Raises:
            MachineError: our own kernel does not run here.
        """
        return self._run(batch, seed, lasting_s if self._waits else 0.0)

    def _run(self, batch: Batch, seed: str, lasting_s: float = 0.0) -> float:
        waiting = _Waiting(batch, self._own.batch.outputs(0)["nanoseconds"], round(lasting_s * 1e9))
        seconds = self._session.run(waiting, seed)
        if isinstance(seconds, Fault):
            raise MachineError(f"the empty kernel fails: {seconds.message}")
        return seconds - waiting.nanoseconds * 1e-9

    @property
    def after_s(self) -> float:
        """What the judge's probe took after the last batch: nothing was at work then."""
        return self._session.probes[1]

    def started_early_fault(self) -> Fault | None:
        """What follows if the device is always at work when inputs are there, as in the last batch.

        A blank batch that has to wait is too long, and what is taken off for it is too much.
        """
        return self.usual.started_early_fault(self._session.probes[0])

    def close(self) -> None:
        """Give its buffers back."""
        self._own.release()


class _Waiting:
    """A batch that is filled while our kernel is ``told`` for how many ``nanoseconds`` to wait."""

    def __init__(self, batch: Batch, told: Tensor, nanoseconds: int) -> None:
        self._batch = batch
        self._told = told
        self.nanoseconds = nanoseconds

    @property
    def layout(self) -> Layout:
        return self._batch.layout

    def fill(self, seed: str) -> None:
        self._batch.fill(seed)
        self._told.fill_(self.nanoseconds)
