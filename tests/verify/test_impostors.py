"""What each impostor leaves in the outputs of a call."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor

from harness.device.cpu import CpuDevice
from harness.judge.layout import lay_out
from harness.problem.case import whole_case
from harness.problem.format.load import load_problem
from harness.problem.reference import Reference
from harness.problem.sampling.footprint import CALLS
from harness.progress.progress import NoProgress
from harness.verify.arithmetic.rounding import component
from harness.verify.arithmetic.survey import ReferenceTraits, survey
from harness.verify.grades import run_timed
from harness.verify.impostor import Impostor
from harness.verify.impostors import impostors
from harness.verify.trial import PackageTask, Trial, TrialMemory
from harness.verify.variants import required_formats, variants

ROOT = Path(__file__).parents[2]
SIZES = {"m": 70, "n": 65, "k": 40}
BEYOND = "takes numbers outside the declared range for its ends"


class Stage:
    """A trial of the matrix product problem, and its impostors by name."""

    def __init__(
        self,
        dtype: str,
        sizes: dict[str, int],
        alpha: float | None,
        *,
        slug: str = "gemm-multiply-leakyrelu",
        family: str = "declared",
    ) -> None:
        problem = load_problem(ROOT / "problems" / slug)
        self.task = PackageTask(problem, Reference(problem), dtype, CpuDevice(), "a secret")
        scalars = {} if alpha is None else {"alpha": alpha}
        self.case = whole_case(problem, {**sizes, **scalars}, family)
        self.arena = self.task.device.arena(lay_out(self.task, self.case, CALLS).size)
        self.memory = TrialMemory()
        self.trial = self.fresh()
        self.seen: ReferenceTraits = survey(self.task.reference, self.case, self.trial.inputs[0])
        self.impostors = {i.name: i for i in impostors(problem, dtype, self.seen)}

    def fresh(self) -> Trial:
        return Trial(self.task, self.case, 0, self.arena, self.memory)

    def play(self, name: str, call: int = 0) -> Tensor:
        """What is in the first output after an impostor's call."""
        self.trial.batch.reset()
        views = self.trial.batch.outputs(call)
        self.impostors[name].write(self.trial, call, views)
        return next(iter(views.values())).clone()

    def right(self, call: int = 0) -> Tensor:
        return self.trial.right[call]["output_matrix"]

    def input(self, name: str, call: int = 0) -> Tensor:
        return self.trial.inputs[call][name]

    def is_caught(self, name: str) -> bool:
        self.trial.batch.reset()
        impostor: Impostor = self.impostors[name]
        for call in range(CALLS):
            impostor.write(self.trial, call, self.trial.batch.outputs(call))
        return self.trial.batch.check(self.trial.expected) is not None


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    one = Stage("float32", SIZES, 0.25)
    yield one
    one.arena.close()


def test_every_impostor_is_rejected_in_an_ordinary_case(stage: Stage) -> None:
    excused = {"an earlier case's answer", "writes the first case's mean"}  # there is none yet
    excused.add(BEYOND)  # right for declared values, see below
    names = set(stage.impostors) - excused
    assert len(names) > 30
    assert {name for name in names if not stage.is_caught(name)} == set()


def test_idle_impostors_write_constants_or_nothing(stage: Stage) -> None:
    nothing = stage.play("writes nothing")
    assert bool(nothing.isnan().all())  # as the judge has poisoned it
    assert bool((stage.play("writes nothing", call=1) > 1e30).all())
    assert bool((stage.play("writes zeros") == 0).all())
    assert bool((stage.play("writes ones") == 1).all())
    assert bool(stage.play("writes NaN").isnan().all())
    assert torch.allclose(stage.play("writes its mean everywhere"), stage.right().mean())


def test_copying_impostor_repeats_a_shorter_input(stage: Stage) -> None:
    found = stage.play("copies matrix_b").flatten()
    source = stage.input("matrix_b").flatten()  # 2600 numbers for 4550
    assert torch.equal(found[:2600], source)
    assert torch.equal(found[2600:], source[:1950])
    assert torch.equal(stage.play("copies matrix_c"), stage.input("matrix_c"))


def test_remembering_impostors_write_earlier_answers(stage: Stage) -> None:
    assert torch.equal(stage.play("the previous call's answer", 0), stage.right(0))
    assert torch.equal(stage.play("the previous call's answer", 1), stage.right(0))
    assert torch.equal(stage.play("an earlier case's answer"), stage.right())
    stage.memory.answers[stage.trial.shapes] = [{"output_matrix": stage.right() * 2}] * CALLS
    stage.memory.means["output_matrix"] = 0.5
    assert torch.equal(stage.play("an earlier case's answer"), stage.right() * 2)
    assert bool((stage.play("writes the first case's mean") == 0.5).all())
    stage.memory.answers.clear()
    stage.memory.means.clear()


