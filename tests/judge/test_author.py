"""Batches of problems whose author draws the inputs, or checks the answers."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor

from harness.device.choose import open_device
from harness.judge import drawn_ahead
from harness.judge.batch import Batch
from harness.judge.checker import Checker
from harness.judge.layout import lay_out
from harness.judge.task import Task
from harness.problem.case import Case, parse_case
from harness.problem.format.load import load_problem
from harness.problem.sampling import drawn, drawn_on_device
from harness.problem.sampling.drawn_on_device import DrawnOnDevice
from harness.problem.sampling.footprint import footprint

PACKAGES = Path(__file__).parents[1] / "support/author_packages"
KINDS = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]
CALLS = 70


def open_task(folder: Path, kind: str) -> Task:
    problem = load_problem(folder)
    return Task(problem, problem.reference(), "float32", open_device(kind), "a secret")


@contextmanager
def open_batch(task: Task, case: Case, calls: int, **options: bool) -> Iterator[Batch]:
    with closing(task.device.arena(lay_out(task, case, calls).size)) as arena:
        batch = Batch(task, case, arena, calls, **options)
        yield batch
        batch.__dict__.clear()


@pytest.fixture(params=KINDS)
def moved(request: pytest.FixtureRequest) -> Task:
    return open_task(PACKAGES / "moved", request.param)


CASE = Case(sizes={"m": 3, "n": 4, "ld": 6})


@pytest.fixture
def by_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where it does not work on the device."""
    monkeypatch.setattr(DrawnOnDevice, "works", lambda *_: False)


@pytest.mark.parametrize("portable", [True, False])
def test_what_is_drawn_lies_in_every_call(moved: Task, portable: bool) -> None:
    seen = set()
    with open_batch(moved, CASE, CALLS, portable=portable) as batch:
        batch.fill("seed")
        others = batch._contents.others("seed")
        assert bool(others) is not portable
        for call in range(CALLS):
            given = batch.inputs(call)
            assert bool((given["x"].diff() >= 0).all())
            sign = 1 if call in others else -1
            assert torch.equal(given["y"], sign * given["x"].float())
            seen.add(tuple(given["x"].flatten().tolist()))
        assert len(seen) == CALLS


@pytest.mark.parametrize("portable", [True, False])
def test_calls_are_checked_and_inputs_put_back(moved: Task, portable: bool) -> None:
    with open_batch(moved, CASE, CALLS, portable=portable) as batch:
        batch.fill("seed")
        assert batch._filling.first_change() is None

        def run(spoil: int | None = None) -> None:
            for call in range(CALLS):
                given, out = batch.inputs(call), batch.outputs(call)
                out["y"].copy_(given["y"] + given["x"] + 1e6 * (call == spoil))
                out["z"].copy_(given["z"] + 1)

        run()
        assert batch.check() is None
        batch.reset()
        run(spoil=17)
        found = batch.check()
        assert found is not None
        assert (found.call, found.message) == (17, "12 of 12 elements of y are wrong")
        batch.reset()
        run()
        (slots,) = batch.layout.constant
        rows = batch.layout.rows(batch.bytes, slots)
        slots.elements(rows)[5, 1, 2] += 1
        found = batch.check()
        assert found is not None
        assert (found.call, found.message) == (5, "const input x was changed (element 6)")
        assert batch.check() is None  # it was put back


