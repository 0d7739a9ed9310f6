"""The search for a smaller failing case, with judges that are made up; and all of it on the CPU.

The table in docs/explanation/shrinking.md comes from here::

    python tests/judge/test_shrink.py
"""

import math
import random
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.plain_languages import PLAIN_LANGUAGES

from harness.device.cpu import CpuDevice
from harness.grading.grader import Grader
from harness.grading.job import Job, Options
from harness.judge.shrink import complexity, shrink, simpler
from harness.languages.read import read_solution
from harness.problem.case import Case, parse_case
from harness.problem.expressions import Expression
from harness.problem.format.load import load_problem
from harness.problem.grid import Grid
from harness.problem.model import Distribution, Parameter
from harness.problem.package import Problem
from harness.problem.sizes import as_received
from harness.problem.terms import Role
from harness.progress.progress import NoProgress
from harness.records.cases import CaseResult, ShrunkCase
from harness.records.result import Result, Verdict

ROOT = Path(__file__).parents[2]
GEMM = load_problem(ROOT / "problems/gemm-multiply-leakyrelu")
EXAMPLES = GEMM.folder / "examples"

Predicate = Callable[[Case], bool]
sizes = st.integers(1, 300)


def gemm(m: int, n: int, k: int, alpha: float = 0.7316, family: str = "declared") -> Case:
    return parse_case(GEMM, f"m={m},n={n},k={k},alpha={alpha!r},values={family}")


def elements(case: Case, problem: Problem = GEMM) -> int:
    return sum(math.prod(p.dimensions(case.values)) for p in problem.tensors)


def reduced(case: Case, fails: Predicate, problem: Problem = GEMM) -> Case:
    """The case that is found; every case that is asked about must be legal and be asked once."""
    assert fails(case)
    asked: list[str] = []

    def ask(candidate: Case) -> bool:
        asked.append(candidate.spec)
        assert parse_case(problem, candidate.spec) == candidate
        for p in problem.sizes:
            assert candidate.values[p.name] >= p.low or candidate.values[p.name] in p.always
        return fails(candidate)

    found = shrink(problem, case, ask)
    assert fails(found.case)
    assert len(asked) == len(set(asked)) == found.trials
    assert case.spec not in asked
    return found.case


# -- the search ----------------------------------------------------------------------------------


@settings(max_examples=10)
@given(sizes, sizes, sizes, sizes, sizes, sizes)
def test_thresholds_are_found_exactly(m: int, n: int, k: int, a: int, b: int, c: int) -> None:
    low, high = [sorted(pair) for pair in ((m, a), (n, b), (k, c))], gemm
    start = high(low[0][1], low[1][1], low[2][1])
    found = reduced(
        start, lambda case: all(case.sizes[s] >= low[i][0] for i, s in enumerate("mnk"))
    )
    assert [found.sizes[s] for s in "mnk"] == [pair[0] for pair in low]
    assert (found.scalars["alpha"], found.family) == (0.0, "integers")


def _is(check: Callable[[int, int, int], bool]) -> Predicate:
    return lambda case: check(case.sizes["m"], case.sizes["n"], case.sizes["k"])


KNOWN: dict[str, tuple[Predicate, tuple[int, int, int]]] = {
    "not a multiple of 32": (_is(lambda m, n, k: bool(m % 32 or n % 32 or k % 32)), (1, 1, 1)),
    "k odd and m > 40": (_is(lambda m, _, k: k % 2 == 1 and m > 40), (41, 1, 1)),
    "m a multiple of 32": (_is(lambda m, *_: m % 32 == 0), (32, 1, 1)),
    "m above 128, not of 4": (_is(lambda m, *_: m > 128 and m % 4 > 0), (129, 1, 1)),
    "m is not n": (_is(lambda m, n, _: m != n), (1, 2, 1)),
    "m is n, above 20": (_is(lambda m, n, _: m == n > 20), (21, 21, 1)),
    "n above m": (_is(lambda m, n, _: n > m), (1, 2, 1)),
    "k a multiple of 11": (_is(lambda m, n, k: k % 11 == 0), (1, 1, 11)),
    "m·k above 1024": (_is(lambda m, _, k: m * k > 1024), (41, 1, 25)),
    "m·n above 4096": (_is(lambda m, n, _: m * n > 4096), (64, 65, 1)),
    "one of two is large": (_is(lambda m, n, _: max(m, n) >= 65), (1, 65, 1)),
    "k is 49, 97, 145, …": (_is(lambda m, n, k: k % 48 == 1 and k > 1), (1, 1, 49)),
}
"""What fails, and the smallest sizes that do."""


