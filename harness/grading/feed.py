"""What judges are fed with while they work, and what came of it."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from harness.errors import JudgeError, MachineError, ProblemError
from harness.grading.duplicates import copy_for_duplicate
from harness.grading.job import Completed, NotJudged, Work
from harness.records.result import Result


class Answer(NamedTuple):
    """What came of one task: its ``value``, or an error."""

    number: int
    value: object = None
    error: JudgeError | None = None
    of_problem: bool = False
    """The error is its problem's, and not the machine's."""
    failed: bool = False
    """Its judge failed twice."""


class Feed(Protocol):
    """Work that comes while other work is done, and may be unwanted before its turn."""

    def fileno(self) -> int:
        """Can be read from when there is something new."""

    def take(self) -> Sequence[Work]:
        """What has come; returns at once."""

    def wants(self, work: Work) -> bool:
        """Whether anybody waits for it still."""


class Unwanted(MachineError):
    """Why a file is not graded: nobody waits for its result."""


def outcomes_of(alike: Sequence[Work], answer: Answer) -> Iterator[Completed | NotJudged]:
    """What an answer means for each of the files that are alike, the graded one first."""
    for each in alike:
        if isinstance(answer.error, ProblemError | MachineError):
            yield NotJudged(each, answer.error)
        elif isinstance(answer.value, Result):
            copied = each is not alike[0]
            result = copy_for_duplicate(answer.value, each.job) if copied else answer.value
            yield Completed(each, result)
