"""Tensors that the author's ``draw`` makes: as declared, from the secret, all of a call at once."""

import math
import pickle
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from support.problem_texts import Write

from harness.author.client import WIDE
from harness.author.messages import Kind
from harness.errors import ProblemError
from harness.problem.case import FAMILIES, parse_case
from harness.problem.format.load import load_problem
from harness.problem.package import Problem
from harness.problem.sampling import drawn

PACKAGES = Path(__file__).parents[2] / "support/author_packages"

TEXT = """---
slug: drawn
title: Whatever is drawn
parameters:
  - {name: x, type: C_TYPE, pointer: true, const: true, shape: [n], nonfinite: FLAG,
     values: {distribution: draw}}
  - {name: y, type: "[VAR]", pointer: true, const: false, shape: [n]}
  - {name: n, type: int, pointer: false, range: [1, 9]}
dtypes: [KINDS]
cases: 1
benchmarks: [{n: 9}]
cpu_benchmarks: [{n: 3}]
tolerance: {length: 1}
flops: n
bytes: n
baselines: {torch: baseline.py}
---

Of `x` and `n`: `y`.
"""
FUNCTION = "def draw(generator, family, n): ...\n"


class Returns:
    """An author's process that returns a tensor named ``x``."""

    def __init__(self, values: Sequence[complex]) -> None:
        self._values = torch.tensor(values)

    def process(self) -> AbstractContextManager["Returns"]:
        return nullcontext(self)

    def draw(self, *, tensors: Mapping[str, tuple[Kind, object]], **_: object) -> object:
        return {"x": self._values.to(WIDE[tensors["x"][0]])}, 5


@pytest.fixture(scope="module")
def csr() -> Problem:
    return load_problem(PACKAGES / "csr")


Values = Callable[..., torch.Tensor]


@pytest.fixture
def values(write: Write, monkeypatch: pytest.MonkeyPatch) -> Values:
    """The tensor ``x`` of a type when these numbers are drawn."""

    def make(
        type_: str, numbers: Sequence[complex], dtypes: str = "float32", nonfinite: bool = False
    ) -> torch.Tensor:
        monkeypatch.setattr(drawn, "authors_of", lambda *_: Returns(numbers))
        monkeypatch.setattr(drawn, "_kept", OrderedDict())
        text = TEXT.replace("C_TYPE", f'"{type_}"').replace("KINDS", dtypes)
        if nonfinite:
            text = text.replace("FLAG", "true")
        problem = load_problem(write(text.replace("nonfinite: FLAG,", ""), reference=FUNCTION))
        case = parse_case(problem, "n=2")
        (spec, _) = problem.tensors_of(case, dtypes.split(",")[0])
        return problem.inputs().draw(spec, case, "secret")

    return make


@pytest.mark.parametrize(
    ("type_", "written", "found"),
    [
        ("int", [-(2**31), 2**31 - 1], [-(2**31), 2**31 - 1]),
        ("uint8_t", [0, 255], [0, 255]),
        ("uint64_t", [0, 2**63 - 1], [0, 2**63 - 1]),
        ("int64_t", [-(2**63), 2**63 - 1], [-(2**63), 2**63 - 1]),
        ("bool", [True, False], [True, False]),
        ("bool", [1, 0], [True, False]),
        ("float", [1, 2], [1.0, 2.0]),
        ("half", [0.1, 65519.0], [0.0999755859375, 65504.0]),
        ("[VAR]", [True, False], [1.0, 0.0]),
        ("cuFloatComplex", [1j, 2.0], [1j, 2]),
        ("float", [math.nan, math.inf], None),
    ],
)
def test_numbers_as_their_type_holds_them(
    values: Values, type_: str, written: list[complex], found: list[complex] | None
) -> None:
    made = values(type_, written, nonfinite=found is None)
    assert made.tolist() == found or (found is None and made[0].isnan() and made[1].isinf())


@pytest.mark.parametrize(
    ("type_", "written", "message"),
    [
        ("int", [0, 2**31], "x holds 2147483648, and int32 ends at 2147483647"),
        ("int8_t", [-129, 0], "x holds -129, and int8 ends at -128"),
        ("size_t", [-1, 0], "x holds -1, and uint64 ends at 0"),
        ("bool", [0, 2], "x holds 2, and bool ends at 1"),
        ("half", [0.0, 65520.0], "x holds numbers too large for float16"),
        ("float", [0.0, math.nan], "x holds NaN or infinity"),
        ("[VAR]", [0.0, math.inf], "x holds NaN or infinity"),
    ],
)
def test_numbers_that_their_type_does_not_hold(
    values: Values, type_: str, written: list[complex], message: str
) -> None:
    with pytest.raises(ProblemError) as error:
        values(type_, written)
    (found,) = error.value.diagnostics
    assert found.path.name == "reference.py"
    assert (found.line, found.key, found.message) == (5, "draw", f"{message} (case n=2)")


