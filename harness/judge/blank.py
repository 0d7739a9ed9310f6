"""What a batch costs beyond its calls: batches with nothing in them, of a runner of ours.

Stopping and continuing a process, launching a graph, waiting for the device: a batch takes 0.2 ms
beyond its calls, and up to 0.4 where gigabytes of inputs were written before. So beside every batch
that counts the judge times a *blank* one: the same buffers are filled in the same way, and then a
runner of ours, under the protocol of every submission, launches a graph of one kernel that does
nothing. docs/measurement.md has the figures.
"""

from pathlib import Path

from harness.errors import MachineError
from harness.judge.audit import Usual
from harness.judge.batch import Batch
from harness.judge.contender import BaselineError, Contender
from harness.judge.fault import Fault
from harness.judge.memory import Device
from harness.judge.session import Session
from harness.judge.statistics import lower_quartile
from harness.judge.task import Task
from harness.problem.case import benchmark_case
from harness.problem.load import load_problem
from harness.problem.model import Problem
from harness.problem.reference import Reference

_REPEATS = 20


def empty_problem() -> Problem:
    """The problem whose baseline is the kernel that does nothing."""
    return load_problem(Path(__file__).with_name("empty"))


class Blank:
    """A session that has the empty kernel loaded, and what its batches took at the start.

    ``batch_s``: seconds of one on small buffers, lower quartile. ``usual``: how long the judge's
    probes take while the device is idle.

    Raises:
        MachineError: our own kernel does not run here.
    """

    def __init__(self, session: Session, problem: Problem, device: Device) -> None:
        self._session = session
        sizes = problem.benchmarks if device.kind == "cuda" else problem.cpu_benchmarks
        case = benchmark_case(problem, sizes[0])
        task = Task(problem, Reference(problem), problem.dtypes[0], device, "blank")
        self._own = Contender(session, task, trusted=True, capture=device.kind == "cuda")
        try:
            self._own.setup(case, 1)
        except BaselineError as error:
            raise MachineError(f"the empty kernel fails: {error.reason}") from error
        times, probes = [], []
        for repeat in range(_REPEATS):
            times.append(self._run(self._own.batch, f"blank/{repeat}"))
            probes.append(Usual(*session.probes))
        self.batch_s = lower_quartile(times)
        self.usual = Usual.median(probes[1:])

    def settle(self, seed: str) -> None:
        """A batch that counts for nothing, on small buffers.

        The first batch after outputs were checked takes 0.05 ms longer than others, and is to be
        neither a blank one nor one that counts.

        Raises:
            MachineError: our own kernel does not run here.
        """
        self._run(self._own.batch, f"{seed}/before")

    def time(self, batch: Batch, seed: str) -> float:
        """Seconds from *go* to *done* where ``batch``, of whomever, was filled and is not run.

        Raises:
            MachineError: our own kernel does not run here.
        """
        return self._run(batch, seed)

    def _run(self, batch: Batch, seed: str) -> float:
        seconds = self._session.run(batch, seed)
        if isinstance(seconds, Fault):
            raise MachineError(f"the empty kernel fails: {seconds.message}")
        return seconds

    def early_fault(self) -> Fault | None:
        """What follows if the device is always at work when inputs are there, as in the last batch.

        A blank batch that has to wait is too long, and what is taken off for it is too much.
        """
        return self.usual.early_fault(self._session.probes[0])

    def close(self) -> None:
        """Give its buffers back."""
        self._own.release()
