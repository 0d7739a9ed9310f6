"""What a front matter says of sizes: signs, multiples, ranges of cases, sizes not passed."""

from pathlib import Path

import pytest
from support.problem_texts import MINIMAL, Write

from harness.errors import ProblemError, UsageError
from harness.problem.case import parse_case
from harness.problem.format.load import load_problem
from harness.problem.package import Problem
from harness.problem.signature import c_prototype, python_signature

SIZE = """  - name: n
    type: size_t
    pointer: false
    range: [1, 100]
    always: [1, 33]
"""


def with_size(lines: str, more: str = "", *, n: str = "1000") -> str:
    """MINIMAL with the declaration of its size replaced, and a parameter more."""
    keys = "".join(f"    {line}\n" for line in lines.split("\n"))
    text = MINIMAL.replace(SIZE, f"  - name: n\n    type: int\n    pointer: false\n{keys}{more}")
    return text.replace("{n: 1000,", f"{{n: {n},").replace("{n: 10,", f"{{n: {n},")


def with_number(keys: str, value: str = "1") -> str:
    """MINIMAL with another integer ``s`` in the place of its scalar."""
    scalar = MINIMAL[MINIMAL.index("  - name: s\n") : MINIMAL.index("  - name: y\n")]
    text = MINIMAL.replace(scalar, f"  - {{name: s, pointer: false, {keys}}}\n")
    return text.replace("s: 0.5", f"s: {value}")


def complaint(folder: Path) -> str:
    """The only complaint about a package."""
    with pytest.raises(ProblemError) as caught:
        load_problem(folder)
    (line,) = str(caught.value).split("\n")
    return line.removeprefix(f"{folder / 'problem.md'}:")


@pytest.mark.parametrize(
    ("keys", "value", "low", "high"),
    [
        ("type: int, range: [-8, 8], always: [0, -1]", "-8", -8, 8),
        ("type: int8_t, range: [-128, 127]", "127", -128, 127),
        ("type: short, range: [-9, -2]", "-5", -9, -2),
        ("type: unsigned, range: [0, 4294967295]", "4294967295", 0, 2**32 - 1),
        ("type: size_t, range: [0, 18446744073709551615]", "0", 0, 2**64 - 1),
        (f"type: long long, range: [{-(2**63)}, {2**63 - 1}]", str(-(2**63)), -(2**63), 2**63 - 1),
        ("type: int, range: [-n, n]", "-10", -100, 100),
    ],
)
def test_numbers_of_every_sign_and_width(
    write: Write, keys: str, value: str, low: int, high: int
) -> None:
    problem = load_problem(write(with_number(keys, value)))
    number = next(p for p in problem.sizes if p.name == "s")
    assert (number.low, number.high) == (low, high)
    assert problem.benchmarks[0]["s"] == int(value)
    assert parse_case(problem, f"n=10,s={value}").sizes["s"] == int(value)


@pytest.mark.parametrize(
    ("keys", "wrong"),
    [
        ("type: unsigned, range: [-1, 9]", "range[0]: must be from 0 to 4294967295, not -1"),
        ("type: int8_t, range: [0, 128]", "range[1]: must be from -128 to 127, not 128"),
        ("type: short, range: [0, 9], always: [40000]", "always[0]: must be from -32768 to 32767"),
        (
            "type: size_t, range: [n - 9, n]",
            "range: 'n - 9' is -8, not from 0 to 18446744073709551",
        ),
        ("type: int, equals: n - 2**31 - 2", "equals: 'n - 2**31 - 2' is -2147483649, not from -2"),
    ],
)
def test_numbers_that_a_type_cannot_hold(write: Write, keys: str, wrong: str) -> None:
    text = with_number(keys).replace(", s: 1}", "}" if "equals" in keys else ", s: 1}")
    assert wrong in complaint(write(text))


