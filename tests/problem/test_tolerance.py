"""Honest arithmetic passes and cheaper arithmetic fails: docs/data/error-model.txt has all."""

import math
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from support.drawing import draw_tensor
from support.error_model import (
    CUT_PROBLEM,
    HONEST,
    HONEST_CUT,
    IMPOSTORS,
    IMPOSTORS_CUT,
    LENGTHS,
    PROBLEM,
    cut,
    ratios,
)

from harness.errors import HarnessError
from harness.problem import tolerance
from harness.problem.case import FAMILIES, Case, parse_case
from harness.problem.model import SUBNORMALS, TRUNCATION
from harness.problem.reference import Reference
from harness.problem.terms import Direction
from harness.problem.tolerance import Modelled, Weights, allowed_error, weights_of

DTYPES = ("float32", "float16", "bfloat16", "float64")


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
    shift = 2.0 if dtype in ("float32", "float64") else 0.5
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


@pytest.mark.parametrize("k", LENGTHS)
def test_tf32_passes_where_it_is_allowed_and_bfloat16_does_not(k: int) -> None:
    honest = ratios(HONEST_CUT, "float32", k, problem=CUT_PROBLEM)
    assert {way: worst for way, (worst, _) in honest.items() if not worst <= 0.5} == {}
    impostors = ratios(IMPOSTORS_CUT, "float32", k, problem=CUT_PROBLEM)
    assert {way: worst for way, (worst, _) in impostors.items() if not worst > 1} == {}


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("k", [1, 2, 7, 33, 300])
def test_allowed_tf32_passes_whatever_the_values(family: str, k: int) -> None:
    """Uneven terms above all: few of the many products of sparse matrices count."""
    found = ratios(HONEST_CUT, "float32", k, family=family, m=64, n=64, problem=CUT_PROBLEM)
    assert {way: worst for way, (worst, _) in found.items() if not worst <= 0.75} == {}


def test_cut_inputs_change_nothing_for_other_types() -> None:
    for dtype in ("float16", "float64"):
        way = {"library": HONEST[dtype]["split-K by 8" if dtype == "float64" else "unfused"]}
        assert ratios(way, dtype, 64) == ratios(way, dtype, 64, problem=CUT_PROBLEM)


def test_the_term_for_cut_inputs() -> None:
    out, ones = CUT_PROBLEM.outputs[0], torch.ones(1, 1, dtype=torch.float64)

    def allowed(k: int, family: str, expected: float) -> float:
        sizes = {"m": 1, "n": 1, "k": k}
        case = Case(sizes=sizes, scalars={"alpha": 0.0}, family=family)
        weights = weights_of(CUT_PROBLEM, case, out, "float32")
        found = allowed_error(weights, ones * expected, ones.clone())
        return float(found) * 2**11

    # Beside the rest of the formula, which is at most 2^-24 · (8 · 16 + …).
    rest = 2.0**11 * 2.0**-24 * 8 * (16 + 4 * 80) * 1.1
    assert allowed(1, "declared", 0.0) == pytest.approx(4, abs=rest)
    assert allowed(16, "declared", 0.0) == pytest.approx(4, abs=rest)
    assert allowed(64, "declared", 0.0) == pytest.approx(2, abs=rest)
    assert allowed(64, "declared", 1.0) == pytest.approx(6, abs=rest)
    assert allowed(6400, "declared", 0.0) == pytest.approx(0.2, abs=rest)
    assert allowed(6400, "zeros", 0.0) == pytest.approx(1.6, abs=rest)


def test_factors_that_are_results_may_be_cut_to_their_own_type() -> None:
    """A product's result has more digits than its type until it is cut for the next product."""
    out, ones = PROBLEM.outputs[0], torch.ones(1, 1, dtype=torch.float64)
    case = Case(sizes={"m": 1, "n": 1, "k": 1}, scalars={"alpha": 0.0})
    for inputs, more in (({}, 0.0), ({"float16": "float16"}, 4.0), ({"float16": "float64"}, 0.0)):
        assert PROBLEM.tolerance is not None
        problem = replace(PROBLEM, tolerance=replace(PROBLEM.tolerance, inputs=inputs))
        allowed, plain = (
            allowed_error(weights_of(each, case, out, "float16"), ones * 0.0, ones.clone())
            for each in (problem, PROBLEM)
        )
        assert float(allowed - plain) * 2**11 == pytest.approx(more, abs=1e-9)


