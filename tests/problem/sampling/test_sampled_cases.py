"""Cases: drawn from a seed, written and read as one line."""

import math
import struct
from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.problem_texts import BLOCK, MINIMAL, Write

from harness.errors import ProblemError, UsageError
from harness.problem.case import FAMILIES, Case, CaseLimits, families, parse_case, whole_case
from harness.problem.expressions import Expression
from harness.problem.format.load import load_problem
from harness.problem.sampling.cases import draw_cases, fresh_seed
from harness.problem.sampling.footprint import footprint
from harness.problem.sizes import as_received


def single(value: float) -> float:
    return struct.unpack("f", struct.pack("f", value))[0]


def test_spec() -> None:
    case = Case(sizes={"m": 33, "n": 1, "k": 7}, scalars={"alpha": -0.5})
    assert case.spec == "m=33,n=1,k=7,alpha=-0.5"
    assert Case(sizes={"m": 1}, family="large").spec == "m=1,values=large"


@given(
    st.lists(st.integers(1, 2**31 - 1), min_size=3, max_size=3),
    st.floats(width=32, allow_nan=False, allow_infinity=False),
    st.sampled_from([f for f in FAMILIES if f != "nonfinite"]),
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
    case = Case(
        sizes={"m": 1, "n": 1, "k": 1}, scalars={"alpha": alpha}, single=frozenset({"alpha"})
    )
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
    case = Case(sizes={"m": 1}, scalars={"alpha": single(value)}, single=frozenset({"alpha"}))
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
        (
            "m=1,n=1,k=1,alpha=0,values=nonfinite",
            "no tensor of gemm-multiply-leakyrelu may hold NaN",
        ),
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
    cases = draw_cases(gemm, seed, dtype="float32", room=CaseLimits(work=max_work))
    for parameter in (*gemm.sizes, *gemm.scalars):
        tried = {case.values[parameter.name] for case in cases}
        # The one with thousands of blocks is too much by itself for the smallest bound.
        room = math.inf if max_work is None else max_work
        edges = {value for value in parameter.always if 2 * value <= room}
        assert tried >= {as_received(parameter, value) for value in edges}
    assert {case.family for case in cases} == set(families(gemm)) == {*FAMILIES} - {"nonfinite"}
    assert any(set(case.sizes.values()) == {1} for case in cases)
    for size in gemm.sizes:
        # An edge beyond the range may be made smaller where there is no room for it.
        most = max(size.high, *size.always)
        assert all(size.low <= case.sizes[size.name] <= most for case in cases)
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
    cases = draw_cases(problem, "00", dtype="float32", room=CaseLimits(work=20))
    assert all(case.sizes["n"] <= 20 for case in cases)


def test_rows_are_work(write: Write) -> None:
    wide = MINIMAL.replace("shape: [n]", "shape: [n, 2]").replace("flops: n\n", "flops: 2*n\n")
    problem = load_problem(write(wide))
    assert max(c.sizes["n"] for c in draw_cases(problem, "0", dtype="float32")) > 40
    room = CaseLimits(work=1000, row_work=100)
    cases = draw_cases(problem, "0", dtype="float32", room=room)
    assert max(case.sizes["n"] for case in cases) == 10


def test_rows_that_are_reduced_are_work(write: Write) -> None:
    first, second = "shape: [n]", "shape: [n, 2]"
    assert MINIMAL.count(first) == 2, "what is read, and what is written"
    problem = load_problem(write(MINIMAL.replace(first, second, 1)))
    room = CaseLimits(work=1000, row_work=100)
    cases = draw_cases(problem, "0", dtype="float32", room=room)
    assert max(case.sizes["n"] for case in cases) == 10


def test_every_element_is_work(write: Write) -> None:
    problem = load_problem(write(MINIMAL.replace("flops: n\n", "flops: 1\n")))
    cases = draw_cases(problem, "0", dtype="float32", room=CaseLimits(work=20))
    assert max(case.sizes["n"] for case in cases) <= 20


def test_sizes_beyond_their_range_only_where_there_is_room(gemm) -> None:
    size = next(p for p in gemm.sizes if max(p.always) > p.high)
    for in_range in (False, True):
        cases = draw_cases(gemm, "0", dtype="float32", room=CaseLimits(in_range=in_range))
        tried = {case.sizes[size.name] for case in cases}
        assert (max(size.always) in tried) is not in_range
        assert tried >= {value for value in size.always if value <= size.high}
        assert (max(tried) <= size.high) is in_range


def test_without_flops_the_work_is_the_size(write: Write) -> None:
    problem = load_problem(write(MINIMAL.replace("flops: n\n", "")))
    assert not problem.complete
    assert all(
        case.sizes["n"] <= 50
        for case in draw_cases(problem, "0", dtype="float32", room=CaseLimits(work=50))
    )


def test_benchmark_case(gemm) -> None:
    case = whole_case(gemm, gemm.benchmarks[0])
    assert case.sizes == {"m": 4096, "n": 4096, "k": 4096}
    assert case.scalars == {"alpha": single(0.01)}


def test_a_case_with_derived_values(block) -> None:
    case = whole_case(block, block.benchmarks[0])
    assert case.values["total"] == 60000
    assert case.values["inverse"] == single(1 / 200)
    assert case.spec == "ld=208,m=300,n=200,s=0.1,t=1.0"
    again = parse_case(block, case.spec)
    assert again == case
    assert again.values == case.values
    assert list(again.values) == list(case.values)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("ld=5,m=3,n=5,s=0,t=0,total=15", r"total follows from the sizes \(m\*n\): leave it out"),
        ("ld=4,m=3,n=5,s=0,t=0", r"ld must be from n \(5\) to n \+ 16 \(21\), not 4"),
        ("ld=5,m=3,n=5,s=0", "no value for t"),
        ("ld=2000000000,m=2,n=2000000000,s=0,t=0", r"'m\*n' is 4000000000, not from -2"),
        (
            "ld=5,m=3,n=5,s=0,t=0,values=rosw",
            r"unknown family of values 'rosw' \(did you mean rows",
        ),
    ],
)
def test_a_case_must_fit_together(block, text: str, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        parse_case(block, text)


def test_a_case_whose_elements_would_overlap(write: Write) -> None:
    """A size with a plain range may lie outside of it, but not on top of another."""
    text = BLOCK.replace("[n, n + 16], always: [64]", "[100, 116]")
    problem = load_problem(write(text.replace("ld: 5,", "ld: 100,")))
    with pytest.raises(UsageError, match="elements overlap: the stride ld is 7, and what lies"):
        parse_case(problem, "ld=7,m=3,n=8,s=0,t=0")
    assert parse_case(problem, "ld=8,m=3,n=8,s=0,t=0").sizes["ld"] == 8


@given(
    st.integers(1, 10**4),
    st.integers(1, 10**4),
    st.integers(0, 16),
    st.floats(width=32, allow_nan=False, allow_infinity=False),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(FAMILIES),
)
def test_specs_of_dependent_sizes_come_back(
    block, m: int, n: int, gap: int, s: float, t: float, family: str
) -> None:
    text = f"ld={n + gap},m={m},n={n},s={s!r},t={t!r},values={family}"
    case = parse_case(block, text)
    again = parse_case(block, case.spec)
    assert again == case
    assert again.values == case.values
    assert "total" not in case.spec


@settings(max_examples=25)
@given(
    st.integers(0, 10**6),
    st.sampled_from([None, 60.0, 2000.0]),
    st.sampled_from([None, 200_000, 400_000]),
)
def test_draws_respect_relations(
    block, seed: int, max_work: float | None, max_bytes: int | None
) -> None:
    cases = draw_cases(
        block, f"{seed:x}", dtype="float32", room=CaseLimits(work=max_work, bytes=max_bytes)
    )
    for case in cases:
        m, n, ld = (case.sizes[name] for name in ("m", "n", "ld"))
        assert n <= ld <= n + 16
        assert case.values["total"] == m * n
        assert case.values["inverse"] == single(1 / n)
        assert parse_case(block, case.spec) == case
        assert max_work is None or m * n <= max_work
        assert max_bytes is None or footprint(block.tensors_of(case, "float32")) <= max_bytes
    assert {case.family for case in cases} == set(FAMILIES)
    if max_work is None and max_bytes is None:
        tried = {(name, value) for case in cases for name, value in case.values.items()}
        wanted = {(p.name, as_received(p, v)) for p in block.parameters for v in p.always}
        assert wanted <= tried
        assert max(case.sizes["ld"] for case in cases) > 75


def test_nan_meets_every_edge_of_every_scalar(block) -> None:
    for dtype in block.dtypes:
        cases = [c for c in draw_cases(block, "00", dtype=dtype) if c.family == "nonfinite"]
        assert {c.scalars["s"] for c in cases} >= {0.0, 1.0, 0.5}
        assert 2.0 in {c.scalars["t"] for c in cases}
        assert len(cases) == 5
        assert max(math.prod(c.sizes.values()) for c in cases) > 1000


def test_nan_without_scalars_and_where_there_is_none(write: Write) -> None:
    plain = MINIMAL.replace("    always: [0, 1e-30]\n", "").replace(
        "shape: [n]\n", "shape: [n]\n    nonfinite: true\n", 1
    )
    problem = load_problem(write(plain.replace("[float32, float16]", "[float32, int32]")))
    families_of = {
        d: [c.family for c in draw_cases(problem, "0", dtype=d)] for d in ("float32", "int32")
    }
    assert families_of["float32"].count("nonfinite") == 1
    assert families_of["int32"].count("nonfinite") == 0
    assert "nonfinite" in families(problem)
    assert "nonfinite" not in families(problem, "int32")


def test_memory_bounds_a_case(gemm) -> None:
    for bound in (1 << 20, 1 << 22, None):
        cases = draw_cases(gemm, "00", dtype="float32", room=CaseLimits(bytes=bound))
        used = [footprint(gemm.tensors_of(case, "float32")) for case in cases]
        assert bound is None or max(used) <= bound
        assert max(used) > (bound or 1 << 23) * 0.5
        for parameter in gemm.scalars:
            tried = {case.values[parameter.name] for case in cases}
            assert tried >= {as_received(parameter, value) for value in parameter.always}


def test_sizes_that_make_no_sense_are_the_author_s_mistake(block) -> None:
    """Loading tries many sizes, not all."""
    broken = replace(
        block,
        parameters=tuple(
            replace(p, upper=Expression.parse("min(n + 16, 40)")) if p.name == "ld" else p
            for p in block.parameters
        ),
    )
    with pytest.raises(ProblemError, match="the range of ld is empty"):
        draw_cases(broken, "00", dtype="float32")


def test_fresh_seeds_differ() -> None:
    assert fresh_seed() != fresh_seed()
    assert len(bytes.fromhex(fresh_seed())) == 16
