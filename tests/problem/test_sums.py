"""Honest sums pass in any order, at any length; constants and cheap sums do not."""

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from support.corpus import rest_in_corpus
from support.drawing import draw_tensor
from support.sum_orders import ORDERS, one_after_the_other

from harness.problem.case import FAMILIES, NONFINITE, TIMED_FAMILIES, Case, whole_case
from harness.problem.dtypes import DTYPES
from harness.problem.expressions import Expression
from harness.problem.format.load import load_problem
from harness.problem.model import Distribution
from harness.problem.package import Problem
from harness.problem.reference import Reference
from harness.problem.sums import damped, largest_mean, mean_of, one_sided, spread_of
from harness.problem.tolerance import weights_of

PROBLEMS = Path(__file__).resolve().parents[2] / "problems"
ROWS = load_problem(PROBLEMS / "row-reduction")
SOFTMAX = load_problem(PROBLEMS / "softmax")
FINITE = tuple(f for f in FAMILIES if f != NONFINITE)
NUMPY = {"float16": np.float16, "float32": np.float32, "float64": np.float64}

FAR = Distribution(a=1000.0, b=4.0)
POSITIVE = Distribution(kind="uniform", a=1.0, b=2.0)
NEGATIVE = Distribution(kind="uniform", a=-0.7, b=0.0)
UNEVEN = Distribution(kind="uniform", a=-1.0, b=10.0)
DECLARED = ROWS.tensors[0].values


def means(values: Distribution = DECLARED, accumulator: str = "float32") -> Problem:
    """The mean of rows, with other values, kept in sums of another type."""
    x = replace(ROWS.tensors[0], values=values)
    out = {"float64": "double", "float32": "float", "float16": "half"}[accumulator]
    parameters = [replace(p, type=out) if p.name == "row_mean" else p for p in ROWS.parameters]
    assert ROWS.tolerance is not None
    kept = replace(ROWS.tolerance, accumulator={accumulator: accumulator})
    others = tuple(x if p.name == x.name else p for p in parameters)
    return replace(ROWS, parameters=others, tolerance=kept)


def drawn(problem: Problem, case: Case, dtype: str, seed: str = "5eed") -> torch.Tensor:
    return draw_tensor(problem, problem.tensors[0], case, dtype, seed)


def off(
    problem: Problem, n: int, family: str, dtype: str = "float32", seed: str = "5eed"
) -> tuple[np.ndarray, float, float]:
    """A row, its exact sum, and by how much a sum of it may be off."""
    case = whole_case(problem, {"m": 1, "n": n}, family)
    x = drawn(problem, case, dtype, seed).flatten().double().numpy()
    exact, magnitude = math.fsum(x), math.fsum(np.abs(x))
    weights = weights_of(problem, case, problem.outputs[0], dtype)
    assert weights is not None
    return x, exact, weights.magnitude * magnitude + weights.expected * abs(exact)


def refused(
    problem: Problem, n: int, family: str, dtype: str = "float32", seed: str = "5eed"
) -> Mapping[str, float]:
    """Honest orders whose error is more than is allowed."""
    x, exact, allowed = off(problem, n, family, dtype, seed)
    kind = NUMPY[next(iter(problem.tolerance.accumulator))] if problem.tolerance else np.float32
    found = {name: abs(float(way(x.astype(kind))) - exact) for name, way in ORDERS.items()}
    return {name: error / allowed for name, error in found.items() if not error <= allowed}


@pytest.mark.parametrize("family", FINITE)
@pytest.mark.parametrize("n", rest_in_corpus([33, 65537, 5_000_011], always=2))
def test_no_honest_order_is_refused_at_any_length(n: int, family: str) -> None:
    for dtype in ("float32", "bfloat16"):
        assert refused(ROWS, n, family, dtype) == {}


@pytest.mark.parametrize("seed", [f"s{number}" for number in range(4)])
@pytest.mark.parametrize("n", [88_007, 131_072])
def test_sums_in_which_small_terms_are_lost(n: int, seed: str) -> None:
    """What is beside numbers 2¹⁶ times as large does not average out."""
    assert refused(ROWS, n, "mixed", seed=seed) == {}


@settings(max_examples=30)
@given(
    st.sampled_from(FINITE),
    st.sampled_from([DECLARED, FAR, POSITIVE, NEGATIVE, UNEVEN, Distribution()]),
    st.floats(0, 16),
    st.sampled_from(["float32", "float16", "bfloat16"]),
    st.integers(0, 10**6),
)
def test_no_honest_order_is_refused_whatever_is_drawn(
    family: str, values: Distribution, bits: float, dtype: str, seed: int
) -> None:
    assert refused(means(values), int(2**bits), family, dtype, f"{seed:x}") == {}


