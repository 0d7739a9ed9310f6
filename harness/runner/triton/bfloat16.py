"""bfloat16 for NumPy, which has none.

A bfloat16 value is kept as the float32 that equals it. Since float32 has more than twice the digits
of bfloat16 plus two, computing +, -, *, / and square root in float32 and rounding the result once
more gives the correctly rounded bfloat16 result (Figueroa, "When is double rounding innocuous?",
1995).
"""

import numpy as np
from numpy.typing import NDArray

Float32 = NDArray[np.float32]
_HIGH = np.uint32(0xFFFF0000)


def rounded(values: NDArray[np.generic]) -> Float32:
    """Round each value to bfloat16, ties to even; infinities and NaN bits stay."""
    single = np.asarray(values, dtype=np.float32)
    bits = single.view(np.uint32)
    with np.errstate(over="ignore"):
        nearest = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) & _HIGH
    nan = np.isnan(single)
    if nan.any():
        kept = bits & _HIGH
        quiet = np.where(kept & np.uint32(0x007F0000), kept, kept | np.uint32(0x00400000))
        nearest = np.where(nan, quiet, nearest)
    return np.asarray(nearest, dtype=np.uint32).view(np.float32)


def truncated(values: NDArray[np.generic]) -> Float32:
    """Cut off the digits that bfloat16 lacks."""
    single = np.asarray(values, dtype=np.float32)
    cut = np.asarray(single.view(np.uint32) & _HIGH, dtype=np.uint32).view(np.float32)
    return np.where(np.isnan(single), rounded(single), cut).astype(np.float32, copy=False)


def to_bits(values: Float32) -> NDArray[np.uint16]:
    """Take the 16 bits of values that are bfloat16 already."""
    high: NDArray[np.uint16] = (values.view(np.uint32) >> np.uint32(16)).astype(np.uint16)
    return high


def from_bits(bits: NDArray[np.uint16]) -> Float32:
    """Make the values of 16-bit patterns."""
    return np.asarray(bits.astype(np.uint32) << np.uint32(16), dtype=np.uint32).view(np.float32)


def tf32(values: Float32) -> Float32:
    """Round as a tensor core does under TF32: ten binary digits of the fraction."""
    single = np.asarray(values, dtype=np.float32)
    bits = single.view(np.uint32)
    with np.errstate(over="ignore"):
        nearest = (bits + np.uint32(0x1000)) & np.uint32(0xFFFFE000)
    finite = np.isfinite(single)
    return np.where(finite, np.asarray(nearest, dtype=np.uint32).view(np.float32), single)
