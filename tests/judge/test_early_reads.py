"""Looks at a batch at work, whose calls are made step by step."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from support.host_clock import HostClock
from torch import Tensor

from harness.device.cpu import CpuDevice
from harness.judge.batch import Batch
from harness.judge.early_reads import EarlyReads, Found
from harness.judge.layout import lay_out
from harness.judge.task import Task
from harness.problem.case import Case
from harness.problem.format.load import load_problem
from harness.problem.reference import Reference

CASE = Case(sizes={"n": 5000}, scalars={"s": 0.5})
CALLS = 6


class Steps:
    """The calls of a batch, made by hand: each adds the scalar to its input."""

    def __init__(self, batch: Batch) -> None:
        self._batch = batch

    def read(self, call: int) -> Tensor:
        """The input of a call as it is now."""
        inputs = self._batch.layout.slots[0]
        rows = self._batch.layout.rows(self._batch.bytes, inputs)[call, : inputs.bytes]
        return rows.view(inputs.dtype).clone()

    def write(self, call: int, values: Tensor, part: slice = slice(None)) -> None:
        """Write the answer for ``values``, or a part of it."""
        (output,) = self._batch.outputs(call).values()
        output[part] = values[part] + 0.5

    def run(self, call: int) -> None:
        """Make a whole call."""
        self.write(call, self.read(call))


def watched(task: Task, calls: int, work: Callable[[Steps, Callable[[], None]], None]) -> Found:
    """What looks come to that are taken by ``work``, which makes the calls."""
    with closing(task.device.arena(lay_out(task, CASE, calls).size)) as arena:
        batch = Batch(task, CASE, arena, calls)
        reads = EarlyReads(task, CASE, batch)
        assert reads.possible == (calls > 1)
        if not reads.possible:
            return Found(0)
        reads.prepare("others")
        reads.fill("inputs")
        work(Steps(batch), reads.look)
        return reads.found()


def test_calls_in_a_row_are_right_whenever_they_are_looked_at(shift_task: Task) -> None:
    def work(steps: Steps, look: Callable[[], None]) -> None:
        look()
        for call in range(CALLS):
            values = steps.read(call)
            look()
            steps.write(call, values, slice(0, 3000))
            look()
            steps.write(call, values)
            look()

    found = watched(shift_task, CALLS, work)
    assert found.early is None
    # Before the first call has begun there is nothing to see, nor is there in the last one.
    assert found.looks == 3 * CALLS - 5


@pytest.mark.parametrize("first", [0, 2, CALLS - 2])
def test_a_call_that_reads_before_the_one_before_has_ended_is_found(
    shift_task: Task, first: int
) -> None:
    def work(steps: Steps, look: Callable[[], None]) -> None:
        for call in range(first):
            steps.run(call)
        one, two = steps.read(first), steps.read(first + 1)
        steps.write(first, one, slice(0, 4900))
        look()
        steps.write(first, one)
        steps.write(first + 1, two)
        for call in range(first + 2, CALLS):
            steps.run(call)

    assert watched(shift_task, CALLS, work) == Found(1, first + 1)


def test_a_call_that_reads_a_part_early_is_found(shift_task: Task) -> None:
    def work(steps: Steps, look: Callable[[], None]) -> None:
        one, early = steps.read(0), steps.read(1)
        steps.write(0, one, slice(0, 10))
        look()
        steps.write(0, one)
        late = steps.read(1)
        late[:7] = early[:7]
        steps.write(1, late)
        for call in range(2, CALLS):
            steps.run(call)

    assert watched(shift_task, CALLS, work).early == 1


def test_calls_that_are_all_computed_first_are_found(shift_task: Task) -> None:
    def work(steps: Steps, look: Callable[[], None]) -> None:
        values = [steps.read(call) for call in range(CALLS)]
        steps.run(0)
        look()
        for call, each in enumerate(values):
            steps.write(call, each)

    assert watched(shift_task, CALLS, work).early == 2


def test_what_ended_while_inputs_were_replaced_says_nothing(
    shift_task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next call may have begun meanwhile, and be wrong through no fault of its own."""

    def work(steps: Steps, look: Callable[[], None]) -> None:
        one, two = steps.read(0), steps.read(1)
        steps.write(0, one, slice(0, 10))
        reads = look.__self__  # type: ignore[attr-defined]
        copied = reads._rows[0].index_copy_

        def ends(*arguments: object) -> None:
            copied(*arguments)
            steps.write(0, one)
            steps.write(1, two)

        monkeypatch.setattr(reads._rows[0], "index_copy_", ends)
        look()
        for call in range(2, CALLS):
            steps.run(call)

    assert watched(shift_task, CALLS, work) == Found(0)


def test_an_output_that_is_never_written_says_nothing(shift_task: Task) -> None:
    def work(steps: Steps, look: Callable[[], None]) -> None:
        for call in range(1, CALLS):
            steps.run(call)
        look()

    assert watched(shift_task, CALLS, work) == Found(0)


