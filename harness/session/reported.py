"""What a runner reports of its last batch: untrusted, and left out where it cannot be right."""

from typing import Literal, get_args

from harness.wire.messages import Finished

_MAX_KERNELS = 1e6
_MAX_COPIES = 1000
Returned = Literal["tensor", "tensors", "number"]
"""What a call may have returned in vain."""


def kernels_per_call(finished: Finished) -> float | None:
    """Kernels that each call launched; None where the reported number cannot be right."""
    kernels = finished.kernels
    if isinstance(kernels, int | float) and not isinstance(kernels, bool):
        return float(kernels) if 0 <= kernels <= _MAX_KERNELS else None
    return None


def copied_per_call(finished: Finished) -> int | None:
    """Outputs that each call copied into place; None where the reported number cannot be right."""
    copied = finished.copied
    if isinstance(copied, int) and not isinstance(copied, bool):
        return copied if 0 <= copied <= _MAX_COPIES else None
    return None


def returned_in_vain(finished: Finished) -> Returned | None:
    """What a call returned that nobody reads; None where it is none of the known words."""
    known: tuple[Returned, ...] = get_args(Returned)
    return next((word for word in known if word == finished.returned), None)
