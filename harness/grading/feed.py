"""What judges are fed with while they work, and what came of it."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from harness.errors import MachineError, ProblemError
from harness.grading.job import Work


class Answer(NamedTuple):
    """What came of one task: its ``value``, or an error."""

    number: int
    value: object = None
    error: ProblemError | MachineError | None = None
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
