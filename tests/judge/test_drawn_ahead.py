"""Inputs of the next cases are drawn while a case runs: the same values, in bounded memory."""

import os
import threading
from contextlib import closing
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest
import torch
from support.noted_source import NotedSource
from torch import Tensor

from harness.device.cpu import CpuDevice, HostArena
from harness.errors import ProblemError
from harness.judge import drawn_ahead
from harness.judge.batch import Batch
from harness.judge.drawn_ahead import DrawnAhead, Wanted, by_drawing, drawing, inputs_of
from harness.judge.layout import lay_out
from harness.judge.task import Task
from harness.problem.case import Case, CaseLimits
from harness.problem.gradable import Gradable, InputSource
from harness.problem.sampling.footprint import CALLS
from harness.problem.terms import Direction, TensorSpec

NEVER = 20.0
"""Seconds after which something that must come has not."""


def spec(name: str, length: int = 4) -> TensorSpec:
    return TensorSpec(
        name=name, dtype="float32", shape=(length,), strides=(1,), direction=Direction.IN
    )


CASE = Case(sizes={}, scalars={}, label="one")


def ahead(source: NotedSource, *names: str, most_bytes: int = 1 << 20) -> closing[DrawnAhead]:
    wanted = [Wanted((spec(name),), CASE, "0") for name in names]
    return closing(DrawnAhead(source, 2, wanted, most_bytes))


def test_cases_have_the_same_bytes_as_without(blend_task: Task) -> None:
    problem = blend_task.problem
    cases = problem.draw_cases("seed", dtype="float16", room=CaseLimits())[:6]
    wanted = [
        Wanted((tensor,), case, f"a seed/{call}")
        for case in cases
        for tensor in problem.tensors_of(case, "float16")
        if tensor.direction is not Direction.OUT
        for call in range(CALLS)
    ]
    assert len(wanted) > 2 * len(cases)
    with closing(DrawnAhead(problem.inputs(), 4, wanted, 1 << 12)) as inputs:
        for case in cases:
            filled = []
            for source in (inputs, None):
                arena = HostArena(lay_out(blend_task, case, CALLS, portable=True).size)
                batch = Batch(blend_task, case, arena, CALLS, portable=True, inputs=source)
                batch.fill("a seed")
                filled.append(batch.bytes.clone())
                arena.close()
            assert torch.equal(*filled)


def test_it_draws_before_it_is_asked_and_each_tensor_once() -> None:
    source = NotedSource()
    with ahead(source, "a", "b", "c") as inputs:
        for _ in range(3):
            assert source.drew.acquire(timeout=NEVER)
        for name in "abc":
            assert inputs.draw(spec(name), CASE, "0").tolist() == [ord(name)] * 4
        assert sorted(source.asked) == ["a", "b", "c"]


def test_one_thread_draws_what_is_drawn_together() -> None:
    threads: dict[str, int] = {}

    class Telling(NotedSource):
        def draw(self, tensor: TensorSpec, case: Case, seed: str) -> Tensor:
            threads[tensor.name] = threading.get_ident()
            return super().draw(tensor, case, seed)

    source = Telling()
    together = [replace(spec(name), together=True) for name in "ac"]
    read = [together[0], spec("b"), together[1]]
    wanted = [Wanted(drawn, CASE, "0") for drawn in by_drawing(read)]
    assert [[t.name for t in each.tensors] for each in wanted] == [["a", "c"], ["b"]]
    with closing(DrawnAhead(source, 3, wanted, most_bytes=2 * 16)) as inputs:
        for _ in range(2):
            assert source.drew.acquire(timeout=NEVER)
        assert not source.drew.acquire(timeout=0.2)  # there is no room for b
        assert inputs.draw(together[1], CASE, "0").tolist() == [ord("c")] * 4
        assert not source.drew.acquire(timeout=0.2)
        assert inputs.draw(together[0], CASE, "0").tolist() == [ord("a")] * 4
        assert source.drew.acquire(timeout=NEVER)
    assert threads["a"] == threads["c"] != threading.get_ident()
    assert sorted(source.asked) == ["a", "b", "c"]


def test_what_nobody_announced_is_drawn_when_it_is_asked_for() -> None:
    source = NotedSource()
    with ahead(source, "a") as inputs:
        assert inputs.draw(spec("z"), CASE, "0").tolist() == [ord("z")] * 4
        assert inputs.draw(spec("a"), CASE, "1").tolist() == [ord("a")] * 4
        assert inputs.draw(spec("a"), CASE, "0").tolist() == [ord("a")] * 4
    assert sorted(source.asked) == ["a", "a", "z"]


def test_no_more_is_drawn_than_there_is_room_for() -> None:
    source = NotedSource()
    with ahead(source, "a", "b", "c", "d", most_bytes=2 * 16) as inputs:
        for _ in range(2):
            assert source.drew.acquire(timeout=NEVER)
        assert not source.drew.acquire(timeout=0.2)
        inputs.draw(spec("a"), CASE, "0")
        assert source.drew.acquire(timeout=NEVER)
        inputs.draw(spec("d"), CASE, "0")  # before its turn
        inputs.draw(spec("b"), CASE, "0")
        inputs.draw(spec("c"), CASE, "0")
    assert sorted(source.asked) == ["a", "b", "c", "d"]


def test_one_tensor_may_be_larger_than_the_room() -> None:
    source = NotedSource()
    with ahead(source, "a", "b", most_bytes=1) as inputs:
        assert source.drew.acquire(timeout=NEVER)
        assert not source.drew.acquire(timeout=0.2)
        for name in "ab":
            inputs.draw(spec(name), CASE, "0")


