"""Executors of grades: what commands hand files to and get results from.

A command knows :class:`Executor` alone. :class:`InProcess`, one device in this process, is the one
there is; another one (several cards, several hosts) is a module beside it. Results come in order of
completion, which need not be that of the files.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import groupby
from types import TracebackType
from typing import Protocol, Self

from harness.device.base import Device
from harness.grading.grader import Grader
from harness.grading.job import Completed, Job, Options, Work
from harness.progress.progress import Progress
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


class InProcess:
    """Grades on one device, in this process; use as a context manager.

    Args:
        device: where submissions run.
        progress: told of every phase.
        workers: files graded at once, where no times are taken.
        grader: grades them; by default one of the usual parts for the device.
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
        self._workers = workers

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._grader.__exit__(kind, error, trace)

    def grade(self, work: Sequence[Work]) -> Iterator[Completed]:
        """As :meth:`Executor.grade`; with one worker in the order of ``work``."""
        if self._workers > 1 and not any(each.options.timed for each in work):
            yield from self._side_by_side(work)
            return
        # Files with the same options are built side by side and told apart by content.
        for options, group in groupby(work, key=lambda each: each.options):
            together = list(group)
            results = self._grader.grade_all([each.job for each in together], options)
            yield from map(Completed, together, results)

    def _side_by_side(self, work: Sequence[Work]) -> Iterator[Completed]:
        with ThreadPoolExecutor(self._workers) as pool:
            begun = {pool.submit(self._grader.grade, each.job, each.options): each for each in work}
            try:
                for done in as_completed(begun):
                    yield Completed(begun[done], done.result())
            finally:
                pool.shutdown(cancel_futures=True)

    def compare(self, first: Job, second: Job, options: Options) -> Comparison | list[Result]:
        """As :meth:`Executor.compare`."""
        return self._grader.compare(first, second, options)
