"""Faults: how a phase of a runner ended badly, and the verdict that follows.

Verdicts rest on what can be seen from outside, such as the exit status.
"""

import signal
from dataclasses import dataclass

from harness.records.cases import Mismatch
from harness.records.result import Verdict


@dataclass(frozen=True, slots=True)
class Fault:
    """A phase of a runner that ended badly."""

    verdict: Verdict
    """What follows for the submission."""
    message: str
    """Why, in words."""
    mismatch: Mismatch | None = None
    """How an output differs, where one does."""
    shared: bool = False
    """Any other program that uses the device could be the cause as well."""
    whose: str = ""
    """The name of the timed program that it is a fault of; empty outside of a timing."""


BROKEN = Fault(Verdict.RUNTIME_ERROR, "the submission broke the judge's protocol")
RESTLESS = Fault(Verdict.RUNTIME_ERROR, "the submission's processes cannot be stopped")


def of_exit(status: int) -> Fault:
    """The fault of a process that ended with ``status`` although it was not told to."""
    if status >= 128:
        return Fault(Verdict.RUNTIME_ERROR, f"was killed by {_signal(status - 128)}")
    return Fault(
        Verdict.RUNTIME_ERROR,
        f"the process ended (exit status {status}) before its work was done",
    )


def _signal(number: int) -> str:
    try:
        return f"{signal.Signals(number).name} ({signal.strsignal(number)})"
    except ValueError:
        return f"signal {number}"