def test_a_mistake_of_the_author_shows_where_the_tensor_is_asked_for() -> None:
    source = NotedSource()
    with ahead(source, "a", "wrong", "c") as inputs:
        inputs.draw(spec("a"), CASE, "0")
        with pytest.raises(ProblemError):
            inputs.draw(spec("wrong"), CASE, "0")
        assert inputs.draw(spec("c"), CASE, "0").tolist() == [ord("c")] * 4


class Slow(NotedSource):
    """One whose first tensor takes as long as a test says."""

    def __init__(self) -> None:
        super().__init__()
        self.go_on = threading.Event()

    def draw(self, tensor: TensorSpec, case: Case, seed: str) -> Tensor:
        drawn = super().draw(tensor, case, seed)
        if tensor.name.startswith("slow"):
            assert self.go_on.wait(NEVER)
        return drawn


def test_who_asks_draws_what_nobody_has_begun() -> None:
    """All who draw may be at large tensors, of cases that come later."""
    source = Slow()
    together = [replace(spec(name), together=True) for name in "bc"]
    wanted = [Wanted((spec(name),), CASE, "0") for name in ("slow 1", "slow 2", "a")]
    wanted.append(Wanted(tuple(together), CASE, "0"))
    with closing(DrawnAhead(source, 2, wanted, 1 << 20)) as inputs:
        for _ in range(2):
            assert source.drew.acquire(timeout=NEVER)
        for tensor in (spec("a"), *together):
            assert inputs.draw(tensor, CASE, "0").tolist() == [ord(tensor.name)] * 4
        source.go_on.set()
        for name in ("slow 2", "slow 1"):
            assert inputs.draw(spec(name), CASE, "0").tolist() == [ord("s")] * 4
    assert sorted(source.asked) == ["a", "b", "c", "slow 1", "slow 2"]


def test_only_large_tensors_are_drawn_elsewhere() -> None:
    small, large = spec("a"), replace(spec("a"), shape=(1 << 16,), strides=(1,))
    together = replace(small, together=True)
    takes = [drawn_ahead._takes_long(Wanted((each,), CASE, "0")) for each in (small, large)]
    assert takes == [False, True]
    assert drawn_ahead._takes_long(Wanted((small, together), CASE, "0"))


def test_nothing_is_drawn_after_the_end() -> None:
    source = NotedSource()
    with ahead(source, *(f"a{number}" for number in range(50)), most_bytes=3 * 16):
        pass
    drawn = len(source.asked)
    assert drawn <= 3
    assert not [each for each in threading.enumerate() if each.name.startswith("draw")]


class Elsewhere:
    """A problem with a source of its own that says what it was asked for."""

    def __init__(self, problem: Gradable, source: InputSource, *, declared: bool) -> None:
        self._problem, self._source = problem, source
        self.declared = problem.declared if declared else None

    def inputs(self) -> InputSource:
        return self._source

    def __getattr__(self, name: str) -> Any:
        return getattr(self._problem, name)


@pytest.mark.parametrize(
    ("emulated", "declared", "processors", "free", "expected"),
    [
        (False, True, 16, 2 << 30, True),
        (True, True, 16, 2 << 30, False),
        (False, False, 16, 2 << 30, False),
        (False, True, 2, 2 << 30, False),
        (False, True, 16, 1 << 30, False),
    ],
    ids=["on a GPU", "emulated", "another format", "two processors", "little memory"],
)
def test_it_is_done_on_gpus_for_packages_with_idle_processors(
    blend_task: Task,
    monkeypatch: pytest.MonkeyPatch,
    emulated: bool,
    declared: bool,
    processors: int,
    free: int,
    expected: bool,
) -> None:
    monkeypatch.setattr("harness.judge.drawn_ahead.usable_processors", lambda: processors)
    monkeypatch.setattr("harness.judge.drawn_ahead.free_bytes", lambda: free)
    source = blend_task.problem.inputs()
    problem = Elsewhere(blend_task.problem, source, declared=declared)
    device = SimpleNamespace(emulated=emulated, workplace=None)
    task = Task(
        cast(Gradable, problem), blend_task.reference, "float16", cast(CpuDevice, device), "seed"
    )
    cases = blend_task.problem.draw_cases("seed", dtype="float16", room=CaseLimits())[:2]
    with inputs_of(task, cases) as inputs:
        assert isinstance(inputs, DrawnAhead) is expected
        assert expected or inputs is source


def test_a_thread_that_takes_times_has_the_processors_beside_it_draw(
    blend_task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.judge.drawn_ahead.usable_processors", lambda: 1)
    monkeypatch.setattr("harness.judge.drawn_ahead.free_bytes", lambda: 1 << 40)
    mine = frozenset(os.sched_getaffinity(0))
    beside = frozenset({*mine, *range(max(mine) + 1, max(mine) + 4)})
    place = SimpleNamespace(beside=lambda: beside)
    device = cast(CpuDevice, SimpleNamespace(emulated=False, workplace=place))
    task = Task(blend_task.problem, blend_task.reference, "float16", device, "seed")
    seen: list[set[int]] = []

    class Asked(NotedSource):
        def draw(self, tensor: TensorSpec, case: Case, seed: str) -> Tensor:
            seen.append(os.sched_getaffinity(0))
            return super().draw(tensor, case, seed)

    with drawing(task, Asked(), [Wanted((spec("a"),), CASE, "0")]) as inputs:
        assert isinstance(inputs, DrawnAhead)
        inputs.draw(spec("a"), CASE, "0")
    assert seen == [mine]  # those of them that there are
