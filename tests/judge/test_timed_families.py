"""A few calls of a timed batch have values of another family, and nobody can tell which."""

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from harness.device.cpu import CpuDevice
from harness.judge.batch import Batch, BatchMismatch
from harness.judge.layout import lay_out
from harness.judge.task import Task
from harness.judge.timed_families import MOST, ONE_IN, other_families
from harness.problem.case import TIMED_FAMILIES, Case
from harness.problem.format.load import load_problem

PROBLEMS = Path(__file__).parents[2] / "problems"
CASE = Case(sizes={"n": 4})
FINITE = tuple(f for f in TIMED_FAMILIES if f != "nonfinite")


@given(st.integers(2, 2000), st.text(max_size=8), st.lists(st.sampled_from(FINITE), min_size=1))
def test_every_batch_of_several_calls_has_some(calls: int, seed: str, families: list[str]) -> None:
    found = other_families(families, CASE, calls, seed)
    assert 1 <= len(found) <= MOST
    assert len(found) <= max(1, calls // ONE_IN)
    assert all(0 <= call < calls for call in found)
    assert {case.family for case in found.values()} <= set(families)
    assert all(replace(case, family="declared") == CASE for case in found.values())
    assert found == other_families(families, CASE, calls, seed), "the same for both sides"


@given(st.integers(1, 100), st.text(max_size=8))
def test_none_where_values_matter_or_are_not_drawn(calls: int, seed: str) -> None:
    assert other_families((), CASE, calls, seed) == {}
    assert other_families(FINITE, replace(CASE, family="large"), calls, seed) == {}


def test_a_single_call_has_another_family_now_and_then() -> None:
    odd = [bool(other_families(FINITE, CASE, 1, f"{seed}")) for seed in range(1000)]
    assert 200 < sum(odd) < 300


def test_places_and_families_are_spread() -> None:
    """Every call and every family comes up; sparse in a third of all, since it alone shows most."""
    places: Counter[int] = Counter()
    kinds: Counter[str] = Counter()
    for seed in range(3000):
        for call, case in other_families(FINITE, CASE, 10, f"{seed}").items():
            places[call] += 1
            kinds[case.family] += 1
    assert set(places) == set(range(10))
    assert max(places.values()) < 1.3 * min(places.values())
    assert set(kinds) == set(FINITE)
    assert 0.3 < kinds["sparse"] / 3000 < 0.45
    assert min(kinds.values()) > 250


Kernel = Callable[..., Mapping[str, Tensor]]


def judged(slug: str, kernel: Kernel, case: Case, calls: int, seed: str) -> BatchMismatch | None:
    """What the judge finds in a timed batch that ``kernel`` computed."""
    problem = load_problem(PROBLEMS / slug)
    task = Task(problem, problem.reference(), "float32", CpuDevice(), "a secret")
    with closing(task.device.arena(lay_out(task, case, calls).size)) as arena:
        batch = Batch(task, case, arena, calls)
        batch.fill(seed)
        for call in range(calls):
            given = batch.inputs(call)
            for name, value in kernel(**given, **case.values).items():
                batch.outputs(call)[name].copy_(value)
        found = batch.check()
        del batch
    return found


def softmax(input_matrix: Tensor, m: int, n: int) -> dict[str, Tensor]:
    e = (input_matrix - input_matrix.amax(1, keepdim=True)).exp()
    return {"output_matrix": e / e.sum(1, keepdim=True)}


def softmax_of_a_known_maximum(input_matrix: Tensor, m: int, n: int) -> dict[str, Tensor]:
    """A softmax keyed to the timed sizes: there the maximum is about −96."""
    e = (input_matrix + 96.0).exp()
    return {"output_matrix": e / e.sum(1, keepdim=True)}


def mean(input_matrix: Tensor, scale: float, m: int, n: int) -> dict[str, Tensor]:
    top = input_matrix.amax(1, keepdim=True)
    columns = torch.arange(n)
    largest = torch.where(input_matrix == top, columns, n).amin(1)
    return {"row_mean": input_matrix.sum(1) / n, "largest": largest}


def mean_of_a_sample(input_matrix: Tensor, scale: float, m: int, n: int) -> dict[str, Tensor]:
    return {**mean(input_matrix, scale, m, n), "row_mean": input_matrix[:, : n // 8].mean(1)}


def known_mean(input_matrix: Tensor, scale: float, m: int, n: int) -> dict[str, Tensor]:
    return {**mean(input_matrix, scale, m, n), "row_mean": torch.full((m,), -2.0)}


def layer_norm(shift: float | None) -> Kernel:
    """Statistics in one pass around ``shift``; around the true mean for None, in a second one."""

    def run(
        input_matrix: Tensor, gamma: Tensor, beta: Tensor, eps: float, m: int, n: int
    ) -> dict[str, Tensor]:
        middle = input_matrix.mean(1, keepdim=True) if shift is None else torch.tensor(shift)
        around = input_matrix - middle
        off = around.mean(1, keepdim=True)
        rstd = ((around * around).mean(1, keepdim=True) - off * off + eps).clamp(1e-9).rsqrt()
        return {
            "output_matrix": (around - off) * rstd * gamma + beta,
            "mean": (middle + off)[:, 0],
            "rstd": rstd[:, 0],
        }

    return run


NORM = Case(sizes={"m": 64, "n": 256}, scalars={"eps": 1e-5})
LONG = Case(sizes={"m": 1, "n": 4_000_000}, scalars={"scale": 1 / 4_000_000})


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("slug", "case", "honest", "hostile"),
    [
        ("softmax", Case(sizes={"m": 64, "n": 256}), softmax, softmax_of_a_known_maximum),
        ("layer-norm", NORM, layer_norm(None), layer_norm(1000.0)),
        ("row-reduction", LONG, mean, mean_of_a_sample),
        ("row-reduction", LONG, mean, known_mean),
    ],
    ids=["softmax", "layer norm", "mean of a sample", "known mean"],
)
def test_right_for_declared_values_only_is_wrong(
    slug: str, case: Case, honest: Kernel, hostile: Kernel
) -> None:
    """In every batch there are values that show it; an honest kernel passes them all.

    Declared ones alone do not, but of long sums, whose mean they leave no room for.
    """
    batches = 1 if case is LONG else 12
    for seed in range(batches):
        found = judged(slug, hostile, case, 2, f"{seed}")
        assert found is not None
        assert found.mismatch is not None
        assert judged(slug, honest, case, 2, f"{seed}") is None
    alone = replace(load_problem(PROBLEMS / slug), benchmark_values=("declared",))
    task = Task(alone, alone.reference(), "float32", CpuDevice(), "a secret")
    with closing(task.device.arena(lay_out(task, case, 2).size)) as arena:
        batch = Batch(task, case, arena, 2)
        batch.fill("0")
        for call in range(2):
            for name, value in hostile(**batch.inputs(call), **case.values).items():
                batch.outputs(call)[name].copy_(value)
        assert (batch.check() is None) is (case is not LONG)
        del batch


def test_a_profile_has_declared_values_alone_and_so_has_a_warm_up() -> None:
    problem = load_problem(PROBLEMS / "softmax")
    task = Task(problem, problem.reference(), "float32", CpuDevice(), "a secret")
    case = Case(sizes={"m": 8, "n": 64})
    with closing(task.device.arena(lay_out(task, case, 8).size)) as arena:
        for fill in (lambda b: b.fill("s"), lambda b: b.fill_for_warm_up("s")):
            batch = Batch(task, case, arena, 8, alike=True)
            fill(batch)
            x = batch.layout.elements(batch._bytes, batch.layout.slots[0])
            assert float((x + 100).abs().max()) < 6
            del x
        batch = Batch(task, case, arena, 8)
        batch.fill("s")
        first = batch._bytes.clone()
        batch.fill("s")
        assert torch.equal(first, batch._bytes), "both sides get the same"
        assert len(batch._contents.others("s")) == 1
        (call,) = batch._contents.others("s")
        x = batch.layout.elements(batch._bytes, batch.layout.slots[0])
        assert float((x[[c for c in range(8) if c != call]] + 100).abs().max()) < 6
        assert float((x[call] + 100).abs().max()) > 6
        del x
        del batch