def test_the_data_type_of_the_grade_decides(values: Values) -> None:
    assert values("[VAR]", [0.1, 2], "float16")[0].item() == 0.0999755859375
    assert values("[VAR]", [3, 2], "int32").tolist() == [3, 2]
    assert values("[VAR]", [1, 2j], "complex64, float32").tolist() == [1, 2j]
    assert values("[VAR]", [1, 2], "float32, complex64").tolist() == [1, 2]
    with pytest.raises(ProblemError, match="x holds complex numbers, not float32"):
        values("[VAR]", [1, 2j], "float32, complex64")
    with pytest.raises(ProblemError, match="x holds fractions"):
        values("[VAR]", [1, 0.5], "int32, float32")


@pytest.mark.corpus
@settings(max_examples=25, deadline=None)
@given(
    rows=st.integers(1, 40),
    cols=st.integers(1, 50),
    nnz=st.integers(1, 200),
    family=st.sampled_from([f for f in FAMILIES if f != "nonfinite"]),
    seed=st.text(max_size=8),
)
def test_structure_holds_in_every_case(
    csr: Problem, rows: int, cols: int, nnz: int, family: str, seed: str
) -> None:
    case = parse_case(csr, f"rows={rows},cols={cols},nnz={nnz},values={family}")
    specs = {spec.name: spec for spec in csr.tensors_of(case, "float32")}
    row_ptr, col = (csr.inputs().draw(specs[name], case, seed) for name in ("row_ptr", "col"))
    assert row_ptr.shape == (rows + 1,)
    assert row_ptr[0] == 0
    assert row_ptr[-1] == nnz
    assert bool((row_ptr.diff() >= 0).all())
    assert bool(((col >= 0) & (col < cols)).all())
    assert specs["row_ptr"].together
    assert not specs["val"].together


def test_the_secret_the_call_and_the_case_decide(csr: Problem) -> None:
    case = parse_case(csr, "rows=40,cols=50,nnz=200")
    (_, spec, *_) = csr.tensors_of(case, "float32")
    inputs = csr.inputs()
    first = inputs.draw(spec, case, "one/0")
    assert torch.equal(first, csr.inputs().draw(spec, case, "one/0"))
    for other, seed in (
        (case, "one/1"),
        (case, "two/0"),
        (replace(case, family="rows"), "one/0"),
    ):
        assert not torch.equal(first, inputs.draw(spec, other, seed))
    again = inputs.drawn_again(case, "one/0")
    assert sorted(again) == ["col", "row_ptr"]
    assert torch.equal(again["col"].int(), first)


def test_all_tensors_of_a_call_come_of_one_drawing(
    csr: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawings = []
    draw = drawn.AuthorsTensors.draw
    monkeypatch.setattr(
        drawn.AuthorsTensors, "draw", lambda *given: (drawings.append(given[2]), draw(*given))[1]
    )
    case = parse_case(csr, "rows=4,cols=5,nnz=20")
    row_ptr, col, *_ = csr.tensors_of(case, "float32")
    for seed in ("a/0", "a/1"):
        for spec in (row_ptr, col, row_ptr):
            csr.inputs().draw(spec, case, f"one drawing/{seed}")
    assert len(drawings) == len(set(drawings)) == 2


def test_little_is_kept(csr: Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawn, "_kept", OrderedDict())
    monkeypatch.setattr(drawn, "_most_kept", lambda: 4 * ((5 + 20) * 8 + 5 * 4))
    case = parse_case(csr, "rows=4,cols=5,nnz=20")
    (spec, *_) = csr.tensors_of(case, "float32")
    first = csr.inputs().draw(spec, case, "0")
    for number in range(1, 6):
        csr.inputs().draw(spec, case, str(number))
    assert len(drawn._kept) == 4
    assert torch.equal(csr.inputs().draw(spec, case, "0"), first)
    monkeypatch.setattr(drawn, "_most_kept", lambda: 0)
    csr.inputs().draw(spec, case, "1")
    assert len(drawn._kept) == 1


def test_each_tensor_is_brought_into_its_type_once(csr: Problem) -> None:
    case = parse_case(csr, "rows=4,cols=5,nnz=20")
    (spec, *_) = csr.tensors_of(case, "float32")
    assert csr.inputs().draw(spec, case, "once") is csr.inputs().draw(spec, case, "once")


def test_a_problem_that_draws_can_be_handed_on(csr: Problem) -> None:
    assert pickle.loads(pickle.dumps(csr)) == csr