def _failing(fails: Predicate, chance: random.Random) -> Case:
    """Any case that fails: of sizes that are likely to."""
    while True:
        m, n, k = (
            chance.choice([chance.randint(1, 300), 32 * chance.randint(1, 9)]) for _ in "mnk"
        )
        case = gemm(m, chance.choice([n, m]), chance.choice([k, 11 * (k % 27 + 1), 97]))
        if fails(case):
            return case


@pytest.mark.parametrize("name", KNOWN)
@settings(max_examples=3)
@given(st.integers(0, 2**32))
def test_within_twice_the_smallest(name: str, seed: int) -> None:
    fails, smallest = KNOWN[name]
    found = reduced(_failing(fails, random.Random(seed)), fails)
    assert elements(found) <= 2 * elements(gemm(*smallest)), found.spec


def test_failures_of_few_values_are_sought_with_other_values() -> None:
    # One in six of all specs fails: a judge of which nothing is monotone.
    def fails(case: Case) -> bool:
        return sum(case.spec.encode()) % 6 == 0 or case == start

    start = gemm(200, 150, 100)
    assert elements(reduced(start, fails)) <= 16


def test_scalars_and_families_become_simple() -> None:
    found = reduced(gemm(5, 5, 5, 1.75), lambda case: case.scalars["alpha"] > 1)
    assert found.spec == "m=1,n=1,k=1,alpha=2.0,values=integers"
    found = reduced(gemm(5, 5, 5, -0.7316), lambda case: -1 < case.scalars["alpha"] < -0.6)
    assert found.spec == "m=1,n=1,k=1,alpha=-0.7,values=integers"
    unreadable = ("declared", "large", "mixed")
    found = reduced(gemm(5, 5, 5, 1.0, "mixed"), lambda case: case.family in unreadable)
    assert found.spec == "m=1,n=1,k=1,alpha=0.0"


def test_sizes_stay_where_the_smallest_ones_pass() -> None:
    only = gemm(37, 91, 5, 0.25, "tiny")
    assert reduced(only, lambda case: case.spec == only.spec) == only


def test_shrink_stops_when_its_time_is_over() -> None:
    left = iter([True] * 5)
    found = shrink(GEMM, gemm(300, 300, 300), lambda _: False, in_time=lambda: next(left, False))
    assert (found.trials, found.case) == (5, gemm(300, 300, 300))


def _scalar(low: float, high: float, kind: str = "uniform") -> Parameter:
    values = Distribution(kind=kind, a=low, b=high)
    return Parameter(name="s", type="float", role=Role.SCALAR, line=1, values=values, always=(7,))


def test_only_scalars_that_are_drawn() -> None:
    assert simpler(_scalar(-1, 2), 0.5) == [0.0, 1.0, -1.0, 2.0]
    assert simpler(_scalar(0.25, 0.75), 0.3333) == [0.5, pytest.approx(0.3), *_about(0.33, 0.333)]
    assert 0.0 not in simpler(_scalar(1e-5, 1e-3), 3.14159e-4)
    assert simpler(_scalar(5, 6), 7.0) == []
    assert 0.0 not in simpler(_scalar(100, 2, "normal"), 101.5)
    scalar = _scalar(0, 1)
    values = (0, 1, -1, 2, 0.5, 3, 30, 1e-30, 0.25, 1 / 3)
    order = [complexity(scalar, as_received(scalar, x)) for x in values]
    assert order == sorted(order)