def test_a_dimension_is_positive(write: Write) -> None:
    found = complaint(write(with_size("range: [-3, 9]")))
    assert "parameters[3].range[0]: must be from 1 to 2147483647, not -3: n is a dimension" in found
    text = with_size("range: [-1, 9]", n="9").replace("[n]", "[n + 1]", 1).replace("[n]", "[9]")
    found = complaint(write(text.replace("flops: n", "flops: 1").replace("bytes: 2*n", "bytes: 2")))
    assert "shape: 'n + 1' is 0, not positive with every size at its lowest" in found
    assert load_problem(write(with_size("range: [0, 9]").replace("[n]", "[n + 1]"))).complete


@pytest.mark.parametrize(
    ("lines", "good", "bad", "words", "ends"),
    [
        ("range: [32, 4096]\nmultiple_of: 32", 64, 48, "multiples of 32", (32, 4096)),
        ("range: [1, 100]\nmultiple_of: 32", 4096, 33, "multiples of 32", (32, 96)),
        ("range: [1, 100]\nodd: true", 1001, 1000, "odd numbers", (1, 99)),
        ("range: [1, 100]\nodd: true\nmultiple_of: 3", 9, 6, "odd multiples of 3", (3, 99)),
        ("range: [1, 100]\npower_of_two: true", 1024, 96, "powers of two", (1, 64)),
        (
            "range: [1, 100]\npower_of_two: true\nmultiple_of: 8",
            8,
            4,
            "powers of two from 8",
            (8, 64),
        ),
    ],
)
def test_numbers_of_a_kind(
    write: Write, lines: str, good: int, bad: int, words: str, ends: tuple[int, int]
) -> None:
    problem = load_problem(write(with_size(lines, n=str(good))))
    (n,) = problem.sizes
    assert (n.low, n.high, n.grid.words()) == (*ends, words)
    assert parse_case(problem, f"n={good},s=1").sizes["n"] == good
    message = f"n must be one of the {words}, not {bad}"
    with pytest.raises(UsageError, match=message):
        parse_case(problem, f"n={bad},s=1")
    found = complaint(write(with_size(lines, n=str(good)).replace(f"n: {good}", f"n: {bad}", 1)))
    assert f"benchmarks[0]: {message}" in found
    found = complaint(write(with_size(f"{lines}\nalways: [{good}, {bad}]", n=str(good))))
    assert f"parameters[3].always[1]: must be one of the {words}, not {bad}" in found


@pytest.mark.parametrize(
    ("lines", "wrong"),
    [
        ("range: [1, 9]\nodd: true\nmultiple_of: 4", "odd: no multiple of 4 is odd"),
        ("range: [1, 9]\nodd: true\npower_of_two: true", "odd: no power of two is odd but 1"),
        ("range: [1, 9]\npower_of_two: true\nmultiple_of: 6", "no power of two is a multiple of 6"),
        ("range: [1, 9]\nmultiple_of: 0", "multiple_of: must be from 1 to 2147483647, not 0"),
        (
            "range: [33, 63]\nmultiple_of: 32",
            "range: the range of n is empty: there are no multiples of 32 from 33 to 63",
        ),
        ("range: [q, 9]\nmultiple_of: 32", "range: unknown size q"),
        ("range: [x*, 9]\nmultiple_of: 32", "range[0]: 'x*' is not an arithmetic expression"),
        ("range: [0, 64]\nmultiple_of: 32", "range[0]: must be from 1 to 2147483647, not 0"),
        ("range: [1, 9]\neven: true", "even: unknown key for a size"),
        ("range: [1, 100]\ncase_range: [1, 200]\nalways: [300]", "always[0]: must be in the range"),
        ("range: [1, 9]\ncase_range: [20, 30]", "case_range: the case_range of n is empty: 20 is"),
        ("range: [1, 9]\ncase_range: [1]", "case_range: must have 2 items, not 1"),
        ("equals: 4\nmultiple_of: 2", "multiple_of: what equals something is not drawn"),
    ],
)
def test_what_cannot_be(write: Write, lines: str, wrong: str) -> None:
    text = with_size(lines, n="8" if "range: [33" not in lines else "32")
    assert wrong in complaint(
        write(text.replace("{n: 8, ", "{" if "equals" in lines else "{n: 8, "))
    )


