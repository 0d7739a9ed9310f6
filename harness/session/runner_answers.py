"""What a runner says of itself in its answers: untrusted, so it is capped, or nothing.

It is shown, and can only harm its own verdict.
"""

from harness import wire
from harness.records.result import Verdict
from harness.session.fault import BROKEN, Fault
from harness.wire import Message

_TEXT_LIMIT = 4000
_MAX_KERNELS = 1e6
_MAX_COPIES = 1000

_FAULT_VERDICTS = {
    wire.FaultCode.UNSUPPORTED: Verdict.NOT_EXECUTABLE_HERE,
    wire.FaultCode.MEMORY: Verdict.MEMORY_LIMIT,
    wire.FaultCode.NO_ENTRY: Verdict.INVALID_SUBMISSION,
    wire.FaultCode.COMPILE: Verdict.COMPILE_ERROR,
}


def parse_fault(message: Message) -> Fault:
    """The fault that the runner reports, or that it breaks the protocol even in this."""
    try:
        fault = wire.FaultCode(str(message.get("fault")))
    except ValueError:
        return BROKEN
    text = str(message.get("message", ""))[:_TEXT_LIMIT]
    return Fault(_FAULT_VERDICTS.get(fault, Verdict.RUNTIME_ERROR), text or str(fault))


def kernels_per_call(message: Message) -> float | None:
    """How many kernels it launched for each call: a number that can be one, or nothing."""
    said = message.get("kernels")
    if isinstance(said, bool) or not isinstance(said, int | float):
        return None
    return float(said) if 0 <= said <= _MAX_KERNELS else None


def copied_per_call(message: Message) -> int | None:
    """How many outputs it copied into place for each call; likewise."""
    said = message.get("copied")
    if isinstance(said, bool) or not isinstance(said, int):
        return None
    return said if 0 <= said <= _MAX_COPIES else None