@pytest.mark.usefixtures("by_processes")
def test_a_warm_up_draws_once(moved: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    # Of several at once each may find that another has pushed out what it drew.
    monkeypatch.setattr(drawn_ahead, "_MOST_DRAWERS", 1)
    monkeypatch.setattr(drawn, "_kept", type(drawn._kept)())
    drawings = []
    draw = drawn.AuthorsTensors.draw
    monkeypatch.setattr(
        drawn.AuthorsTensors, "draw", lambda *given: (drawings.append(1), draw(*given))[1]
    )
    with open_batch(moved, CASE, CALLS) as batch:
        batch.fill_for_warm_up("seed")
        assert len(drawings) == 1
        batch.fill("seed")
        assert len(drawings) <= 1 + CALLS
        monkeypatch.setattr(drawn, "_most_kept", lambda: 0)
        drawings.clear()
        batch.fill("other")  # each once, whatever is kept
        assert len(drawings) == CALLS


@pytest.mark.usefixtures("by_processes")
def test_calls_that_are_not_made_are_drawn_once(
    moved: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drawn, "_kept", type(drawn._kept)())
    with open_batch(moved, CASE, CALLS) as batch:
        batch.fill("seed", once=True)
        assert len(drawn._kept) == 1
        given = [batch.filled(call) for call in (0, CALLS - 1)]
        assert torch.equal(given[0]["x"], given[1]["x"])


def test_timed_calls_are_drawn_where_they_run(moved: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawn, "_kept", type(drawn._kept)())
    monkeypatch.setattr(drawn_on_device, "_tried", {})
    monkeypatch.setattr(drawn_on_device, "_LEAST_S", 60.0)
    monkeypatch.setattr(type(moved.device), "emulated", False)
    with open_batch(moved, CASE, CALLS) as batch:
        batch.fill("seed")
        filled = batch.bytes.clone()
        assert batch._filling.first_change() is None
        for call in (0, CALLS - 1):  # drawn again
            assert torch.equal(batch.filled(call)["x"], batch.inputs(call)["x"])
        batch.fill("other")
        assert not torch.equal(batch.bytes, filled)
        batch.fill("seed")
        assert torch.equal(batch.bytes, filled)
    assert not drawn._kept  # no process has drawn


@pytest.mark.corpus
@pytest.mark.usefixtures("by_processes")
def test_several_processes_draw_what_one_would(
    moved: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled = []
    for emulated in (True, False):
        monkeypatch.setattr(drawn, "_kept", type(drawn._kept)())
        monkeypatch.setattr(type(moved.device), "emulated", emulated)
        monkeypatch.setattr("harness.judge.drawn_ahead.usable_processors", lambda: 8)
        monkeypatch.setattr("harness.judge.drawn_ahead.free_bytes", lambda: 1 << 40)
        with open_batch(moved, CASE, CALLS) as batch:
            batch.fill("seed")
            filled.append(batch.bytes.clone())
        assert len(drawn._kept) == CALLS
    assert torch.equal(*filled)


def picks(task: Task, wrong: int | None) -> Callable[[int], tuple[dict[str, Tensor], ...]]:
    """The 2 largest of ``n`` numbers that are alike, found from behind; one call is off."""
    device = task.device.torch_device

    def each(call: int) -> tuple[dict[str, Tensor], ...]:
        x = torch.tensor([0.0, 2, 1, 2, 2], device=device) * (call + 1)
        where = torch.tensor([4, 4 if call == wrong else 3], dtype=torch.int32, device=device)
        return {"x": x}, {"largest": x[where.long()], "where": where}

    return each


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("reused", [True, False])
def test_many_calls_are_checked_at_once(kind: str, reused: bool) -> None:
    task = open_task(PACKAGES / "pick", kind)
    case = Case(sizes={"n": 5, "k": 2})
    checker = Checker(task, reused=reused)
    for wrong in (None, 0, 13, None, CALLS - 1, None):
        assert checker.all_surely_right(case, CALLS, picks(task, wrong)) is (wrong is None)


@pytest.mark.parametrize("kind", KINDS)
def test_memory_for_what_is_drawn_is_counted(kind: str) -> None:
    task = open_task(PACKAGES / "csr", kind)
    assert task.problem.declared is not None
    case = parse_case(task.problem.declared, "rows=3,cols=4,nnz=5")
    tensors = task.problem.tensors_of(case, "float32")
    assert [t.name for t in tensors if t.together] == ["row_ptr", "col"]
    apart = [replace(t, together=False) for t in tensors]
    assert footprint(tensors) >= footprint(apart) + 16 * (4 + 5)
