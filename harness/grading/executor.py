"""Executors: commands hand them files and get results, in order of completion.

:class:`InProcess` grades on one device in this process; another one (several cards, several hosts)
would be a module beside it that meets :class:`Executor`.
"""

from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import AbstractContextManager
from itertools import groupby
from operator import attrgetter
from typing import Protocol

from harness.device.base import Device
from harness.device.choose import open_device
from harness.grading.grader import Grader
from harness.grading.job import Completed, Job, Options, Work
from harness.progress.progress import Progress, progress
from harness.records.comparison import Comparison
from harness.records.refs import DeviceRef
from harness.records.result import Result


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

    def compare(self, first: Job, second: Job, options: Options) -> Comparison | list[Result]:
        """Two submissions timed in turns, if both are right; else the results of the others.

        Raises:
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
        self._begun: Generator[Completed, None, None] | None = None

    def __exit__(self, *error: object) -> None:
        if self._begun is not None:
            self._begun.close()  # with it builds for files that nobody asks for any more
        self._grader.__exit__(*error)

    def grade(self, work: Sequence[Work]) -> Iterator[Completed]:
        """As :meth:`Executor.grade`; with one worker in the order of ``work``."""
        self._begun = self._grade(work)
        return self._begun

    def _grade(self, work: Sequence[Work]) -> Generator[Completed, None, None]:
        if self._workers > 1 and not any(each.options.timed for each in work):
            yield from self._side_by_side(work)
            return
        # Files with the same options are built side by side, duplicates once.
        for options, group in groupby(work, key=attrgetter("options")):
            together = list(group)
            results = self._grader.grade_all([each.job for each in together], options)
            for completed in map(Completed, together, results):
                self._progress.finish()
                yield completed

    def _side_by_side(self, work: Sequence[Work]) -> Iterator[Completed]:
        with ThreadPoolExecutor(self._workers) as pool:
            begun = {pool.submit(self._grader.grade, each.job, each.options): each for each in work}
            try:
                for done in as_completed(begun):
                    self._progress.finish()
                    yield Completed(begun[done], done.result())
            finally:
                pool.shutdown(cancel_futures=True)

    def compare(self, first: Job, second: Job, options: Options) -> Comparison | list[Result]:
        """As :meth:`Executor.compare`."""
        return self._grader.compare(first, second, options)


def open_executor(device: str) -> InProcess:
    """An executor on ``auto``, ``cuda`` or ``cpu``, with progress on stderr."""
    return InProcess(open_device(device), progress())
