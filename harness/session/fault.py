"""How a phase of a runner ended badly: the verdict that follows, and why.

Verdicts rest on what can be seen from outside, such as the exit status.
"""

import signal
from dataclasses import dataclass

from harness.records.cases import Mismatch
from harness.records.result import Verdict


@dataclass(frozen=True, slots=True)
class Fault:
    """A phase of the runner ended badly: the verdict that follows, and why.

    ``shared`` says that whoever else uses the device could be the cause.
    """

    verdict: Verdict
    message: str
    mismatch: Mismatch | None = None
    shared: bool = False


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
