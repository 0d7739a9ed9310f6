"""Reads what a runner reports of itself: untrusted, so it is capped, or nothing.

It is shown, and can only harm its own verdict.
"""

from harness.records.result import Verdict
from harness.session.fault import Fault
from harness.wire.messages import Failed, FaultCode, Finished

_MAX_CHARACTERS = 4000
_MAX_KERNELS = 1e6
_MAX_COPIES = 1000

_VERDICTS = {
    FaultCode.UNSUPPORTED: Verdict.NOT_EXECUTABLE_HERE,
    FaultCode.MEMORY: Verdict.MEMORY_LIMIT,
    FaultCode.NO_ENTRY: Verdict.INVALID_SUBMISSION,
    FaultCode.COMPILE: Verdict.COMPILE_ERROR,
}


def parse_fault(failed: Failed) -> Fault:
    """The fault that the runner reports, with at most 4000 characters of its text."""
    verdict = _VERDICTS.get(failed.fault, Verdict.RUNTIME_ERROR)
    return Fault(verdict, failed.message[:_MAX_CHARACTERS] or str(failed.fault))


def kernels_per_call(finished: Finished) -> float | None:
    """The number of kernels that each call launched; None where it cannot be one."""
    kernels = finished.kernels
    if isinstance(kernels, bool) or not isinstance(kernels, int | float):
        return None
    return float(kernels) if 0 <= kernels <= _MAX_KERNELS else None


def copied_per_call(finished: Finished) -> int | None:
    """The number of outputs that each call copied into place; None where it cannot be one."""
    copied = finished.copied
    if isinstance(copied, bool) or not isinstance(copied, int):
        return None
    return copied if 0 <= copied <= _MAX_COPIES else None
