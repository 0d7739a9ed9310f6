"""Executors: commands hand them files and get results, in order of completion.

:class:`InProcess` grades on one device in this process, :class:`harness.grading.cards.Cards` on
several cards of this host.
"""

from collections.abc import Generator, Hashable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import AbstractContextManager
from itertools import groupby
from typing import Protocol

from harness.device.base import Device
from harness.device.choose import open_device
from harness.errors import JudgeError, MachineError, NoDeviceError, ProblemError
from harness.grading.duplicates import Alike, outcomes_of
from harness.grading.grader import Grader, Refused, concerns_problem
from harness.grading.job import (
    Completed,
    Job,
    NotJudged,
    Options,
    Outcome,
    Work,
    completed,
    problem_key,
)
from harness.progress.progress import Progress, counted, progress
from harness.records.comparison import Comparison
from harness.records.refs import DeviceRef
from harness.records.result import Result

_FAILURES = 3
"""In a row: then it is the machine, and not what a file did to it."""


class Executor(Protocol):
    """Grades files, somewhere."""

    @property
    def device(self) -> DeviceRef:
        """What they are graded on."""

    def grade(self, work: Sequence[Work]) -> Iterator[Completed]:
        """Each of ``work`` once with its result, as soon as it is there, in any order.

        Raises:
            ProblemError, MachineError, HarnessError: not the contestant's doing.
        """

    def outcomes(self, work: Sequence[Work]) -> Iterator[Completed | NotJudged]:
        """As :meth:`grade`, but for what concerns one file, or one problem's, the others go on.

        Raises:
            MachineError, HarnessError: it concerns the machine, or is our fault.
        """

    def compare(self, first: Job, second: Job, options: Options) -> Comparison | list[Result]:
        """Two submissions timed in turns, if both are right; else the results of the others.

        Raises:
            NoDeviceError: there is no GPU, and functional times were not asked for.
            ProblemError, MachineError, HarnessError: not the contestant's doing.
        """


class InProcess(AbstractContextManager["InProcess"]):
    """Grades on one device, in this process; use as a context manager.

    Args:
        device: where submissions run.
        progress: told of every phase; finished before each result, for the caller may print it.
        workers: files graded at once, where no times are taken.
        grader: grades them; by default one for ``device``.
    """

    def __init__(
        self,
        device: Device,
        progress: Progress,
        *,
        workers: int = 1,
        grader: Grader | None = None,
    ) -> None:
        self.device = DeviceRef(kind=device.kind, name=device.name)
        self._grader = grader or Grader(device, progress)
        self._progress = progress
        self._workers = workers
        self._begun: Generator[object, None, None] | None = None

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        if self._begun is not None:
            self._begun.close()  # with it builds for files that nobody asks for any more
        self._grader.__exit__(kind, *error)

    def grade(self, work: Sequence[Work]) -> Iterator[Completed]:
        """As :meth:`Executor.grade`; with one worker what is built first, in order."""
        if self._workers > 1 and not any(self._options(each).timed for each in work):
            results = self._begun = self._side_by_side(work)
            return results
        return map(completed, self.outcomes(work))

    def outcomes(self, work: Sequence[Work]) -> Iterator[Completed | NotJudged]:
        """As :meth:`Executor.outcomes`; of files with the same content one is graded.

        Of a problem whose package has mistakes, or whose baseline fails, all files end with the
        first. A machine that fails three times in a row fails for all.
        """
        outcomes = self._begun = counted(self._progress, self._outcomes(work), len(work))
        return outcomes

    def _options(self, work: Work) -> Options:
        """The options that hold on this device."""
        return work.options.on(self.device)

    def _outcomes(self, work: Sequence[Work]) -> Generator[Completed | NotJudged, None, None]:
        alike, failures = Alike(), 0
        wrong: dict[Hashable, ProblemError | MachineError] = {}

        def refused(job: Job) -> ProblemError | MachineError | None:
            return wrong.get(problem_key(job))

        for first, outcome in self._graded(alike.first_of(work), refused):
            if not isinstance(outcome, JudgeError):
                failures = 0
            elif concerns_problem(outcome):
                wrong[problem_key(first.job)] = outcome
            else:
                failures += 1
                if failures == _FAILURES:
                    raise outcome
            yield from outcomes_of(alike.take(first), outcome)

    def _graded(self, work: Sequence[Work], refused: Refused) -> Iterator[tuple[Work, Outcome]]:
        # Files with the same options are built side by side.
        for options, group in groupby(work, key=self._options):
            together = list(group)
            jobs = [each.job for each in together]
            for number, outcome in self._grader.grade_all(jobs, options, refused):
                yield together[number], outcome

    def give_up(self, work: Work, message: str) -> Result:
        """The result of what is not graded, for the reason in ``message``."""
        return self._grader.give_up(work.job, self._options(work), message)

    def _side_by_side(self, work: Sequence[Work]) -> Generator[Completed, None, None]:
        with ThreadPoolExecutor(self._workers) as pool:
            grade = self._grader.grade
            begun = {pool.submit(grade, each.job, self._options(each)): each for each in work}
            try:
                for done in as_completed(begun):
                    self._progress.finish()
                    yield Completed(begun[done], done.result())
            finally:
                pool.shutdown(cancel_futures=True)

    def compare(self, first: Job, second: Job, options: Options) -> Comparison | list[Result]:
        """As :meth:`Executor.compare`."""
        if not options.on(self.device).timed:
            raise NoDeviceError(
                "which of two is faster is a question to a GPU, and there is none here: harness "
                "check gives their verdicts, --functional-times compares their times on the CPU"
            )
        return self._grader.compare(first, second, options)


def open_executor(device: str, shown: Progress | None = None) -> InProcess:
    """An executor on ``auto``, ``cuda`` or ``cpu``, with progress on stderr if none is given.

    For a process that is a judge's own: all of it keeps to its processors from now on.
    """
    opened = open_device(device)
    opened.settle()
    return InProcess(opened, shown or progress())