def _about(*values: float) -> list[Any]:
    return [pytest.approx(value) for value in values]


def _padded() -> Problem:
    """m × k matrices in rows of k ≤ ld ≤ k + 16 elements; ``scale`` is 1/k, ``twice`` 2k."""
    size = {"type": "size_t", "role": Role.SIZE, "line": 1}
    ld = Parameter(
        name="ld", lower=Expression.parse("k"), upper=Expression.parse("k + 16"),
        low=2, high=316, **size,
    )  # fmt: skip
    scale = Parameter(
        name="scale", type="float", role=Role.SCALAR, line=1, equals=Expression.parse("1/k")
    )
    twice = Parameter(name="twice", equals=Expression.parse("2*k"), low=4, high=600, **size)
    m = Parameter(name="m", low=1, high=300, **size)
    k = Parameter(name="k", low=2, high=300, **size)
    tensors = [p for p in GEMM.parameters if p.role is Role.TENSOR][:1]
    return replace(GEMM, parameters=(*tensors, ld, scale, twice, m, k))


def test_dependent_sizes_follow() -> None:
    problem = _padded()
    start = parse_case(problem, "m=100,k=90,ld=95")
    seen: list[Case] = []

    def fails(case: Case) -> bool:
        seen.append(case)
        return case.sizes["ld"] - case.sizes["k"] >= 3 and case.sizes["k"] > 20

    found = reduced(start, fails, problem)
    assert found.spec == "ld=24,m=1,k=21,values=integers"
    for case in seen:
        values = case.values
        assert values["k"] <= values["ld"] <= values["k"] + 16
        assert values["twice"] == 2 * values["k"]


def _kinds() -> Problem:
    """Vectors of n elements, with numbers of each kind beside."""
    whole = {"role": Role.SIZE, "line": 1}
    n = Parameter(name="n", type="int", low=32, high=4096, grid=Grid(every=32), **whole)
    odd = Parameter(name="odd", type="int", low=-9, high=9, grid=Grid(every=2, rest=1), **whole)
    power = Parameter(name="power", type="int", high=1024, grid=Grid(powers=True), **whole)
    shift = Parameter(name="shift", type="int", low=-100, high=100, **whole)
    below = Parameter(name="below", type="int", low=-100, high=-3, **whole)
    numbers = [replace(p, least=p.low) if p.low < 1 else p for p in (n, odd, power, shift, below)]
    tensor = replace(GEMM.tensors[0], shape=(Expression.parse("n"),))
    return replace(GEMM, parameters=(tensor, *numbers))


@pytest.mark.parametrize(
    ("fails", "found"),
    [
        (lambda v: True, "n=32,odd=1,power=1,shift=0,below=-3"),
        (lambda v: v["n"] > 1000, "n=1024,odd=1,power=1,shift=0,below=-3"),
        (lambda v: v["odd"] < 0, "n=32,odd=-1,power=1,shift=0,below=-3"),
        (lambda v: abs(v["odd"]) > 3, "n=32,odd=5,power=1,shift=0,below=-3"),
        (lambda v: v["power"] > 100, "n=32,odd=1,power=128,shift=0,below=-3"),
        (lambda v: v["shift"] < -20, "n=32,odd=1,power=1,shift=-21,below=-3"),
        (lambda v: abs(v["shift"]) > 20, "n=32,odd=1,power=1,shift=21,below=-3"),
        (lambda v: v["below"] * v["shift"] > 60, "n=32,odd=1,power=1,shift=-21,below=-3"),
    ],
)
def test_numbers_stay_of_their_kind(fails: Callable[[dict[str, float]], bool], found: str) -> None:
    problem = _kinds()
    start = parse_case(problem, "n=4096,odd=-7,power=512,shift=-77,below=-90")
    case = reduced(start, lambda case: fails(case.values), problem)
    assert case.spec == f"{found},values=integers"


