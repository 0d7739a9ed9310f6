"""Faults: how a phase of a runner ended badly, and the verdict that follows.

Verdicts rest on what can be seen from outside, such as the exit status. What the runner reports of
itself is capped, shown, and can only harm its own verdict.
"""

import re
import signal
from dataclasses import dataclass
from pathlib import Path

from harness.records.cases import Mismatch
from harness.records.result import Verdict
from harness.wire.messages import Failed, FaultCode

_MAX_CHARACTERS = 4000
_LINE_LIMIT = 1000
_VERDICTS = {
    FaultCode.UNSUPPORTED: Verdict.NOT_EXECUTABLE_HERE,
    FaultCode.MEMORY: Verdict.MEMORY_LIMIT,
    FaultCode.NO_ENTRY: Verdict.INVALID_SUBMISSION,
    FaultCode.COMPILE: Verdict.COMPILE_ERROR,
}


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


def parse_fault(failed: Failed) -> Fault:
    """The fault that the runner reports, with at most 4000 characters of its text."""
    verdict = _VERDICTS.get(failed.fault, Verdict.RUNTIME_ERROR)
    return Fault(verdict, failed.message[:_MAX_CHARACTERS] or str(failed.fault))


def of_exit(status: int) -> Fault:
    """The fault of a process that ended with ``status`` before it was asked to."""
    if status < 128:
        message = f"the process ended (exit status {status}) before its work was done"
        return Fault(Verdict.RUNTIME_ERROR, message)
    number = status - 128
    try:
        name = f"{signal.Signals(number).name} ({signal.strsignal(number)})"
    except ValueError:
        name = f"signal {number}"
    return Fault(Verdict.RUNTIME_ERROR, f"was killed by {name}")


def sanitizer_summary(report: str) -> str:
    """Summarise an AddressSanitizer report in one line: the access and its place."""
    # Line by line, each cut: a submission may have printed anything before.
    lines = [line[:_LINE_LIMIT] for line in report.splitlines()]

    def first(pattern: str) -> re.Match[str] | None:
        return next((found for line in lines if (found := re.match(pattern, line))), None)

    parts = ["out-of-bounds or invalid memory access"]
    if access := first(r"((?:READ|WRITE) of size \d+)"):
        parts.append(access[1].lower())
    if where := first(r" *#\d+ \S+ in (.+?) (\S*solution\.cu:\d+)"):
        parts.append(f"at {Path(where[2]).name} in {where[1][:200]}")
    if what := first(r".*?ERROR: AddressSanitizer: (.+)"):
        parts.append(f"({what[1].split(' on ')[0][:100]}, found by AddressSanitizer)")
    return " ".join(parts)
