"""The same shapes are timed on cards of any size, and where memory runs out after all.

Everything is a thousandth of what it is on a card: vectors of 8,388,608 elements have 8192.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from support.fake_sessions import BUDGET, fake_program
from support.simulated_card import HonestSession, SimulatedCard

from harness.device.base import OutOfDeviceMemory
from harness.errors import MachineError
from harness.judge import batch, contents
from harness.judge.checker import Checker
from harness.judge.layout import lay_out
from harness.judge.task import Task
from harness.problem.case import Case
from harness.problem.format.load import load_problem
from harness.problem.reference import Reference
from harness.problem.sampling import footprint
from harness.records.measurement import Measurement
from harness.timing.budget import TimingBudget
from harness.timing.measure import measure_shape
from harness.timing.timed_program import TimedProgram

PROBLEMS = Path(__file__).parents[2] / "problems"

GB = 1 << 20
"""A thousandth of one."""

VECTORS = [Case(sizes={"n": n}) for n in (8192, 3255)]
MATRICES = Case(sizes={"m": 128, "n": 128, "k": 128}, scalars={"alpha": 0.5})
SHAPES = [("vector-add", case) for case in VECTORS] + [("gemm-multiply-leakyrelu", MATRICES)]

BLOCKS = replace(BUDGET, min_blocks=2, max_blocks=2, max_calls=80)


@pytest.fixture(autouse=True)
def a_thousandth(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Slices, too."""
    monkeypatch.setattr(contents, "SLICE", contents.SLICE // 1024)
    monkeypatch.setattr(footprint, "SLICE", footprint.SLICE // 1024)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def task_on(card: SimulatedCard, slug: str) -> Task:
    problem = load_problem(PROBLEMS / slug)
    return Task(problem, Reference(problem), "float32", card, "a secret")


def pair_on(card: SimulatedCard, task: Task) -> tuple[TimedProgram, TimedProgram]:
    one, other = (
        fake_program(task, HonestSession(task), trusted=trusted) for trusted in (False, True)
    )
    return one, other


def timed(
    task: Task, case: Case, pair: tuple[TimedProgram, TimedProgram], budget: TimingBudget = BLOCKS
) -> Measurement:
    card = task.device
    assert isinstance(card, SimulatedCard)
    with card.memory:
        result = measure_shape(task, case, *pair, budget, None, lambda _: None)
    assert isinstance(result, Measurement)
    return result


@pytest.mark.corpus
@pytest.mark.parametrize("gigabytes", [24, 80, 141])
def test_the_same_shapes_are_timed_on_cards_of_any_size(gigabytes: int) -> None:
    """One after the other, whose arenas are larger or smaller than the one's before."""
    card = SimulatedCard(gigabytes * GB)
    for slug, case in SHAPES:
        task = task_on(card, slug)
        pair = pair_on(card, task)
        assert timed(task, case, pair).time_s.value == pytest.approx(1e-5)
        for program in pair:
            share = program.calls * lay_out(task, case, 1).size / card.total
            assert 0.25 < share <= 0.3 or program.calls == BLOCKS.max_calls
        assert card.in_arenas + card.memory.peak < card.total
        for program in pair:
            program.make_room()
        assert card.in_arenas == 0


@pytest.mark.corpus
def test_all_shapes_of_a_problem_are_timed_by_the_same_runners() -> None:
    """The arenas of one shape are let go of by both before the next needs larger ones."""
    card = SimulatedCard(24 * GB)
    task = task_on(card, "vector-add")
    pair = pair_on(card, task)
    few = replace(BLOCKS, max_calls=20)
    for case, budget in zip((*VECTORS, VECTORS[0]), (few, BLOCKS, BLOCKS), strict=True):
        timed(task, case, pair, budget)
        assert len(card.arenas) == 2
    assert all(len(arena.holders) == 2 for arena in card.arenas)


@pytest.mark.parametrize("share", [0.26, 0.1, 0.04])
def test_calls_are_halved_until_an_arena_is_granted(share: float) -> None:
    card = SimulatedCard(24 * GB, largest=int(share * 24 * GB))
    task = task_on(card, "vector-add")
    pair = pair_on(card, task)
    timed(task, VECTORS[0], pair)
    first = int(0.3 * 24 * GB / lay_out(task, VECTORS[0], 1).size)
    calls = {program.calls for program in pair}
    assert len(calls) == 1
    (halved,) = calls
    assert any(abs(first // 2**step - halved) <= 1 for step in range(1, 9))
    largest = lay_out(task, VECTORS[0], halved).size
    assert largest <= share * 24 * GB < 2.3 * largest


def test_memory_that_another_program_takes_halves_the_calls() -> None:
    """Its own arena and the other program's are both given back before it is tried again."""
    card = SimulatedCard(24 * GB, others=12 * GB)
    task = task_on(card, "vector-add")
    pair = pair_on(card, task)
    timed(task, VECTORS[0], pair)
    assert card.in_arenas < 12 * GB
    assert {program.calls for program in pair} == {pair[0].calls}


@pytest.mark.parametrize("where", ["fill", "check"])
def test_what_runs_out_in_a_fill_or_a_check_halves_the_calls(
    where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    card = SimulatedCard(24 * GB)
    task = task_on(card, "vector-add")
    pair = pair_on(card, task)

    def fails(calls: int) -> None:
        if calls > 20:
            raise torch.OutOfMemoryError("no room")

    if where == "check":
        check = Checker.all_surely_right

        def checked(self: Any, case: Any, calls: int, *more: Any) -> bool:
            fails(calls)
            return check(self, case, calls, *more)

        monkeypatch.setattr(Checker, "all_surely_right", checked)
    else:
        fill = batch.Batch.fill

        def filled(self: batch.Batch, seed: str) -> None:
            fails(self.layout.calls)
            fill(self, seed)

        monkeypatch.setattr(batch.Batch, "fill", filled)
    timed(task, VECTORS[0], pair)
    assert all(8 <= program.calls <= 20 for program in pair)


def test_without_room_for_one_call_the_machine_is_at_fault_and_told_what_to_do() -> None:
    card = SimulatedCard(24 * GB, largest=60_000)
    task = task_on(card, "vector-add")
    pair = pair_on(card, task)
    with (
        card.memory,
        pytest.raises(MachineError, match="n=8192 in float32 cannot be timed") as told,
    ):
        measure_shape(task, VECTORS[0], *pair, BLOCKS, None, lambda _: None)
    assert isinstance(told.value, OutOfDeviceMemory)
    assert "end the programs that hold its memory" in str(told.value)
    assert card.in_arenas == 0
    assert min(card.asked) == lay_out(task, VECTORS[0], 1).size
