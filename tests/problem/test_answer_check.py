"""The author's ``check``: what it gets, what it may return, and what it is blamed for."""

from pathlib import Path
from typing import Any

import pytest
import torch
from support.problem_texts import Write

from harness.errors import ProblemError
from harness.judge.compare import all_surely_right, compare_all
from harness.problem.case import parse_case
from harness.problem.format.load import load_problem
from harness.problem.reference import Reference

PACKAGES = Path(__file__).parents[1] / "support/author_packages"

TEXT = """---
slug: two
title: Two outputs
parameters:
  - {name: x, type: "[VAR]", pointer: true, const: true, shape: [n], nonfinite: true}
  - {name: s, type: float, pointer: false, values: {distribution: normal}}
  - {name: y, type: "[VAR]", pointer: true, direction: inout, shape: [2, n]}
  - {name: i, type: int, pointer: true, const: false, shape: [n]}
  - {name: n, type: int, pointer: false, range: [1, 9]}
dtypes: [float32]
cases: 1
benchmarks: [{n: 9, s: 1}]
cpu_benchmarks: [{n: 3, s: 1}]
tolerance: {length: 1}
flops: n
bytes: n
baselines: {torch: baseline.py}
---

Two.
"""
FUNCTIONS = """
import torch
def reference(x, s, y, n): return {"y": y + x * s, "i": torch.arange(n, device=x.device)}
def magnitude(x, s, y, n): return {"y": y.abs() + (x * s).abs(), "i": torch.arange(n)}
"""
X = torch.tensor([1.0, 2.0, -4.0])
INPUTS = {"x": X, "y": torch.zeros(2, 3)}


class Checked:
    """The expectations of one call with a check."""

    def __init__(self, write: Write, check: str, x: torch.Tensor = X) -> None:
        problem = load_problem(write(TEXT, reference=f"{FUNCTIONS}{check}\n"))
        case = parse_case(problem, "n=3,s=0.5")
        given = INPUTS | {"x": x}
        self.known = Reference(problem).expectations(case, "float32", given)
        self.right: dict[str, torch.Tensor] = {
            "y": (x * 0.5).expand(2, 3).contiguous(),
            "i": torch.arange(3, dtype=torch.int32),
        }

    def fault(self, **changed: Any) -> Any:
        outputs = self.right | changed
        found = compare_all(outputs, self.known)
        if bool(all_surely_right(outputs, self.known)):
            assert found is None
        return found


ANY = 'def check(got, expected): return {"i": (got["i"] >= 0) & (got["i"] < 3)}'


def test_the_check_decides_about_the_outputs_that_it_judges(write: Write) -> None:
    checked = Checked(write, ANY)
    assert checked.fault() is None
    assert checked.fault(i=torch.tensor([2, 0, 2], dtype=torch.int32)) is None
    found = checked.fault(i=torch.tensor([1, -1, 9], dtype=torch.int32))
    assert (found.parameter, found.differing, found.total) == ("i", 2, 3)
    assert (found.first.index, found.first.got, found.first.expected) == ((1,), -1, 1)
    assert (found.worst.index, found.worst.got) == ((2,), 9)
    other = checked.right["y"].clone()
    other[1, 2] += 1
    found = checked.fault(y=other, i=torch.tensor([2, 0, 2], dtype=torch.int32))
    assert (found.parameter, found.differing) == ("y", 1)


def test_what_it_gets(write: Write) -> None:
    check = """
def check(got, expected, **given):
    assert sorted(given) == ["n", "s", "x", "y"]
    assert (given["n"], given["s"]) == (3, 0.5)
    for one in (got, expected):
        assert (one["y"].dtype, one["i"].dtype) == (torch.float64, torch.int64)
        assert one["y"].is_contiguous()
    assert given["x"].dtype == torch.float64
    assert given["y"].tolist() == [[0.0] * 3] * 2
    for each in (*got.values(), *expected.values(), given["x"], given["y"]):
        each.zero_()
    return {"y": torch.tensor([[True], [False]])}
"""
    checked = Checked(write, check)
    outputs = {name: x.clone() for name, x in checked.right.items()}
    transposed = torch.empty(3, 2).T.copy_(outputs["y"])
    for _ in range(2):  # whatever it did to the copies
        found = checked.fault(y=transposed)
        assert (found.parameter, found.differing, found.first.index) == ("y", 3, (1, 0))
    assert torch.equal(transposed, outputs["y"])
    assert INPUTS["x"].tolist() == X.tolist()
    assert checked.known["i"].expected.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    "check",
    [
        'def check(got): return {"y": ~(got["y"] > 9)}',
        'def check(got): return {"y": torch.tensor(True)}',
        'def check(got): return {"y": got["y"] != 9}',
    ],
)
def test_nan_is_wrong_whatever_a_check_says(write: Write, check: str) -> None:
    checked = Checked(write, check)
    spoiled = checked.right["y"].clone()
    spoiled[0, 1] = float("nan")
    found = checked.fault(y=spoiled)
    assert (found.differing, found.first.index) == (1, (0, 1))
    with_nan = Checked(write, check, torch.tensor([float("nan"), 1, 2]))
    assert with_nan.fault(y=torch.full((2, 3), float("nan"))) is None