def untouched(x: Tensor) -> Tensor:
    return x.isnan()


def test_careless_impostors_leave_a_part_untouched(stage: Stage) -> None:
    right = stage.right()
    found = stage.play("misses the last row")
    assert torch.equal(found[:-1], right[:-1])
    assert bool(untouched(found[-1]).all())
    found = stage.play("misses the last column")
    assert torch.equal(found[:, :-1], right[:, :-1])
    assert bool(untouched(found[:, -1]).all())
    found = stage.play("misses the last tile of 32")  # 65 = 32 + 32 + 1
    assert torch.equal(found[:, :64], right[:, :64])
    assert bool(untouched(found[:, 64:]).all())
    found = stage.play("right for multiples of 32 only")
    assert torch.equal(found[:64, :64], right[:64, :64])
    assert bool(untouched(found[64:]).all())
    assert bool(untouched(found[:, 64:]).all())
    found = stage.play("transposed")
    assert torch.equal(found.flatten(), right.T.flatten())


def test_impostors_ignore_one_argument(stage: Stage) -> None:
    a, b, c = (stage.input(f"matrix_{x}").double() for x in "abc")
    product = a @ b * c
    relu = product.clamp(min=0).float()
    assert torch.equal(stage.play("takes alpha for 0"), relu)
    assert torch.equal(stage.play("takes alpha for 1"), product.float())
    assert bool((stage.play("takes matrix_c for zeros") == 0).all())
    plain = a @ b
    want = torch.where(plain >= 0, plain, plain * 0.25).float()
    assert torch.equal(stage.play("takes matrix_c for ones"), want)
    less = a[:, :-1] @ b[:-1] * c
    less = torch.where(less >= 0, less, less * 0.25).float()
    for name in ("misses the last of matrix_a along k", "skips the last term of every sum"):
        assert torch.allclose(stage.play(name), less)


def test_imprecise_impostors_are_ordered_by_error(stage: Stage) -> None:
    right = stage.right()
    errors = {
        name: float((stage.play(name) - right).abs().max())
        for name in stage.impostors
        if stage.impostors[name].precision
    }
    assert set(errors) == {
        "factors in tf32", "factors in bfloat16", "results in tf32", "results in bfloat16",
        "sums in float16", "sums in bfloat16", "factors in two bfloat16 numbers",
    }  # fmt: skip
    assert 0 < errors["factors in two bfloat16 numbers"] < errors["factors in tf32"] / 16
    assert 0 < errors["factors in tf32"] < errors["factors in bfloat16"] < 1
    assert 0 < errors["sums in float16"] < errors["sums in bfloat16"] < 10
    assert torch.equal(stage.play("results in bfloat16"), right.bfloat16().float())


def test_what_is_right_for_declared_values_is_wrong_for_others(stage: Stage) -> None:
    assert torch.equal(stage.play(BEYOND), stage.right())
    half = stage.play("takes half of matrix_a along k for the whole")
    a = stage.input("matrix_a").double()
    a[:, 20:] = a[:, :20]
    product = a @ stage.input("matrix_b").double() * stage.input("matrix_c").double()
    assert torch.allclose(half, torch.where(product >= 0, product, product * 0.25).float())
    large = Stage("float32", SIZES, 0.25, family="large")
    assert large.is_caught(BEYOND)
    large.arena.close()


def test_known_maxima_and_means() -> None:
    one = Stage("float32", {"m": 40, "n": 300}, None, slug="softmax")
    name = "takes every maximum for that of declared values"
    assert torch.allclose(one.play(name), one.right(), rtol=1e-4)
    assert bool((one.play("takes input_matrix for its declared mean") == 1 / 300).all())
    offset = Stage("float32", {"m": 40, "n": 300}, None, slug="softmax", family="offset")
    assert bool(offset.play(name).isnan().any())
    assert offset.is_caught(name)
    rows = Stage("float32", {"m": 9, "n": 3000}, None, slug="row-reduction")
    names = {n for n in rows.impostors if n.endswith(", in row_mean")}
    assert names == {
        "takes input_matrix for its declared mean, in row_mean",
        "takes half of input_matrix along n for the whole, in row_mean",
    }
    assert all(rows.is_caught(n) for n in names)
    for stage in (one, offset, rows):
        stage.arena.close()