def test_a_single_call_has_no_next_one(shift_task: Task) -> None:
    assert watched(shift_task, 1, lambda *_: None) == Found(0)


LARGE = Case(sizes={"n": 70_000}, scalars={"s": 0.5})


class FakeTimer:
    """Tells the words below ``data`` that are in ``cached`` calls from all others."""

    cached_below = 500.0

    def __init__(self) -> None:
        self.cached: set[int] = set()
        self.inputs: Any = None

    def measure(self, words: Tensor, places: Tensor, cycles: Tensor) -> None:
        assert words.dtype is places.dtype is cycles.dtype is torch.int64
        calls = (places * 8 - self.inputs.base) // self.inputs.stride
        cycles.copy_(torch.tensor([300 if int(c) in self.cached else 700 for c in calls]))


class Card(CpuDevice):
    """The host, as if reads from it could be timed."""

    def __init__(self) -> None:
        super().__init__()
        self.timer = FakeTimer()

    def read_times(self) -> FakeTimer:  # type: ignore[override]
        return self.timer


@contextmanager
def on_card(task: Task, case: Case, calls: int) -> Iterator[tuple[EarlyReads, Steps, set[int]]]:
    """Looks at a filled batch, its calls, and the numbers of those whose inputs are cached."""
    device = Card()
    task = replace(task, device=device)
    with closing(device.arena(lay_out(task, case, calls).size)) as arena:
        batch = Batch(task, case, arena, calls)
        device.timer.inputs = batch.layout.slots[0]
        reads = EarlyReads(task, case, batch)
        reads.prepare("others")
        reads.fill("inputs")
        yield reads, Steps(batch), device.timer.cached


def cached(task: Task, case: Case, ahead: bool, *, calls: int = 40) -> tuple[float, ...]:
    """What each of the looks sees whose call has the next one's inputs fetched, if ``ahead``."""
    with on_card(task, case, calls) as (reads, steps, in_cache):
        for call in range(calls):
            values = steps.read(call)
            steps.write(call, values, slice(0, 100))
            in_cache.add(call)
            if ahead:
                in_cache.add(call + 1)
            if call in (3, 4, 9, 20):
                reads.look()
                in_cache.add(call + 1)  # its inputs were replaced
            steps.write(call, values)
        return reads.found().cached


def test_inputs_that_are_fetched_ahead_are_seen_in_the_cache(shift_task: Task) -> None:
    assert cached(shift_task, LARGE, True) == (1.0, 1.0, 1.0)
    assert cached(shift_task, LARGE, False) == (0.0, 0.0, 0.0)


def test_what_looks_have_touched_themselves_does_not_count(shift_task: Task) -> None:
    # The look at call 20 finds what that at call 3 compared with: (4 + 39) // 2.
    assert len(cached(shift_task, LARGE, True)) == 3
    # The last call but one has no later one to compare with.
    assert len(cached(shift_task, LARGE, True, calls=22)) == 3


class Clocked(CpuDevice):
    """The host, with a clock of its own."""

    def clock(self) -> HostClock:  # type: ignore[override]
        return HostClock()


@pytest.mark.parametrize(
    ("whole", "begun", "done"),
    [(0, 0, 0), (0, 3000, 0), (1, 0, 0), (1, 3000, 1), (3, 4999, 3), (5, 3000, None)],
)
def test_calls_before_the_last_that_has_begun_are_done(
    shift_task: Task, whole: int, begun: int, done: int | None
) -> None:
    def work(steps: Steps, look: Callable[[], None]) -> None:
        for call in range(whole):
            steps.run(call)
        values = steps.read(whole)
        steps.write(whole, values, slice(0, begun))
        look()
        steps.write(whole, values)
        for call in range(whole + 1, CALLS):
            steps.run(call)

    progress = watched(replace(shift_task, device=Clocked()), CALLS, work).progress
    assert (progress and progress.done) == done  # the last one has no next


def test_a_call_that_shares_a_word_with_what_it_lacks_is_not_done(shift_task: Task) -> None:
    """Two float32 stand in each word that is looked at, of which the first is still to come."""

    def work(steps: Steps, look: Callable[[], None]) -> None:
        values = steps.read(0)
        steps.write(0, values, slice(1, None))
        look()
        for call in range(CALLS):
            steps.run(call)

    progress = watched(replace(shift_task, device=Clocked()), CALLS, work).progress
    assert progress is not None
    assert progress.done == 0


def test_a_batch_that_was_over_before_anybody_looked_says_nothing(shift_task: Task) -> None:
    with on_card(shift_task, LARGE, calls=2) as (reads, steps, _):
        for call in range(2):
            steps.run(call)
        assert reads.found() == Found(0)