# -- with a submission, on the CPU ---------------------------------------------------------------


class Wrong(NamedTuple):
    """An example, or a source; the case that the grade has; the smallest sizes that fail."""

    name: str
    smallest: tuple[int, int, int]
    source: str = ""
    start: str = "m=150,n=97,k=71,alpha=0.7316"


_BODY = """
__global__ void kernel(const VAR* a, const VAR* b, const VAR* c, float alpha, VAR* o, size_t m,
                       size_t n, size_t k) {
  const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i >= m * n) return;
  float sum = 0;
  for (size_t p = 0; p < k; ++p) sum += float(a[i / n * k + p]) * float(b[p * n + i % n]);
  const float x = sum * float(c[i]);
  o[i] = VAR((x >= 0 ? x : alpha * x) + (WRONG ? 1 + i : 0));
}
extern "C" void solution(const VAR* a, const VAR* b, const VAR* c, float alpha, VAR* o, size_t m,
                         size_t n, size_t k) {
  kernel<<<unsigned((m * n + 63) / 64), 64>>>(a, b, c, alpha, o, m, n, k);
}
"""


def _when(name: str, condition: str, smallest: tuple[int, int, int]) -> Wrong:
    return Wrong(name, smallest, f"#define WRONG ({condition})\n{_BODY}")


WRONG = [
    Wrong("no_bounds_check.cu", (1, 1, 1)),
    Wrong("multiples_of_32_only.cu", (1, 1, 1)),
    Wrong("misses_last_row.cu", (1, 1, 1)),
    Wrong("skips_last_k.cu", (1, 1, 1)),
    Wrong("ignores_alpha.cu", (1, 1, 1)),
    Wrong("swaps_m_and_n.cu", (2, 1, 1)),
    Wrong("missing_syncthreads.cu", (1, 1, 1)),
    Wrong("wrong_on_negative_products.cu", (1, 1, 1)),
    Wrong("missing_mask.py", (1, 1, 1)),
    _when("k odd and m above 40", "k % 2 && m > 40", (41, 1, 1)),
    _when("an index in 12 bits", "i >= 4096", (64, 65, 1)),
]
MORE = [
    _when("above one block of 64 elements", "i >= 64", (1, 65, 1)),
    _when("m above 128 and no multiple of 4", "m > 128 && m % 4", (129, 1, 1)),
    _when("k a multiple of 32", "k % 32 == 0", (1, 1, 32))._replace(
        start="m=150,n=97,k=64,alpha=0.7316"
    ),
    Wrong("half_accumulation.cu", (1, 1, 2)),  # for few values only
]
"""In the table, too; how small those get hangs on time."""


def graded(wrong: Wrong, folder: Path, **options: Any) -> Result:
    """The result on the CPU path, without compiling for a card."""
    if wrong.source:
        path = folder / "wrong.cu"
        path.write_text(wrong.source)
    else:
        path = next(EXAMPLES.glob(f"*/{wrong.name}"))
    job = Job(path=str(path), solution=read_solution(path, problem=GEMM.slug), problem=GEMM)
    chosen = {"seed": "5eed", "case": wrong.start, "timing": False, **options}
    with Grader(CpuDevice(), NoProgress()) as grader:
        return grader.grade(job, Options(**chosen))


@pytest.fixture(autouse=True)
def no_card(monkeypatch: pytest.MonkeyPatch) -> None:
    from harness.languages.build import triton_target
    from harness.languages.build.cache import BuildOutcome

    monkeypatch.setattr(triton_target, "compile_triton", lambda *_: BuildOutcome())


