import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.problem.expressions import SIZEOF_VAR
from harness.problem.package import Problem
from harness.solution.launches import LaunchError, Launches, read_launches
from harness.wire.arguments import KernelLaunch

HEADER = """\
// Adds, slowly. A grid of 2: not meant.
// dtypes: float32
// launch: first
//   grid: ceil(n / 256), max(1, m)
//   block: 32, 8
//   arguments: a, out, n
//
// launch: second
//   grid: m
//   block: 128
//   shared: 128 * sizeof(VAR)
.version 7.8
// grid: of no header
"""
SIZES = {"m": 3, "n": 1000, "k": 1, "alpha": 0.5}


def launches(text: str, problem: Problem, max_shared_bytes: int = 232448) -> Launches:
    return Launches(read_launches(text, problem), {SIZEOF_VAR: 4}, max_shared_bytes, "a.ptx")


def test_a_header_gives_launches(problem: Problem) -> None:
    first, second = launches(HEADER, problem).at(SIZES)
    assert first == KernelLaunch(
        kernel="first", grid=(4, 3, 1), block=(32, 8, 1), shared=0, arguments=(0, 2, 5)
    )
    assert (second.grid, second.block, second.shared) == ((3, 1, 1), (128, 1, 1), 512)
    assert second.arguments == tuple(range(7))


def test_a_kernel_without_arguments(problem: Problem) -> None:
    text = "// launch: k\n// grid: 1\n// block: 1\n// arguments:\n"
    assert launches(text, problem).at(SIZES)[0].arguments == ()


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (".version 7.8\n", 1, "no line says `// launch: KERNEL`"),
        ("\n.version 7.8\n// launch: k\n// grid: 1\n// block: 1\n", 1, "no host code"),
        ("// grid: 1\n", 1, "grid: belongs below a line `// launch: KERNEL`"),
        ("// launch: two words\n", 1, "'two words' is no name of a kernel"),
        ("//launch:\n", 1, "'' is no name of a kernel"),
        ("// launch: k\n// block: 1\n", 1, "grid: is missing"),
        ("// launch: k\n// grid:\n// block: 1\n", 2, "grid: is missing"),
        ("// launch: k\n// grid: 1\n// grid: 2\n", 3, "grid: is said twice"),
        ("// launch: k\n// grid: 1, 1, 1, 1\n// block: 1\n", 2, "grid: has 4 numbers; 3 at most"),
        ("// launch: k\n// grid: 1\n// block: 1\n// shared: 1, 2\n", 4, "shared: has 2 numbers"),
        ("// launch: k\n// grid: rows\n// block: 1\n", 2, "rows is no size of the problem"),
        ("// launch: k\n// grid: alpha\n// block: 1\n", 2, "alpha is no size of the problem"),
        ("// launch: k\n// grid: m[0]\n// block: 1\n", 2, "unexpected '['"),
        ("// launch: k\n// grid: (m\n// block: 1\n", 2, "is not an arithmetic expression"),
        ("// launch: k\n// gird: 1\n", 2, "did you mean grid?"),
        ("// lunch: k\n// launch: k\n// lunch: k\n", 3, "did you mean launch?"),
        (
            "// launch: k\n// grid: 1\n// block: 1\n// arguments: a, outt\n",
            4,
            "'outt' is no parameter of the problem (did you mean out?)",
        ),
        ("// launch: k\n// grid: 1\n// block: 1\n// arguments: a,\n", 4, "'' is no parameter"),
        ("// launch: k\n// grid: 1\n// block: 1\n" * 65, 193, "more than 64 launches"),
        (f"// launch: {'k' * 201}\n", 1, "is no name of a kernel"),
        (f"// launch: k\n// grid: {'1 + ' * 600}1\n", 2, "longer than 2000 characters"),
        ("// launch: k\n// grid: 1\n// block: 1\n// arguments: a" + ", a" * 64, 4, "are 65; 64"),
        ("// launch: k\n// grid: 1 " + " " * 900_000 + "x", 2, "longer than 2000 characters"),
    ],
)
def test_what_is_wrong_with_a_header_has_its_line(
    text: str, line: int, words: str, problem: Problem
) -> None:
    with pytest.raises(LaunchError, match=re.escape(words)) as refused:
        read_launches(text, problem)
    assert refused.value.line == line


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("grid", "n // 2000", "grid: n // 2000 is 0 with m=3, n=1000"),
        ("grid", "1, 65536", "65536 is 65536"),
        ("grid", "2**31", "1 to 2147483647 are allowed"),
        ("grid", "n / 256", "is 3.90625, not a whole number with m=3"),
        ("grid", "n / (m - 3)", "divides by zero"),
        ("block", "1025", "1 to 1024 are allowed"),
        ("block", "1, 1, 65", "1 to 64 are allowed"),
        ("block", "64, 17", "64 · 17 · 1 = 1088 threads"),
        ("shared", "0 - 1", "has 0 to 1000 bytes"),
        ("shared", "sizeof(VAR) * 251", "is 1004 with m=3"),
    ],
)
def test_what_no_card_can_do_is_refused_for_the_sizes_at_hand(
    field: str, value: str, words: str, problem: Problem
) -> None:
    lines = {"grid": "1", "block": "1", "shared": "0", field: value}
    text = "// launch: k\n" + "".join(f"// {name}: {said}\n" for name, said in lines.items())
    header = launches(text, problem, max_shared_bytes=1000)
    with pytest.raises(LaunchError, match=re.escape(words)) as refused:
        header.at(SIZES)
    line = 2 + list(lines).index(field)
    assert header.message(refused.value) == f"a.ptx:{line}: {refused.value.reason}"


@given(n=st.integers(1, 2**40), threads=st.integers(1, 1024))
def test_a_grid_that_is_rounded_up_covers_everything(n: int, threads: int) -> None:
    text = f"// launch: k\n// grid: ceil(n / {threads})\n// block: {threads}\n"
    header = launches(text, PROBLEM)
    try:
        (launch,) = header.at({"n": n})
    except LaunchError:
        assert -(-n // threads) > 2**31 - 1
    else:
        assert (launch.grid[0] - 1) * threads < n <= launch.grid[0] * threads


FIELD = st.sampled_from(["launch", "grid", "block", "shared", "arguments", "dtypes", "girds", "x"])
VALUE = st.text(st.sampled_from("kmn01239 ,()*/-+^.%ab\"'\t"), max_size=20) | st.text(max_size=9)
LINE = st.builds("// {}: {}".format, FIELD, VALUE) | st.text(max_size=30)


@given(st.lists(LINE, max_size=12), st.integers(1, 2**40))
def test_any_text_is_a_header_or_an_error_with_its_line(lines: list[str], n: int) -> None:
    text = "\n".join(["// launch: k", "// grid: n", "// block: 32", *lines])
    try:
        for launch in launches(text, PROBLEM).at({"m": 1, "n": n, "k": 7}):
            assert all(each >= 1 for each in launch.grid + launch.block)
            assert launch.block[0] * launch.block[1] * launch.block[2] <= 1024
    except LaunchError as error:
        assert 1 <= error.line <= text.count("\n") + 1
        assert error.reason.isprintable()


@pytest.fixture(scope="module", autouse=True)
def _shared(problem: Problem) -> None:
    """What hypothesis cannot be given as a fixture of each example."""
    global PROBLEM
    PROBLEM = replace(problem)


PROBLEM: Problem
