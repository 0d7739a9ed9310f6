"""Who is to blame when something is not a verdict.

What a submission does wrong is a value (:class:`harness.records.result.Verdict`). What the
problem's author, the machine or our own code does wrong is one of these exceptions, caught in one
place (:mod:`harness.cli`), each with its own exit code.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


class JudgeError(Exception):
    """Base of everything that is not the contestant's doing."""

    exit_code = 3


class UsageError(JudgeError):
    """The command was given something that it cannot work with."""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One complaint about a problem file, placed like a compiler's."""

    path: Path
    line: int
    key: str
    message: str

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}: "
        return f"{place}{self.key}: {self.message}" if self.key else place + self.message


class ProblemError(JudgeError):
    """A problem package is wrong: all complaints at once, in the order of the file."""

    exit_code = 2

    def __init__(self, diagnostics: list[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__("\n".join(str(d) for d in diagnostics))

    def __reduce__(self) -> tuple[type[ProblemError], tuple[list[Diagnostic]]]:
        """For other processes: of an exception's own arguments it could not be made again."""
        return type(self), (list(self.diagnostics),)


class MachineError(JudgeError):
    """This machine lacks something the job needs; the message says how to get it."""

    exit_code = 3


class TimeOverError(JudgeError):
    """The time that a whole run was given is over; the message says how to go on."""


class NoDeviceError(MachineError):
    """A GPU was asked for and there is none that can be used."""

    exit_code = 4


class HarnessError(JudgeError):
    """A fault of ours."""
