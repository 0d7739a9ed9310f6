"""Formats that torch has, and those it has not."""

import math

import pytest
import torch

from harness.verify.arithmetic.rounding import (
    BFLOAT16,
    E4M3,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    TF32,
    Format,
    component,
    rounded,
    truncated,
)

NUMBERS = torch.tensor([1.0, math.pi, -1e-3, 255.4, 1 + 2.0**-11, -(1 + 3 * 2.0**-11), 0.0])


@pytest.mark.parametrize("format_", [FLOAT16, BFLOAT16, FLOAT32])
def test_rounded_equals_torch_conversion(format_: Format) -> None:
    # Of float32's values, for torch goes from float64 to float16 by way of it and rounds twice.
    wide = torch.float64 if format_ is FLOAT32 else torch.float32
    x = torch.randn(1000, dtype=wide).double()
    x = x[x.abs() > 2.0**-14]  # smaller ones have fewer digits in float16
    by_bits = rounded(x, Format("same", format_.bits))  # no type of torch's: by the bits
    assert torch.equal(by_bits, x.to(format_.element).double())


def test_rounded_sends_ties_to_even() -> None:
    ties = torch.tensor([1 + 2.0**-11, 1 + 3 * 2.0**-11], dtype=torch.float64)
    assert rounded(ties, TF32).tolist() == [1.0, 1 + 2 * 2.0**-10]


@pytest.mark.parametrize("format_", [TF32, E4M3, BFLOAT16])
def test_truncated_goes_towards_zero(format_: Format) -> None:
    x = torch.randn(1000, dtype=torch.float64)
    cut = truncated(x, format_)
    assert bool((cut.abs() <= x.abs()).all())
    assert float(((x - cut) / x).abs().max()) < 2 * format_.roundoff
    assert torch.equal(rounded(cut, format_), cut)


@pytest.mark.parametrize("format_", [FLOAT64, FLOAT32, TF32, FLOAT16, BFLOAT16, E4M3])
def test_nan_and_infinity_are_not_rounded(format_: Format) -> None:
    x = torch.tensor([math.inf, -math.inf, math.nan, 0.0, -0.0], dtype=torch.float64)
    for way in (rounded, truncated):
        found = way(x, format_)
        assert found[:2].tolist() == [math.inf, -math.inf]
        assert math.isnan(found[2])
        assert found[3:].signbit().tolist() == [False, True]


def test_complex_numbers_are_rounded_by_component() -> None:
    x = torch.complex(NUMBERS.double(), NUMBERS.flip(0).double())
    found = rounded(x, TF32)
    assert torch.equal(found.real, rounded(x.real, TF32))
    assert torch.equal(found.imag, rounded(x.imag, TF32))
    assert component("complex64") is FLOAT32
    assert component("bfloat16") is BFLOAT16


def test_rounded_to_float16_overflows() -> None:
    assert rounded(torch.tensor([1e5], dtype=torch.float64), FLOAT16).item() == math.inf