def naive(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Four real products, each summed in order in the components' own type."""
    total = torch.zeros(a.shape[0], b.shape[1], dtype=a.dtype)
    for p in range(a.shape[1]):
        x, y = a[:, p : p + 1], b[p : p + 1]
        real = total.real + x.real * y.real - x.imag * y.imag
        imaginary = total.imag + x.real * y.imag + x.imag * y.real
        total = torch.complex(real, imaginary)
    return total


def three_products(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Three real matrix products instead of four; the imaginary part is a difference."""
    real, imaginary = a.real @ b.real, a.imag @ b.imag
    both = (a.real + a.imag) @ (b.real + b.imag)
    return torch.complex(real - imaginary, both - real - imaginary)


def tf32_components(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    def shorter(x: torch.Tensor) -> torch.Tensor:
        return torch.complex(cut(x.real.double(), 11), cut(x.imag.double(), 11))

    return (shorter(a) @ shorter(b)).to(a.dtype)


@pytest.mark.parametrize("k", [1, 4, 64, 1024])
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_products(gemm, dtype: str, k: int) -> None:
    kind = getattr(torch, dtype)
    generator = torch.Generator().manual_seed(k)
    a = torch.randn(16, k, dtype=torch.complex128, generator=generator).to(kind)
    b = torch.randn(k, 32, dtype=torch.complex128, generator=generator).to(kind)
    expected = a.to(torch.complex128) @ b.to(torch.complex128)
    gauge = a.to(torch.complex128).abs() @ b.to(torch.complex128).abs()
    case = Case(sizes={"m": 16, "n": 32, "k": k}, scalars={"alpha": 0.0})
    allowed = allowed_error(weights_of(gemm, case, gemm.outputs[0], dtype), expected, gauge)
    assert allowed.dtype == torch.float64

    def worst(got: torch.Tensor) -> float:
        return float(((got.to(torch.complex128) - expected).abs() / allowed).max())

    for way in (naive, three_products, torch.matmul):
        assert worst(way(a, b)) <= 0.3
    assert worst(tf32_components(a, b)) > 10
    assert worst((a @ b).conj()) > 1000
    assert worst((a @ b) * 1j) > 1000


def test_a_case_with_nan_allows_finite_elements_what_it_always_does(block) -> None:
    """0 · NaN is no part of what was summed where C is no input."""
    case = parse_case(block, "ld=4,m=3,n=4,s=0.5,t=0,values=nonfinite")
    x = draw_tensor(block, block.tensors[0], case, "float32", "00")
    y = torch.full((3, 4), math.nan)
    wanted = Reference(block).expectations(case, "float32", {"x": x, "y": y})["y"]
    finite = wanted.expected.isfinite()
    assert torch.equal(finite, x.isfinite())
    assert finite.sum() == 11
    assert wanted.allowed[finite].isfinite().all()
    scaled = 2.0**-11 * 8 * wanted.expected[finite].abs()
    assert wanted.allowed[finite].tolist() == pytest.approx(scaled.tolist(), rel=0.01)
    assert y.isnan().all(), "the inputs are not written to"


def test_complex_nan(block) -> None:
    case = parse_case(block, "ld=4,m=3,n=4,s=0.5,t=1,values=nonfinite")
    x = draw_tensor(block, block.tensors[0], case, "complex64", "00")
    y = torch.ones(3, 4, dtype=torch.complex64)
    wanted = Reference(block).expectations(case, "complex64", {"x": x, "y": y})["y"]
    finite = wanted.expected.isfinite()
    assert finite.sum() == 11
    assert wanted.expected.dtype == torch.complex128
    assert wanted.allowed[finite].isfinite().all()


def test_the_formula(gemm) -> None:
    case = Case(sizes={"m": 1, "n": 2, "k": 100}, scalars={"alpha": 0.0})
    out = gemm.outputs[0]
    expected, magnitude = torch.tensor([[-2.0, 0.0]]).double(), torch.tensor([[8.0, 4.0]]).double()
    single, half = 2.0**-24, 2.0**-11
    found = allowed_error(weights_of(gemm, case, out, "float32"), expected, magnitude.clone())
    slack = 3 * SUBNORMALS * 2.0**-149
    assert found[0].tolist() == pytest.approx(
        [single * (16 * 8 + 4 * 10 * 2) + 3 * single * 2 + slack, single * 16 * 4 + slack]
    )
    found = allowed_error(weights_of(gemm, case, out, "float16"), expected, magnitude.clone())
    slack = 3 * SUBNORMALS * 2.0**-24
    assert found[0].tolist() == pytest.approx(
        [
            TRUNCATION * single * (16 * 8 + 4 * 10 * 2) + 3 * half * 2 + slack,
            TRUNCATION * single * 16 * 4 + slack,
        ]
    )


@pytest.mark.parametrize(("constant", "calls"), [(16.0, 1), (0.0, 0)])
def test_what_was_summed_is_evaluated_where_it_counts(gemm, constant: float, calls: int) -> None:
    dtype = "float32"
    problem = replace(gemm, tolerance=replace(gemm.tolerance, constant=constant))
    case = parse_case(problem, "m=3,n=2,k=5,alpha=2")
    tensors = {
        p.name: draw_tensor(problem, p, case, dtype, "00")
        for p in problem.tensors
        if p.direction is not Direction.OUT
    }
    reference = Reference(problem)
    expected, magnitude = (
        next(iter(f(case, tensors).values())) for f in (reference.expected, reference.magnitude)
    )
    evaluated = []
    function = reference._functions["magnitude"]
    reference._functions["magnitude"] = lambda **given: (evaluated.append(1), function(**given))[1]
    (wanted,) = reference.expectations(case, dtype, tensors).values()
    assert len(evaluated) == calls
    weights = weights_of(problem, case, problem.outputs[0], dtype)
    allowed = allowed_error(weights, expected, magnitude)
    assert torch.equal(wanted.allowed, allowed)
    assert torch.equal(wanted.expected, expected)


@pytest.mark.parametrize("count", [0, 1, 9, 10, 25])
@pytest.mark.parametrize("weighed", [False, True])
def test_what_is_allowed_is_computed_piece_by_piece(
    count: int, weighed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tolerance, "_STRETCH", 10)
    # Of few digits, so that all sums are exact, in whatever order they are computed.
    expected = torch.randint(-99, 100, (count,)).double() / 64
    magnitude = torch.randint(0, 100, (count,)).double() / 64 if weighed else None
    want = Modelled(expected, Weights(0.5, 0.25, 2.0**-10), magnitude)
    stretches = list(want.stretches())
    assert [each.start for each in stretches] == list(range(0, count, 10))
    assert torch.equal(torch.cat([expected[:0], *(x.expected for x in stretches)]), expected)
    assert torch.equal(torch.cat([expected[:0], *(x.allowed for x in stretches)]), want.allowed)
    assert torch.equal(
        want.allowed, 2.0**-10 + 0.25 * expected.abs() + (0.5 * magnitude if weighed else 0)
    )


def test_integers_are_exact(gemm) -> None:
    case = Case(sizes={"m": 1, "n": 1, "k": 1}, scalars={"alpha": 0.0})
    ones = torch.ones(1, 1, dtype=torch.int64)
    found = allowed_error(weights_of(gemm, case, gemm.outputs[0], "int32"), ones, ones)
    assert found.dtype == torch.float64
    assert found.tolist() == [[0.0]]


def test_a_problem_without_tolerance_is_our_mistake(gemm) -> None:
    case = Case(sizes={"m": 1, "n": 1, "k": 1}, scalars={"alpha": 0.0})
    with pytest.raises(HarnessError, match="declares no tolerance"):
        weights_of(replace(gemm, tolerance=None), case, gemm.outputs[0], "float32")
