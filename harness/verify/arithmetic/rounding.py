"""Round float64 numbers to what a lesser format can hold.

Everything here takes and gives float64 (complex128 component by component), so that a format is a
property of the values and not of the tensor. The range of the formats that torch does not have
(TF32, e4m3) is taken to be float64's: only their precision is imitated, to their advantage.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

_FRACTION = 52
"""Bits of a float64's fraction."""


@dataclass(frozen=True, slots=True)
class Format:
    """A binary format: ``bits`` of precision, the leading one included, and torch's type if any."""

    name: str
    bits: int
    element: torch.dtype | None = None

    @property
    def roundoff(self) -> float:
        """Unit roundoff: half the distance from 1 to the next number."""
        return 2.0**-self.bits


FLOAT64 = Format("float64", 53, torch.float64)
FLOAT32 = Format("float32", 24, torch.float32)
TF32 = Format("tf32", 11)
FLOAT16 = Format("float16", 11, torch.float16)
BFLOAT16 = Format("bfloat16", 8, torch.bfloat16)
E4M3 = Format("e4m3", 4)

TWO_BFLOAT16 = Format("two bfloat16 numbers", 16)
"""What a float32 number is cut to where matrix units multiply its leading digits and the next."""

BELOW = {FLOAT64: FLOAT32, FLOAT32: TF32, TF32: BFLOAT16, FLOAT16: E4M3, BFLOAT16: E4M3}
"""The next precision that hardware offers."""

NARROWER = {FLOAT64: [FLOAT32], FLOAT32: [FLOAT16, BFLOAT16]}
"""Accumulator → formats too narrow for its sums, that a kernel may use by mistake."""

_FORMATS = {f.name: f for f in (FLOAT64, FLOAT32, TF32, FLOAT16, BFLOAT16, E4M3)}


def component(dtype: str) -> Format:
    """The format of a floating-point data type, of a component where it is complex.

    Raises:
        KeyError: ``dtype`` is no floating-point type.
    """
    return _FORMATS[{"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)]


def rounded(x: Tensor, to: Format) -> Tensor:
    """``x`` rounded to the nearest number of a format, ties to even; overflows where that does."""
    if to is FLOAT64:
        return x
    if x.is_complex():
        return torch.view_as_complex(rounded(torch.view_as_real(x), to))
    if to.element is not None:
        return x.to(to.element).to(torch.float64)
    # On the bits as an integer: half a unit is added, less one where the last bit that stays is
    # even, so that ties go to even; a carry into the exponent is right, too.
    drop = _FRACTION + 1 - to.bits
    raw = x.contiguous().view(torch.int64)
    even = (raw >> drop) & 1
    nearest = (raw + ((1 << (drop - 1)) - 1) + even) & ~((1 << drop) - 1)
    return torch.where(x.isfinite(), nearest.view(torch.float64), x)


def truncated(x: Tensor, to: Format) -> Tensor:
    """``x`` with all bits that the format has no room for cut off: rounded towards zero."""
    if x.is_complex():
        return torch.view_as_complex(truncated(torch.view_as_real(x), to))
    drop = _FRACTION + 1 - to.bits
    bits = x.contiguous().view(torch.int64) & ~((1 << drop) - 1)
    return torch.where(x.isfinite(), bits.view(torch.float64), x)
