"""Honest arithmetic passes and cheaper arithmetic fails: docs/tolerance.md has the whole tables."""

from dataclasses import replace

import pytest
import torch
from error_model import HONEST, IMPOSTORS, ratios
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import HarnessError
from harness.problem.draws import FAMILIES, Case
from harness.problem.tolerance import SUBNORMALS, TRUNCATION, allowed_error

DTYPES = ("float32", "float16", "bfloat16")


@pytest.mark.parametrize(
    ("family", "k"), [("declared", 1024), *((f, k) for f in FAMILIES for k in (1, 33))]
)
@pytest.mark.parametrize("dtype", DTYPES)
def test_honest_passes(dtype: str, family: str, k: int) -> None:
    found = ratios(HONEST[dtype], dtype, k, family=family, m=16, n=16)
    assert {way: worst for way, (worst, _) in found.items() if not worst <= 1} == {}


@pytest.mark.parametrize("dtype", DTYPES)
def test_honest_sums_with_a_mean_pass(dtype: str) -> None:
    """Partial sums that grow with the length are what √length is for."""
    shift = 2.0 if dtype == "float32" else 0.5
    found = ratios(HONEST[dtype], dtype, 1500, shift=shift, m=8, n=8)
    assert {way: worst for way, (worst, _) in found.items() if not worst <= 1} == {}


@pytest.mark.parametrize("k", [300, 1024])
@pytest.mark.parametrize("dtype", DTYPES)
def test_impostors_fail(dtype: str, k: int) -> None:
    found = ratios(IMPOSTORS[dtype], dtype, k)
    assert {way: worst for way, (worst, _) in found.items() if not worst > 1.1} == {}


def test_float32_and_tf32_are_told_apart_at_length_16384() -> None:
    honest = {"library": HONEST["float32"]["library"]}
    impostor = {"TF32 inputs": IMPOSTORS["float32"]["TF32 inputs"]}
    assert ratios(honest, "float32", 16384)["library"][0] < 0.2
    worst, share = ratios(impostor, "float32", 16384)["TF32 inputs"]
    assert worst > 5
    assert share > 0.3


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from(DTYPES),
    st.integers(1, 70),
    st.sampled_from([0.0, 1.0, -0.5, 0.01, 1e-30, 1.7, -3.0]),
    st.sampled_from(FAMILIES),
    st.integers(0, 10**6),
)
def test_honest_passes_whatever_is_drawn(
    dtype: str, k: int, alpha: float, family: str, seed: int
) -> None:
    found = ratios(HONEST[dtype], dtype, k, family=family, m=9, n=11, alpha=alpha, seed=f"{seed:x}")
    assert {way: worst for way, (worst, _) in found.items() if not worst <= 1} == {}


def test_the_formula(gemm) -> None:
    case = Case(sizes={"m": 1, "n": 2, "k": 100}, scalars={"alpha": 0.0})
    out = gemm.outputs[0]
    expected, magnitude = torch.tensor([[-2.0, 0.0]]).double(), torch.tensor([[8.0, 4.0]]).double()
    single, half = 2.0**-24, 2.0**-11
    found = allowed_error(gemm, case, out, "float32", expected, magnitude.clone())
    slack = 3 * SUBNORMALS * 2.0**-149
    assert found[0].tolist() == pytest.approx(
        [single * (16 * 8 + 4 * 10 * 2) + 3 * single * 2 + slack, single * 16 * 4 + slack]
    )
    found = allowed_error(gemm, case, out, "float16", expected, magnitude.clone())
    slack = 3 * SUBNORMALS * 2.0**-24
    assert found[0].tolist() == pytest.approx(
        [
            TRUNCATION * single * (16 * 8 + 4 * 10 * 2) + 3 * half * 2 + slack,
            TRUNCATION * single * 16 * 4 + slack,
        ]
    )


def test_integers_are_exact(gemm) -> None:
    case = Case(sizes={"m": 1, "n": 1, "k": 1}, scalars={"alpha": 0.0})
    ones = torch.ones(1, 1, dtype=torch.int64)
    found = allowed_error(gemm, case, gemm.outputs[0], "int32", ones, ones)
    assert found.dtype == torch.float64
    assert found.tolist() == [[0.0]]


def test_a_problem_without_tolerance_is_our_mistake(gemm) -> None:
    case = Case(sizes={"m": 1, "n": 1, "k": 1}, scalars={"alpha": 0.0})
    ones = torch.ones(1, 1, dtype=torch.float64)
    with pytest.raises(HarnessError, match="declares no tolerance"):
        allowed_error(replace(gemm, tolerance=None), case, gemm.outputs[0], "float32", ones, ones)
