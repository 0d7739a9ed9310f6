"""Cases: drawn from a seed, written and read as one line."""

import math
import struct
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packages import MINIMAL, Write

from harness.errors import UsageError
from harness.problem.draws import (
    FAMILIES,
    Case,
    as_received,
    benchmark_case,
    draw_cases,
    fresh_seed,
    parse_case,
    singles,
)
from harness.problem.load import load_problem


def single(value: float) -> float:
    return struct.unpack("f", struct.pack("f", value))[0]


def test_spec() -> None:
    case = Case(sizes={"m": 33, "n": 1, "k": 7}, scalars={"alpha": -0.5})
    assert case.spec == "m=33,n=1,k=7,alpha=-0.5"
    assert Case(sizes={"m": 1}, family="large").spec == "m=1,values=large"


@given(
    st.lists(st.integers(1, 2**31 - 1), min_size=3, max_size=3),
    st.floats(width=32, allow_nan=False, allow_infinity=False),
    st.sampled_from(FAMILIES),
)
def test_spec_round_trip(gemm, sizes: list[int], alpha: float, family: str) -> None:
    case = Case(sizes=dict(zip("mnk", sizes, strict=True)), scalars={"alpha": alpha}, family=family)
    again = parse_case(gemm, case.spec)
    assert again == case
    assert math.copysign(1, again.scalars["alpha"]) == math.copysign(1, alpha)


def test_a_float_is_rounded_as_the_submission_gets_it(gemm) -> None:
    case = parse_case(gemm, " k=7, m=33 ,n=1,alpha=0.1")
    assert case.scalars == {"alpha": single(0.1)} != {"alpha": 0.1}
    assert case.spec == "m=33,n=1,k=7,alpha=0.1"
    assert parse_case(gemm, case.spec) == case


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_a_float_is_written_with_the_fewest_digits(gemm, alpha: float) -> None:
    case = Case(sizes={"m": 1, "n": 1, "k": 1}, scalars={"alpha": alpha}, single=singles(gemm))
    written = case.spec.partition("alpha=")[2]
    digits = Decimal(written).normalize().as_tuple().digits
    assert single(float(written)) == alpha
    # The best approximation with fewer digits is another float (or none at all).
    shorter = float(f"{alpha:.{len(digits) - 2}e}") if len(digits) > 1 else math.nan
    assert not (math.isfinite(shorter) and abs(shorter) < 3.4e38 and single(shorter) == alpha)
    assert parse_case(gemm, case.spec) == case


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (0.1, "0.1"),
        (-0.5, "-0.5"),
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (1 / 3, "0.33333334"),
        (1e-30, "1e-30"),
        (1e-45, "1e-45"),
        (16777216.0, "16777216.0"),
        (3.4028235e38, "3.4028235e+38"),
    ],
)
def test_floats_as_text(gemm, value: float, written: str) -> None:
    case = Case(sizes={"m": 1}, scalars={"alpha": single(value)}, single=singles(gemm))
    assert case.spec == f"m=1,alpha={written}"


def test_other_scalars_keep_all_their_digits() -> None:
    case = Case(sizes={"m": 1}, scalars={"alpha": single(0.1)})
    assert case.spec == f"m=1,alpha={single(0.1)!r}"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "'' is not name=value"),
        ("m=1,n=1,k", "'k' is not name=value"),
        ("m=1,n=1,k=1", "no value for alpha"),
        ("m=1", "no value for n, k, alpha"),
        ("m=1,n=1,k=1,alpah=0", r"unknown name 'alpah' \(did you mean alpha\?\)"),
        ("m=1,n=1,k=1,alpha=0,z=1", r"unknown name 'z' \(there are m, n, k, alpha\)"),
        ("m=1,n=1,k=1,alpha=0,m=2", "m is given twice"),
        ("m=0,n=1,k=1,alpha=0", "m must be a whole number from 1 to 2147483647, not '0'"),
        ("m=1.5,n=1,k=1,alpha=0", "m must be a whole number"),
        ("m=-1,n=1,k=1,alpha=0", "m must be a whole number"),
        ("m=99999999999,n=1,k=1,alpha=0", "m must be a whole number"),
        ("m=٣,n=1,k=1,alpha=0", "m must be a whole number"),
        ("m=1,n=1,k=1,alpha=x", "alpha must be a finite float, not 'x'"),
        ("m=1,n=1,k=1,alpha=nan", "alpha must be a finite float"),
        ("m=1,n=1,k=1,alpha=1e39", "alpha must be a finite float"),
        ("m=1,n=1,k=1,alpha=0,values=larg", r"values 'larg' \(did you mean large\?\)"),
    ],
)
def test_parse_says_what_is_wrong(gemm, text: str, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        parse_case(gemm, text)


@given(st.text(alphabet="mnkalph=,0123456789.-e \x1b", max_size=40))
def test_parse_raises_usage_errors_only(gemm, text: str) -> None:
    try:
        case = parse_case(gemm, text)
    except UsageError as error:
        assert "\x1b" not in str(error)
    else:
        assert parse_case(gemm, case.spec) == case


@pytest.mark.parametrize("max_work", [None, 2e6, 3e4])
@pytest.mark.parametrize("seed", ["00", "a1", "ff"])
def test_cases_hold_every_edge(gemm, seed: str, max_work: float | None) -> None:
    cases = draw_cases(gemm, seed, dtype="float32", max_work=max_work)
    for parameter in (*gemm.sizes, *gemm.scalars):
        tried = {case.values[parameter.name] for case in cases}
        assert tried >= {as_received(parameter, value) for value in parameter.always}
    assert {case.family for case in cases} == set(FAMILIES)
    assert any(set(case.sizes.values()) == {1} for case in cases)
    assert all(p.low <= c.sizes[p.name] <= p.high for p in gemm.sizes for c in cases)
    assert len({case.spec for case in cases}) == len(cases)
    work = [gemm.evaluate(gemm.flops, case.values, "float32") for case in cases]
    assert max_work is None or max(work) <= max_work
    assert max(work[:3]) <= min(work[3:])
    if max_work is None:
        assert max(work) > 2 * (0.75 * 300) ** 3
        assert any(all(size % 16 for size in case.sizes.values()) for case in cases)


def test_cases_are_decided_by_the_seed(gemm) -> None:
    def drawn(seed: str, dtype: str = "float32") -> list[str]:
        return [case.spec for case in draw_cases(gemm, seed, dtype=dtype)]

    assert drawn("00") == drawn("00")
    assert drawn("00") != drawn("01")
    alphas = [spec.split("alpha=")[1] for spec in drawn("00")]
    assert len(set(alphas)) > len(alphas) * 0.6


def test_an_edge_that_is_too_much_by_itself_is_left_out(write: Write) -> None:
    problem = load_problem(write())
    cases = draw_cases(problem, "00", dtype="float32", max_work=20)
    assert all(case.sizes["n"] <= 20 for case in cases)


def test_without_flops_the_work_is_the_size(write: Write) -> None:
    problem = load_problem(write(MINIMAL.replace("flops: n\n", "")))
    assert not problem.complete
    assert all(
        case.sizes["n"] <= 50 for case in draw_cases(problem, "0", dtype="float32", max_work=50)
    )


def test_benchmark_case(gemm) -> None:
    case = benchmark_case(gemm, gemm.benchmarks[0])
    assert case.sizes == {"m": 4096, "n": 4096, "k": 4096}
    assert case.scalars == {"alpha": single(0.01)}


def test_fresh_seeds_differ() -> None:
    assert fresh_seed() != fresh_seed()
    assert len(bytes.fromhex(fresh_seed())) == 16