def test_the_mean_of_long_rows_is_known_as_it_is_drawn() -> None:
    long = Stage("float32", {"m": 2, "n": 400_000}, None, slug="row-reduction")
    name = "takes input_matrix for its declared mean, in row_mean"
    found = long.play(name)
    assert -1.1 < float(found[0]) < -1.0, "not -2, as of short ones"
    assert long.is_caught(name)
    long.arena.close()


@pytest.mark.parametrize("family", ["declared", "sparse"])
def test_two_bfloat16_numbers_show_in_sparse_values_alone_where_sums_are_long(family: str) -> None:
    sizes = {"m": 64, "n": 64, "k": 8192}
    one = Stage("float32", sizes, 0.25, family=family)
    assert one.is_caught("factors in two bfloat16 numbers") is (family == "sparse")
    one.arena.close()


def test_each_timed_shape_has_to_tell_by_itself() -> None:
    """What passes with declared values is tried with those of other families, until refused."""
    one = Stage("float32", {"m": 16, "n": 4096}, None, slug="softmax")
    names = [BEYOND, "takes every maximum for that of declared values", "writes zeros"]
    chosen = [one.impostors[name] for name in names]
    scores = run_timed(one.task, one.case, chosen, {}, 0, NoProgress()).impostors
    assert [scores[name].refused for name in names] == [1, 1, 1]
    assert scores["writes zeros"].cases == 1
    unseen = replace(one.task, problem=replace(one.task.problem, benchmark_values=("declared",)))
    scores = run_timed(unseen, one.case, chosen, {}, 0, NoProgress()).impostors
    assert [scores[name].refused for name in names] == [0, 0, 1]
    honest = {"all right": lambda trial, call: trial.right[call]}
    for turn in range(8):
        scores = run_timed(one.task, one.case, [], honest, turn, NoProgress())
        score = scores.variants["all right"]
        assert (score.cases, score.refused) == (1, 0)
    one.arena.close()


def test_one_that_differs_in_no_batch_of_the_first_round_is_tried_on() -> None:
    """Of 20,000 bfloat16 numbers the largest half as often as not is that of their first half."""
    one = Stage("bfloat16", {"m": 1, "n": 20000}, None, slug="row-reduction")
    name = "takes half of input_matrix along n for the whole, in largest"
    task = replace(one.task, seed="a3c959f6e035650169e6649ab4d0d3fd-2")
    score = run_timed(task, one.case, [one.impostors[name]], {}, 0, NoProgress()).impostors[name]
    assert score.refused == 1
    assert score.cases > len(task.problem.timed_families(task.dtype)) + 1
    one.arena.close()


def test_impostors_are_right_where_they_do_not_differ() -> None:
    one = Stage("float32", {"m": 1, "n": 1, "k": 1}, 1.0)
    for name in ("transposed", "takes alpha for 1", "misses the last of matrix_a along k",
                 "misses the last tile of 32", "skips the last term of every sum"):  # fmt: skip
        assert torch.equal(one.play(name), one.right()), name
    one.arena.close()


def test_weights_may_be_cut_to_their_own_type_and_nothing_else_may_be() -> None:
    sizes = {"batch": 1, "kv_heads": 2, "group": 2, "seq_q": 20, "seq_k": 90, "head_dim": 64}
    for dtype in ("float16", "bfloat16"):
        one = Stage(dtype, sizes, None, slug="attention")
        problem = one.task.problem
        formats = required_formats(problem, dtype)
        assert formats is not None
        assert (formats.factors, formats.cut) == (component(dtype), None)
        honest = {v.name: v.answer for v in variants(problem, dtype, one.seen)}
        for name in (f"factors in {dtype}", f"factors in {dtype}, cut off"):
            compute = honest[name]
            assert compute is not None
            found = [compute(one.trial, call) for call in range(CALLS)]
            assert not torch.equal(found[0]["result"], one.trial.right[0]["result"])
            for call in range(CALLS):
                one.trial.batch.outputs(call)["result"].copy_(found[call]["result"])
            assert one.trial.batch.check(one.trial.expected) is None
        for name in (f"sums in {dtype}", "factors in e4m3", "skips the last term of every sum"):
            assert one.is_caught(name), name
        one.arena.close()


def test_imprecise_impostors_of_bfloat16() -> None:
    one = Stage("bfloat16", SIZES, 0.25)
    names = set(one.impostors)
    assert {"factors in e4m3", "results in e4m3", "sums in bfloat16"} <= names
    assert one.impostors["sums in float16"].excuse
    assert not one.impostors["sums in bfloat16"].excuse
    assert all(one.is_caught(name) for name in ("factors in e4m3", "sums in bfloat16"))
    one.arena.close()