def test_reads_are_timed_before_many_words_of_outputs_are_read(
    shift_task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    """These leave little else in a card's cache: what was fetched ahead was hardly seen after."""
    seen: list[int | str] = []
    unchanged, measure = EarlyReads._unchanged, FakeTimer.measure

    def looked(reads: EarlyReads, columns: slice) -> Tensor:
        found = unchanged(reads, columns)
        seen.append(found.numel())
        return found

    def timed(timer: FakeTimer, *arguments: Tensor) -> None:
        seen.append("timed")
        measure(timer, *arguments)

    monkeypatch.setattr(EarlyReads, "_unchanged", looked)
    monkeypatch.setattr(FakeTimer, "measure", timed)
    cached(shift_task, LARGE, True, calls=22)
    few, *then = seen[:4]
    assert few == 22 * 16
    assert then == ["timed", "timed", 22 * 1024]


def test_a_call_taken_for_ended_too_soon_tells_nothing(shift_task: Task) -> None:
    """Of its few words all may be written: then the call after the next one was timed."""
    with on_card(shift_task, LARGE, calls=22) as (reads, steps, in_cache):
        in_cache |= {5, 7}
        for call in range(22):
            values = steps.read(call)
            if call == 5:
                steps.write(call, values, slice(0, 69_900))
                reads.look()
            steps.write(call, values)
        assert reads.found() == Found(1)


def test_small_inputs_are_not_timed(shift_task: Task) -> None:
    assert cached(shift_task, CASE, True) == ()


def in_place(task: Task, *, ahead: bool) -> Found:
    """Calls that add to what an output holds, and may read two of these at once."""
    calls = 4
    # The other output is as small as a word, and says nothing.
    case = Case(sizes={"m": 60, "n": 50})
    with closing(task.device.arena(lay_out(task, case, calls).size)) as arena:
        batch = Batch(task, case, arena, calls)
        reads = EarlyReads(task, case, batch)
        reads.prepare("others")
        reads.fill("inputs")
        slots = {each.tensor.name: each for each in batch.layout.slots}

        def values(name: str, call: int) -> Tensor:
            return batch.layout.elements(batch._bytes, slots[name])[call]

        def answers(call: int) -> tuple[Tensor, Tensor]:
            total = values("total", call) + values("a", call).T.to(torch.float64)
            return total, (values("counts", call) % 2).to(torch.uint8)

        following = answers(0)
        for call in range(calls):
            total, parity = following if ahead else answers(call)
            values("parity", call).copy_(parity)
            values("total", call)[:20] = total[:20]
            following = answers(min(call + 1, calls - 1))
            reads.look()
            values("total", call).copy_(total)
        return reads.found()


def test_an_output_that_is_an_input_as_well_tells_too(blend_task: Task) -> None:
    honest = in_place(blend_task, ahead=False)
    assert honest.early is None
    assert honest.looks >= 2
    assert in_place(blend_task, ahead=True).early is not None


def test_gaps_between_rows_are_not_waited_for() -> None:
    problem = load_problem(Path(__file__).parents[1] / "support/packages/rows")
    task = Task(problem, Reference(problem), "float32", CpuDevice(), "a secret")
    sizes = {"m": 12, "n": 8, "ldx": 16, "ldy": 16}  # half of each row is a gap
    case = Case(sizes=sizes, scalars={"s": 0.5})
    calls = 5
    with closing(task.device.arena(lay_out(task, case, calls).size)) as arena:
        batch = Batch(task, case, arena, calls)
        reads = EarlyReads(task, case, batch)
        reads.prepare("others")
        reads.fill("inputs")
        slots = {each.tensor.name: each for each in batch.layout.slots}
        for call in range(calls):
            x, y, sums = (
                batch.layout.elements(batch._bytes, slots[name])[call]
                for name in ("x", "y", "sums")
            )
            new = y + 0.5 * x
            y[:3] = new[:3]
            reads.look()
            y.copy_(new)
            sums.copy_(new.sum(1))
        found = reads.found()
    assert found.early is None
    assert found.looks >= calls - 2  # one of the calls may have values that change nothing


def zeroed(task: Task) -> Task:
    """The task with outputs that are 0 before every call."""
    problem = load_problem(Path(__file__).parents[1] / "support/packages/shift")
    parameters = tuple(replace(p, zeroed=p in problem.outputs) for p in problem.parameters)
    return replace(task, problem=replace(problem, parameters=parameters))


class Adds(Steps):
    """Calls that add to their output, which must be 0 before."""

    def write(self, call: int, values: Tensor, part: slice = slice(None)) -> None:
        (output,) = self._batch.outputs(call).values()
        output[part] += values[part] + 0.5


@pytest.mark.parametrize("early", [False, True])
def test_outputs_that_start_as_zero_are_looked_at_as_well(shift_task: Task, early: bool) -> None:
    def work(steps: Steps, look: Callable[[], None]) -> None:
        adds = Adds(steps._batch)
        ahead = adds.read(0)
        for call in range(CALLS):
            values = ahead if early else adds.read(call)
            ahead = adds.read(min(call + 1, CALLS - 1))
            adds.write(call, values, slice(0, 2500))
            look()
            adds.write(call, values, slice(2500, 5000))

    found = watched(zeroed(shift_task), CALLS, work)
    assert found == (Found(CALLS - 1, 1) if early else Found(CALLS - 1))
