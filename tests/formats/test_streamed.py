"""Right answers piece by piece: from the host's memory, or for some rows at a time."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor

from harness.formats import rounding, sources
from harness.formats.base import Source
from harness.formats.description import FormatCase
from harness.formats.rounding import ROUGHER
from harness.formats.sources import ForeignAnswers
from harness.formats.streamed import ByRows, Held
from harness.judge.compare import all_surely_right, compare_all
from harness.problem.case import Case
from harness.problem.terms import Direction, Expectation, Streamed, TensorSpec

ROWS, COLUMNS = 10, 7
CASE = Case(sizes={}, scalars={}, label="inputs=1")


def spec(name: str, to: Direction, *shape: int, dtype: str = "float32") -> TensorSpec:
    strides = tuple(torch.empty(shape, device="meta").stride())
    return TensorSpec(name=name, dtype=dtype, shape=shape, strides=strides, direction=to)


@dataclass
class Problem:
    """One whose reference is a function of rows of ``x`` and of all of a weight."""

    case: FormatCase
    answer: Callable[[Mapping[str, Tensor], bool], Mapping[str, Tensor]]
    measured: bool = False
    redrawn: frozenset[str] = frozenset()
    source: Source = field(default_factory=lambda: SimpleNamespace(hash="a"))  # type: ignore[assignment, return-value]

    def concrete(self, case: Case) -> tuple[FormatCase, int, bool]:
        return self.case, 0, False


def right(inputs: Mapping[str, Tensor], own: bool) -> Mapping[str, Tensor]:
    y = inputs["x"].double().exp() * inputs["self.w"].double()
    return {"y": y.float().double() if own else y, "most": inputs["x"].argmax(dim=1)}


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[int, list[str], bool]]]:
    """Rows that a reference is asked for, the outputs, and whether they are its own."""
    seen: list[tuple[int, list[str], bool]] = []
    problem: list[Problem] = []

    def said(
        _: Source, case: FormatCase, inputs: Mapping[str, Tensor], *, own: bool = False, **__: Any
    ) -> Mapping[str, Tensor]:
        names = [each.name for each in case.compared]
        assert {each.name: each.shape for each in case.read} == {
            name: tuple(x.shape) for name, x in inputs.items()
        }
        seen.append((len(inputs["x"]), names, own))
        found = problem[-1].answer(inputs, own)
        assert all(found[s.name].shape == s.shape for s in case.compared)
        return {name: found[name] for name in names}

    claims: list[str] = []
    fake = SimpleNamespace(
        right=said,
        measured=lambda *_, **__: {"y": 1e-3},
        found=lambda _, claim, **__: claims.append(claim),
        claims=claims,
        problems=problem,
    )
    monkeypatch.setattr(sources, "PROBLEMS", fake)
    monkeypatch.setattr(rounding, "_CHUNK", 9)  # parts end within rows
    yield seen


def expectations(problem: Problem, inputs: Mapping[str, Tensor]) -> dict[str, Expectation]:
    sources.PROBLEMS.problems.append(problem)  # type: ignore[attr-defined]
    return ForeignAnswers(problem).expectations(CASE, "float32", inputs)


def problem(**changes: Any) -> Problem:
    case = FormatCase(
        key="inputs=1",
        tensors=(
            spec("x", Direction.IN, ROWS, COLUMNS),
            spec("y", Direction.OUT, ROWS, COLUMNS),
            spec("most", Direction.OUT, ROWS, dtype="int64"),
        ),
        sizes={}, scalars={}, timed=True, construct="", rtol=1e-4, atol=1e-4, by_rows=True,
        weights=(spec("self.w", Direction.IN, COLUMNS),),
    )  # fmt: skip
    return Problem(replace(case, **changes), right)


def inputs() -> dict[str, Tensor]:
    generator = torch.Generator().manual_seed(3)
    drawn = torch.randn(ROWS, COLUMNS, generator=generator)
    return {"x": drawn, "self.w": torch.rand(COLUMNS, generator=generator)}


WAYS: Mapping[str, Mapping[str, Any]] = {
    "host": {"answers_on_host": True},
    "rows": {"rows": 3},
    "a row": {"rows": 1},
    "all rows": {"rows": ROWS},
}


@pytest.mark.parametrize("measured", [False, True])
@pytest.mark.parametrize("errors", [{}, {"y": 0.01}])
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_pieces_are_what_the_whole_is(
    asked: list[Any], way: Mapping[str, Any], errors: Mapping[str, float], measured: bool
) -> None:
    given = inputs()
    whole = expectations(replace(problem(errors=errors), measured=measured), given)
    streamed = expectations(replace(problem(errors=errors, **way), measured=measured), given)
    for name, want in whole.items():
        one = streamed[name]
        assert isinstance(one, Streamed) and one.shape == want.shape
        assert torch.equal(one.expected, want.expected)
        torch.testing.assert_close(one.allowed, want.allowed, rtol=1e-12, atol=0)
        assert one.allowed.dtype is torch.float64
    outputs = {"y": whole["y"].expected.float(), "most": whole["most"].expected.clone()}
    assert bool(all_surely_right(outputs, streamed))
    outputs["y"][8, 5] += 1
    outputs["y"][4, 0] += 2
    found, wanted = (compare_all(outputs, known) for known in (streamed, whole))
    assert found is not None and wanted is not None
    assert (found.differing, found.first.index) == (2, (4, 0))
    assert (found.first.expected, found.first.got) == (wanted.first.expected, wanted.first.got)
    assert found.worst.index == wanted.worst.index
    outputs["y"].copy_(whole["y"].expected)
    outputs["most"][7] += 1
    found = compare_all(outputs, streamed)
    assert found is not None and (found.parameter, found.first.index) == ("most", (7,))


def test_each_piece_is_asked_for_when_it_is_compared(asked: list[Any]) -> None:
    given = inputs()
    known = expectations(problem(rows=4), given)
    assert asked == []
    y = right(given, own=False)["y"].float()
    assert bool(all_surely_right({"y": y}, {"y": known["y"]}))
    assert asked == [(4, ["y"], False), (4, ["y"], False), (2, ["y"], False)]


def test_the_size_of_all_answers_is_found_in_one_pass(asked: list[Any]) -> None:
    given = inputs()
    known = expectations(problem(rows=5, errors={"y": 0.01}), given)
    y = right(given, own=False)["y"].float()
    for _ in range(2):
        assert bool(all_surely_right({"y": y}, {"y": known["y"]}))
    assert len(asked) == 2 * 3


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_what_is_wrong_is_looked_at_by_the_references_own_answers(
    asked: list[Any], way: Mapping[str, Any]
) -> None:
    given = inputs()

    def rough(values: Mapping[str, Tensor], own: bool) -> Mapping[str, Tensor]:
        exact = right(values, own=False)
        y = exact["y"] * (1 + 1e-3) if own else exact["y"]
        return {"y": y, "most": exact["most"]}

    one = replace(problem(**way), answer=rough)
    known = expectations(one, given)
    exact = rough(given, False)
    outputs = {"y": (exact["y"] * (1 - 1e-3)).float(), "most": exact["most"]}
    assert not bool(all_surely_right(outputs, known))
    assert compare_all(outputs, known) is None
    assert sources.PROBLEMS.claims == [ROUGHER]  # type: ignore[attr-defined]
    outputs["y"][9, 6] *= 1.5
    found = compare_all(outputs, known)
    assert found is not None and (found.differing, found.first.index) == (1, (9, 6))


def test_numbers_come_in_the_same_parts_each_time() -> None:
    whole = torch.arange(20.0).reshape(10, 2)
    rows = ByRows((10, 2), 3, lambda some: whole[some])
    for numbers in (rows, Held(whole, whole.device)):
        for _ in range(2):
            assert torch.equal(torch.cat([*numbers]), whole.flatten())
    assert [len(part) for part in rows] == [6, 6, 6, 2]