@settings(max_examples=20)
@given(
    st.sampled_from([f for f in FINITE if f not in ("large", "mixed")]),  # which overflow
    st.sampled_from([DECLARED, UNEVEN, Distribution(), Distribution(kind="uniform", b=1.0)]),
    st.integers(1, 3000),
    st.integers(0, 10**6),
)
def test_no_honest_order_is_refused_in_half_precision(
    family: str, values: Distribution, n: int, seed: int
) -> None:
    assert refused(means(values, "float16"), n, family, "float16", f"{seed:x}") == {}


@settings(max_examples=10)
@given(st.sampled_from(FINITE), st.sampled_from([FAR, POSITIVE]), st.integers(1, 10**5))
def test_no_honest_order_is_refused_in_double_precision(
    family: str, values: Distribution, n: int
) -> None:
    assert refused(means(values, "float64"), n, family, "float64") == {}


@pytest.mark.parametrize("n", rest_in_corpus([33, 1025, 65537, 500_009], always=3))
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_constants_halves_and_cheap_sums_are_refused(dtype: str, n: int) -> None:
    """Each in some family that timed calls may have, and mostly in the declared one."""
    survived = {"zero", "a constant", "a half", "sums in bfloat16"}
    for family in ("declared", *TIMED_FAMILIES):
        for seed in ("a", "b") if family != NONFINITE else ():
            x, exact, allowed = off(ROWS, n, family, dtype, seed)
            steps = torch.from_numpy(x).bfloat16().float().numpy()
            low = 0.0
            for step in steps if n < 2000 else ():
                low = float(torch.tensor(low + float(step)).bfloat16())
            mean = mean_of(damped(DECLARED, largest_mean(n, 2.0**-24)))
            answers = {
                "zero": 0.0,
                "a constant": mean * n,
                "a half": 2 * math.fsum(x[: n // 2]),
                "sums in bfloat16": low if n < 2000 else 0.0,
            }
            survived -= {w for w, answer in answers.items() if abs(answer - exact) > allowed}
    assert survived == set()


@pytest.mark.corpus
@pytest.mark.parametrize("n", [10_000_000, 40_000_000])
def test_constants_are_refused_where_declared_values_have_millions_of_terms(n: int) -> None:
    x, exact, allowed = off(ROWS, n, "declared")
    mean = mean_of(damped(DECLARED, largest_mean(n, 2.0**-24)))
    assert abs(exact - mean * n) > 10 * allowed
    assert abs(exact - 2 * float(x[: n // 2].sum())) > 10 * allowed
    assert abs(float(one_after_the_other(x.astype(np.float32))) - exact) < allowed / 2


@pytest.mark.parametrize("family", ["integers", "constant", "rows", "mixed", "declared"])
@pytest.mark.parametrize("n", [10_007, 62_843])
def test_softmax_of_one_long_row(n: int, family: str) -> None:
    """A function of few values has few values: additions round the same way again and again."""
    case = whole_case(SOFTMAX, {"m": 1, "n": n}, family)
    x = drawn(SOFTMAX, case, "float32")
    (wanted,) = Reference(SOFTMAX).expectations(case, "float32", {"input_matrix": x}).values()
    exponentials = torch.exp(x - x.max()).flatten().numpy()
    for name, way in ORDERS.items():
        got = torch.from_numpy(exponentials / way(exponentials)).double()
        assert bool(((got - wanted.expected).abs() <= wanted.allowed).all()), name


class TestMeans:
    def test_of_short_sums_are_what_is_declared(self) -> None:
        for n in (1, 1000, 250_000):
            assert damped(DECLARED, largest_mean(n, 2.0**-24)) is DECLARED

    @pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
    @pytest.mark.parametrize("family", ["declared", "large", "tiny", "uniform", "offset"])
    def test_of_long_sums_are_small(self, family: str, dtype: str) -> None:
        n = 1_000_000
        values = drawn(ROWS, whole_case(ROWS, {"m": 1, "n": n}, family), dtype).double()
        # Beside the mean that is drawn, that of the numbers varies by 1/√n.
        most = largest_mean(n, 2.0**-24) + 5 / math.sqrt(n)
        assert abs(float(values.mean())) < (2 if family == "offset" else 1) * most * float(
            values.std()
        )

    def test_are_the_same_in_every_data_type(self) -> None:
        case = whole_case(ROWS, {"m": 1, "n": 600_000})
        single = drawn(ROWS, case, "float32")
        assert torch.equal(single.half(), drawn(ROWS, case, "float16"))

    @pytest.mark.parametrize("values", [POSITIVE, NEGATIVE])
    @pytest.mark.parametrize("family", ["declared", "uniform"])
    def test_never_leave_a_declared_sign(self, family: str, values: Distribution) -> None:
        problem = means(values)
        x = drawn(problem, whole_case(problem, {"m": 1, "n": 300_000}, family), "float32")
        assert values.a <= float(x.min()) <= float(x.max()) <= values.b

    @pytest.mark.corpus
    def test_of_one_sign_allow_what_sums_in_order_lose(self) -> None:
        assert refused(means(POSITIVE), 20_000_000, "declared") == {}

    def test_keep_their_spread(self) -> None:
        for values in (FAR, UNEVEN):
            moved = damped(values, 0.01)
            assert spread_of(moved) == pytest.approx(spread_of(values))
            assert mean_of(moved) == pytest.approx(0.01 * spread_of(values))
        mirrored = damped(Distribution(a=-1000.0, b=4.0), 0.01)
        assert mean_of(mirrored) == pytest.approx(-0.04)

    def test_follow_the_accumulator(self) -> None:
        for roundoff in (2.0**-8, 2.0**-11, 2.0**-24, 2.0**-53):
            assert largest_mean(100, roundoff) == pytest.approx(1 / (800 * roundoff))
            assert largest_mean(10**6, roundoff) == pytest.approx(1.6e-8 / roundoff)
        assert largest_mean(1, 2.0**-24) == math.inf
        half = means(FAR, "float16")
        x = drawn(half, whole_case(half, {"m": 1, "n": 2000}), "float16").double()
        assert float(x.mean()) < 2

    def test_stay_where_nothing_says_what_is_summed(self) -> None:
        problem = replace(means(FAR), tolerance=None)
        x = drawn(problem, whole_case(problem, {"m": 1, "n": 500_000}), "float32")
        assert float(x.mean()) > 999

    def test_know_which_bounds_leave_one_sign(self) -> None:
        for values, expected in ((POSITIVE, True), (NEGATIVE, True), (UNEVEN, False), (FAR, False)):
            assert one_sided(values) is expected


class TestFlushedResults:
    """Results below the smallest normal number may be 0."""

    def test_are_right_in_float32(self) -> None:
        case = whole_case(SOFTMAX, {"m": 1, "n": 2})
        x = torch.tensor([[0.0, -88.0]])
        (wanted,) = Reference(SOFTMAX).expectations(case, "float32", {"input_matrix": x}).values()
        assert 0 < float(wanted.expected[0, 1]) < 2.0**-126
        assert float(wanted.expected[0, 1]) <= float(wanted.allowed[0, 1])

    @pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
    def test_do_not_make_zeros_right(self, dtype: str) -> None:
        case = whole_case(SOFTMAX, {"m": 1, "n": 65_536})
        x = drawn(SOFTMAX, case, dtype)
        (wanted,) = Reference(SOFTMAX).expectations(case, dtype, {"input_matrix": x}).values()
        assert bool((wanted.expected > wanted.allowed).any())

    @pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float64", "complex64", "float16"])
    def test_allow_a_normal_number_of_what_computes(self, gemm: Problem, dtype: str) -> None:
        weights = weights_of(gemm, Case(sizes={"m": 1, "n": 1, "k": 1}), gemm.outputs[0], dtype)
        assert weights is not None
        normal = 2.0**-1022 if dtype == "float64" else 2.0**-126
        assert weights.min_error >= normal
        assert weights.min_error < 2.0**-14, "float16's smallest normal number"
        assert weights.min_error <= 64 * max(normal, DTYPES[dtype].smallest)


def test_partial_sums_of_pairs_count_where_the_magnitude_does(gemm: Problem) -> None:
    case = Case(sizes={"m": 1, "n": 1, "k": 100}, family="cancellation")
    out = gemm.outputs[0]
    plain = weights_of(gemm, replace(case, family="declared"), out, "float32")
    paired = weights_of(gemm, case, out, "float32")
    assert plain is not None and paired is not None
    assert paired.magnitude == pytest.approx(plain.magnitude * (16 + 4 * 10) / 16)
    assert gemm.tolerance is not None
    unweighed = replace(gemm, tolerance=replace(gemm.tolerance, constant=0.0))
    weights = weights_of(unweighed, case, out, "float32")
    assert weights is not None
    assert weights.magnitude == 0, "so that no magnitude is asked for"


def test_the_length_of_sums_is_at_least_one(gemm: Problem) -> None:
    assert gemm.tolerance is not None
    empty = replace(gemm, tolerance=replace(gemm.tolerance, length=Expression.parse("0*k")))
    case = Case(sizes={"m": 1, "n": 1, "k": 5})
    assert weights_of(empty, case, gemm.outputs[0], "float32") is not None