@pytest.mark.corpus
@pytest.mark.nvcc
@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.name)
def test_typical_mistakes(wrong: Wrong, tmp_path: Path) -> None:
    result = graded(wrong, tmp_path, shrink_s=3.0)
    shrunk = result.shrunk
    assert shrunk is not None
    assert result.failed_case is not None
    assert result.failed_case.spec == parse_case(GEMM, wrong.start).spec
    found = parse_case(GEMM, shrunk.case.spec)
    assert elements(found) <= 2 * elements(gemm(*wrong.smallest)), shrunk.case.spec
    assert f"--case {shrunk.case.spec} --seed 5eed" in result.reproduce
    assert shrunk.trials > 0

    again = graded(wrong, tmp_path, case=shrunk.case.spec, shrink_s=0.0)
    assert again.shrunk is None
    assert again.verdict is result.verdict
    replayed = again.failed_case
    assert replayed is not None
    timed = {"seconds"}
    assert replayed.model_dump_json(exclude=timed) == shrunk.case.model_dump_json(exclude=timed)


def tensors(shrunk: ShrunkCase) -> dict[tuple[str, str], Any]:
    return {(t.role, t.parameter): t.values for t in shrunk.tensors}


@pytest.mark.corpus
@pytest.mark.nvcc
def test_small_tensors_are_shown(tmp_path: Path) -> None:
    result = graded(WRONG[5], tmp_path)
    assert result.shrunk is not None
    shown = tensors(result.shrunk)
    names = ("matrix_a", "matrix_b", "matrix_c")
    assert set(shown) == {
        *(("input", name) for name in names),
        ("expected", "output_matrix"),
        ("got", "output_matrix"),
    }
    case = parse_case(GEMM, result.shrunk.case.spec)
    assert (case.sizes["m"], case.sizes["n"], case.sizes["k"]) in {(2, 1, 1), (1, 2, 1)}
    a, b, c = ([x for row in shown["input", name] for x in row] for name in names)
    product = [(a[0] * b[0] if len(b) == 1 else 0) * c[0], 0.0]
    flat = [x for row in shown["expected", "output_matrix"] for x in row]
    assert flat[0] == pytest.approx(max(product[0], 0.0)) or len(b) == 2
    assert len(flat) == 2
    first = result.shrunk.case.mismatch
    assert first is not None
    got = shown["got", "output_matrix"]
    at = got[first.first.index[0]][first.first.index[1]]
    assert at == first.first.got or (math.isnan(at) and math.isnan(first.first.got))
    assert Result.from_json(result.to_json()).to_json() == result.to_json()


# -- with submissions that start fast ------------------------------------------------------------

PACKAGES = Path(__file__).parents[1] / "support/packages"
SHIFT = load_problem(PACKAGES / "shift")


@pytest.fixture
def check(stand_in_for_torch: None, tmp_path: Path) -> Callable[..., Result]:
    def run(source: str, problem: Problem = SHIFT, **options: Any) -> Result:
        path = tmp_path / "mine.py"
        path.write_text(source)
        job = Job(path=str(path), solution=read_solution(path, problem="shift"), problem=problem)
        chosen: dict[str, Any] = {"timing": False, "case": "n=60,s=1.375", "shrink_s": 40.0}
        with Grader(CpuDevice(), NoProgress(), languages=PLAIN_LANGUAGES) as grader:
            return grader.grade(job, Options(**chosen | options))

    return run


HEAD = "import os, time\ndef solution(x, s, y, n):\n    for i in range(n): y[i] = x[i] + s\n"


