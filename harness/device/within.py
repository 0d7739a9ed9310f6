"""Compares an output with what was expected in one pass over both.

By torch's own operations it takes ten, over tensors in float64: more than most references do.
"""

import torch
from torch import Tensor

from harness.device.own_kernel import OwnKernel
from harness.problem.terms import Expectation, Streamed
from harness.problem.tolerance import Modelled, Weights
from harness.runner.driver import Driver

_BITS = {torch.float64: 64, torch.float32: 32, torch.float16: 16, torch.bfloat16: 17}
"""What the kernel knows types of outputs by."""
_THREADS, _BLOCKS = 256, 8 * 256
_AS_GIVEN = Weights(magnitude=1.0, expected=0.0, min_error=0.0)


class Within:
    """Tells outputs that are right beyond doubt."""

    def __init__(self, driver: Driver) -> None:
        self._kernel = OwnKernel(driver, "within")

    def __call__(self, got: Tensor, want: Expectation) -> Tensor | None:
        """Whether each |got − expected| ≤ allowed < ∞: a bool without dimensions, not waited for.

        None where it is for others to say: of exact and complex outputs, of pieces, and of tensors
        that do not match.
        """
        if got.dtype not in _BITS or isinstance(want, Streamed):
            return None
        if isinstance(want, Modelled):
            weights, gauge = want.weights, want.magnitude
        else:
            weights, gauge = _AS_GIVEN, want.allowed
        wide = [want.expected] if gauge is None else [want.expected, gauge]
        if weights is None or any(not _alike(each, got) for each in wide):
            return None
        if not weights.magnitude:
            gauge = None
        right = torch.ones((), dtype=torch.bool, device=got.device)
        if got.numel():
            self._kernel.launch(
                min(_BLOCKS, -(-got.numel() // _THREADS)),
                got.reshape(-1),
                _BITS[got.dtype],
                want.expected.reshape(-1),
                0 if gauge is None else gauge.reshape(-1),
                got.numel(),
                float(weights.min_error),
                float(weights.magnitude),
                float(weights.expected),
                right,
                threads=_THREADS,
            )
        return right


def _alike(wide: Tensor, got: Tensor) -> bool:
    return (wide.dtype, wide.shape, wide.device) == (torch.float64, got.shape, got.device)