def test_one_output_needs_no_name(write: Write) -> None:
    text = TEXT.replace("  - {name: i, type: int, pointer: true, const: false, shape: [n]}\n", "")
    functions = """
def reference(x, s, y, n): return y + x * s
def magnitude(x, s, y, n): return y.abs() + (x * s).abs()
def check(got): return got["y"] > 0
"""
    problem = load_problem(write(text, reference=functions))
    case = parse_case(problem, "n=3,s=0.5")
    known = Reference(problem).expectations(case, "float32", INPUTS)
    assert compare_all({"y": torch.ones(2, 3)}, known) is None
    assert compare_all({"y": torch.zeros(2, 3)}, known) is not None


@pytest.mark.parametrize(
    ("check", "message"),
    [
        ("def check(got): return True", "must return tensors for outputs, of y, i"),
        ('def check(got): return {"z": True}', "must return tensors for outputs, of y, i"),
        ("def check(got): return got['i'] == 1", "must return tensors for outputs, of y, i"),
        ('def check(got): return {"i": True}', "i: a bool is no tensor, for n=3,s=0.5"),
        ('def check(got): return {"i": got["i"]}', "i: must say true or false, not int64, for"),
        (
            'def check(got): return {"i": torch.ones(2) == 1}',
            "i: has shape (2,), which does not go with (3,), for",
        ),
        (
            'def check(got): return {"i": torch.ones(2, 3) == 1}',
            "i: has shape (2, 3), which does not go with (3,), for",
        ),
        (
            'def check(got): return {"i": torch.ones(3, device="meta") == 1}',
            "i: is on meta, and the output on cpu, for",
        ),
        ("def check(got): raise ValueError(7)", "ValueError: 7"),
    ],
)
def test_mistakes_of_the_author(write: Write, check: str, message: str) -> None:
    checked = Checked(write, check)
    with pytest.raises(ProblemError) as error:
        checked.fault()
    (found,) = error.value.diagnostics
    assert (found.path.name, found.key) == ("reference.py", "check")
    assert found.message.startswith(message)


@pytest.mark.parametrize(
    ("check", "message"),
    [
        ("def check(got, lenght): ...", "cannot be called with got, expected, s, n, x, y: missing"),
        ("def check(got, i): ...", "cannot be called with got, expected, s, n, x, y: missing"),
        ("check = 7", "is no function"),
    ],
)
def test_a_check_that_cannot_be_called(write: Write, check: str, message: str) -> None:
    with pytest.raises(ProblemError) as error:
        Checked(write, check)
    (found,) = error.value.diagnostics
    assert found.message.startswith(message)


def test_a_draw_that_cannot_be_called_is_told_before_it_is_needed(write: Write) -> None:
    text = TEXT.replace("nonfinite: true", "values: {distribution: draw}")
    folder = write(text, reference=f"{FUNCTIONS}\ndef draw(generator, x): ...\n")
    with pytest.raises(ProblemError, match="draw: cannot be called with generator, family, s, n:"):
        Reference(load_problem(folder))


def test_bits_that_it_cannot_cope_with_are_wrong_where_they_are_not_expected(write: Write) -> None:
    checked = Checked(write, 'def check(got, x): return {"i": x[got["i"]] < 9}')
    assert checked.fault() is None
    assert checked.fault(i=torch.tensor([2, 0, 2], dtype=torch.int32)) is None
    found = checked.fault(i=torch.tensor([2, 1, 1 << 30], dtype=torch.int32))
    assert (found.parameter, found.differing) == ("i", 2)


def test_any_order_of_equals() -> None:
    problem = load_problem(PACKAGES / "pick")
    case = parse_case(problem, "n=4,k=3")
    x = torch.tensor([1.0, 2.0, 2.0, 2.0])
    known = Reference(problem).expectations(case, "float32", {"x": x})

    def right(*where: int) -> bool:
        outputs = {
            "largest": torch.tensor([2.0, 2.0, 2.0]),
            "where": torch.tensor(where, dtype=torch.int32),
        }
        found = compare_all(outputs, known)
        assert (found is None) == bool(all_surely_right(outputs, known))
        return found is None

    assert right(1, 2, 3)
    assert right(3, 1, 2)
    assert not right(3, 1, 3)
    assert not right(0, 1, 2)
    assert not right(1, 2, 4)
    assert not right(-1, 1, 2)