def test_a_wrong_answer(check: Callable[..., Result]) -> None:
    result = check(HEAD + "    if n > 20: y[20] = 99.0\n")
    assert result.verdict is Verdict.WRONG_ANSWER
    assert result.shrunk is not None
    assert result.shrunk.case.spec == "n=21,s=0.0,values=integers"
    assert result.shrunk.case.mismatch is not None
    assert result.shrunk.case.mismatch.first.index == (20,)
    got = tensors(result.shrunk)["got", "y"]
    assert got[20] == 99.0
    assert list(got[:20]) == list(tensors(result.shrunk)["expected", "y"][:20])


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("act", "words"),
    [("os._exit(3)", "exit status 3"), ("1 / 0", "ZeroDivisionError")],
)
def test_a_crash(check: Callable[..., Result], act: str, words: str) -> None:
    result = check(HEAD + f"    if n > 20: {act}\n")
    assert result.verdict is Verdict.RUNTIME_ERROR
    assert result.shrunk is not None
    assert result.shrunk.case.spec == "n=21,s=0.0,values=integers"
    assert words in result.shrunk.case.message
    assert ("got", "y") not in tensors(result.shrunk)
    assert len(tensors(result.shrunk)["input", "x"]) == 21


@pytest.mark.corpus
def test_a_wrong_answer_is_not_followed_into_a_crash(check: Callable[..., Result]) -> None:
    result = check(HEAD + "    if n < 33: os._exit(1)\n    y[0] = 99.0\n")
    assert result.verdict is Verdict.WRONG_ANSWER
    assert result.shrunk is not None
    assert result.shrunk.case.spec.startswith("n=33,")


def test_a_failure_that_does_not_repeat_is_not_shrunk(check: Callable[..., Result]) -> None:
    # Wrong from its ninth call on: no case by itself shows that.
    source = f"calls = []\n{HEAD}    calls.append(n)\n    if len(calls) > 8: y[0] = 99.0\n"
    result = check(source, case=None, seed="5eed")
    assert result.verdict is Verdict.WRONG_ANSWER
    assert result.shrunk is None
    assert result.failed_case is not None
    assert f"--case {result.failed_case.spec}" in result.reproduce


@pytest.mark.corpus
def test_a_time_limit_is_not_shrunk(check: Callable[..., Result]) -> None:
    hasty = replace(SHIFT, limits=replace(SHIFT.limits, call_s=0.2))
    result = check(HEAD + "    time.sleep(60)\n", hasty)
    assert result.verdict is Verdict.TIME_LIMIT
    assert result.shrunk is None


def test_shrinking_can_be_switched_off(check: Callable[..., Result]) -> None:
    result = check(HEAD + "    y[0] = 99.0\n", shrink_s=0.0)
    assert result.shrunk is None
    assert "--case n=60,s=1.375" in result.reproduce


@pytest.mark.corpus
def test_shrinking_ends_within_its_budget(check: Callable[..., Result]) -> None:
    # Every smaller case hangs: each trial costs a runner and its limit.
    hasty = replace(SHIFT, limits=replace(SHIFT.limits, call_s=0.3))
    result = check(HEAD + "    if n < 60: time.sleep(60)\n    y[0] = 99.0\n", hasty, shrink_s=1.0)
    assert result.shrunk is not None
    assert result.shrunk.case.spec.startswith("n=60,")
    assert result.shrunk.seconds < 20.0


def test_a_case_that_passed_is_no_smaller_failure() -> None:
    with pytest.raises(ValueError, match="no smaller failure"):
        ShrunkCase(case=CaseResult(spec="n=1", passed=True), trials=1, seconds=0.1)


def main() -> None:
    """Print the table of docs/explanation/shrinking.md."""
    import tempfile

    print("| mistake | first | smallest known | found | trials | seconds |")
    print("|---|---|---|---|---|---|")
    for wrong in (*WRONG, *MORE):
        with tempfile.TemporaryDirectory() as folder:
            shrunk = graded(wrong, Path(folder)).shrunk
        known = "m={},n={},k={}".format(*wrong.smallest)
        found = (shrunk.case.spec, shrunk.trials, f"{shrunk.seconds:.1f}") if shrunk else ("–",) * 3
        print("|", " | ".join(map(str, (wrong.name, wrong.start, known, *found))), "|", flush=True)


if __name__ == "__main__":
    sys.exit(main())