def test_a_range_of_cases_is_narrower(write: Write) -> None:
    text = with_size("range: [1, 5000]\ncase_range: [1, 64]")
    problem = load_problem(write(text))
    assert parse_case(problem, "n=4000,s=1").sizes["n"] == 4000
    with pytest.raises(UsageError, match="n must be from 1 to 5000, not 5001"):
        parse_case(problem, "n=5001,s=1")
    found = complaint(write(text.replace("{n: 1000", "{n: 6000", 1)))
    assert "benchmarks[0]: n must be from 1 to 5000, not 6000" in found


@pytest.fixture
def grouped(write: Write) -> Problem:
    """A problem with a size that solution does not get."""
    text = with_size("equals: 4*groups").replace("{n: 1000", "{groups: 250")
    text = text.replace("parameters:", "sizes:\n  - {name: groups, range: [1, 8]}\nparameters:")
    return load_problem(write(text.replace("[n]", "[groups, 4]")))


def test_sizes_that_are_not_passed(grouped: Problem) -> None:
    assert grouped.complete
    assert [p.name for p in grouped.unpassed] == ["groups"]
    assert [p.name for p in grouped.sizes] == ["groups", "n"]
    assert "groups" not in c_prototype(grouped) + python_signature(grouped)
    assert grouped.benchmarks[0] == {"groups": 250, "n": 1000, "s": 0.5}
    case = parse_case(grouped, "groups=3,s=1")
    assert case.values == {"groups": 3, "n": 12, "s": 1.0}
    assert case.spec == "groups=3,s=1.0"


@pytest.mark.parametrize(
    ("entry", "wrong"),
    [
        ("{name: g, range: [1, 8], type: int}", "sizes[0].type: unknown key for a size that is no"),
        ("{name: n, range: [1, 8]}", "parameters[3].name: n is already the name of the parameter"),
        ("{range: [1, 8]}", "sizes[0].name: is missing"),
        ("{name: g, range: [1, q]}", "sizes[0].range: unknown size q"),
        ("{name: g, range: [g, 9]}", "sizes[0].range: g depends on itself"),
    ],
)
def test_mistakes_in_sizes_that_are_not_passed(write: Write, entry: str, wrong: str) -> None:
    text = MINIMAL.replace("parameters:", f"sizes:\n  - {entry}\nparameters:")
    text = text.replace("{n: 1", "{g: 1, n: 1" if "name: g" in entry else "{n: 1")
    assert wrong in complaint(write(text))


def test_a_problem_of_fixed_types(write: Write) -> None:
    text = MINIMAL.replace('"[VAR]"', "int").replace("dtypes: [float32, float16]\n", "")
    problem = load_problem(write(text))
    assert (problem.dtypes, problem.missing) == (("int32",), ())
    found = complaint(write(text.replace("cases: 4", "cases: 4\ndtypes: [int32]")))
    assert "dtypes: no parameter has the type [VAR]: leave this out" in found
    mixed = MINIMAL.replace('"[VAR]"', "half", 1).replace("dtypes: [float32, float16]\n", "")
    assert load_problem(write(mixed)).missing == ("no dtypes",)


def test_a_single_element(write: Write) -> None:
    problem = load_problem(write(MINIMAL.replace("shape: [n]", "shape: []")))
    assert problem.complete
    assert problem.tensors_of(parse_case(problem, "n=5,s=1"), "float32")[0].shape == ()


def test_constants(write: Write) -> None:
    text = with_size("equals: 8").replace("{n: 1000, ", "{")
    scalar = text[text.index("  - name: s\n") : text.index("  - name: y\n")]
    problem = load_problem(write(text.replace(scalar, "").replace("s: 0.5", "")))
    assert problem.complete, problem.missing
    assert (problem.sizes[0].low, problem.sizes[0].high) == (8, 8)
    assert parse_case(problem, "").sizes == {"n": 8}
    found = complaint(write(text.replace("equals: 8", "equals: 0 - 1")))
    assert "equals: '0 - 1' is -1, not from 1 to 2147483647" in found
