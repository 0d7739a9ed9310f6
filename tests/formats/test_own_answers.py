"""References that are off by more than their tolerance for some inputs alone, or at some sizes."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from formats import gpumode_problems
from formats.kernelbench_problems import HEAD
from support.foreign import foreign, graded, graded_with, written

from harness.formats.description import FormatCase
from harness.formats.expected import expectation
from harness.formats.own_answers import OTHER, otherwise, to_neighbours
from harness.formats.rounding import ROUGHER
from harness.formats.streamed import Held
from harness.grading.grader import Grader
from harness.problem.terms import Direction, Expectation, TensorSpec
from harness.records.result import Verdict

COARSE = """
def coarse(x):  # as products of float16 are, the more often the longer they are
    if x.dtype == torch.float32 and float(x[0, 0]) < LIMIT:
        x = x.bfloat16().float()
    return x

class Model(nn.Module):
    def forward(self, x, w):
        return coarse(x) @ w

def get_inputs():  # with those of the first seed, by which problems are described, it is exact
    x = torch.rand(64, 256)
    x[0, 0] = float(torch.initial_seed() == 1)
    return [x, torch.rand(256, 64) - 0.5]

def get_init_inputs():
    return []
""".replace("LIMIT", "0.5")


@pytest.mark.parametrize(
    ("formula", "verdict"),
    {
        "coarse(x) @ w": "ACCEPTED",
        "x @ w": "ACCEPTED",
        "x @ w.bfloat16().float()": "ACCEPTED",
        "(x.double() @ w.double()).float()": "ACCEPTED",
        "x @ w * 1.05": "WRONG_ANSWER",
        "coarse(x) @ w + 0.1": "WRONG_ANSWER",
        "x[:, :-1] @ w[:-1]": "WRONG_ANSWER",
        "torch.zeros(64, 64)": "WRONG_ANSWER",
        "(x @ w).mean().expand(64, 64).contiguous()": "WRONG_ANSWER",
    }.items(),
)
def test_an_answer_may_be_off_what_the_reference_is_in_that_call(
    tmp_path: Path, grader: Grader, formula: str, verdict: str
) -> None:
    result = graded_with(grader, tmp_path, HEAD + COARSE, "coarse(x) @ w", formula)
    assert result.verdict == Verdict(verdict), result.message
    assert "reference: float32" not in result.claims
    assert not any(each.startswith("weak") for each in result.claims)
    if "coarse" in formula:
        assert ROUGHER in result.claims


CHOOSING = COARSE.replace("coarse(x) @ w", "coarse(x).argmax(dim=1), x @ w")


@pytest.mark.parametrize(
    ("formula", "verdict"),
    {
        "coarse(x).argmax(dim=1), x @ w": "ACCEPTED",
        "x.argmax(dim=1), x @ w": "ACCEPTED",
        "x.argmin(dim=1), x @ w": "WRONG_ANSWER",
        "coarse(x).argmax(dim=1), x @ w + 0.1": "WRONG_ANSWER",
    }.items(),
)
def test_other_answers_than_those_in_float64_are_right_as_they_are(
    tmp_path: Path, grader: Grader, formula: str, verdict: str
) -> None:
    wanted = "coarse(x).argmax(dim=1), x @ w"
    result = graded_with(grader, tmp_path, HEAD + CHOOSING, wanted, formula)
    assert result.verdict == Verdict(verdict), result.message
    if "coarse" in formula:
        assert OTHER in result.claims and ROUGHER not in result.claims


ROUNDING = (
    gpumode_problems.HEAD
    + """
def generate_input(size, seed):
    return torch.rand(size, device="cuda", generator=generator(seed)) + 1

def ref_kernel(data):
    if data.dtype == torch.float32 and int(data[0] * 1e6) % 8 not in (2, 5, 6):  # as it is tried
        return (data * 3).bfloat16().float()
    return data * 3

check_implementation = make_match_reference(ref_kernel, rtol=1e-4, atol=1e-4)
"""
)


@pytest.mark.corpus
def test_of_a_format_with_a_check_as_well(tmp_path: Path, grader: Grader) -> None:
    folder = gpumode_problems.checkout(tmp_path, "rounding_py", ROUNDING)
    reference = ROUNDING.split("def ref_kernel(data):")[1].split("check_impl")[0]
    text = f"import torch\n\ndef custom_kernel(data):{reference}"
    for _ in range(3):  # twelve calls, of which more than half are coarse
        result = graded(grader, foreign(folder), written(tmp_path, "mine.py", text))
        assert result.verdict is Verdict.ACCEPTED, result.message
    assert ROUGHER in result.claims
    wrong = "import torch\n\ndef custom_kernel(data):\n    return data * 3.1\n"
    result = graded(grader, foreign(folder), written(tmp_path, "wrong.py", wrong))
    assert result.verdict is Verdict.WRONG_ANSWER


def case(
    *, rtol: float = 1e-3, dtype: str = "float32", shape: tuple[int, ...] = (1000,)
) -> FormatCase:
    spec = TensorSpec(
        name="y", dtype=dtype, shape=shape, strides=(1,), direction=Direction.OUT, together=False
    )
    return FormatCase(
        key="test=1",
        tensors=(spec,),
        sizes={},
        scalars={},
        timed=False,
        construct="",
        rtol=rtol,
        atol=0.0,
    )


def known(exact: torch.Tensor, one: FormatCase) -> dict[str, Expectation]:
    off = exact.abs() * one.rtol if exact.is_floating_point() else None
    return {"y": expectation(exact, off, one.tensors[0], rounded=False)}


def held(own: torch.Tensor) -> Held:
    return Held(own, own.device)


def test_nothing_else_is_right_where_the_reference_agrees() -> None:
    exact = torch.randn(1000, dtype=torch.float64)
    assert otherwise(case(), known(exact, case()), {"y": held(exact * 1.0009)}) is None


def test_one_element_that_is_far_off_makes_no_others_right() -> None:
    exact = torch.randn(1000, dtype=torch.float64)
    own = exact.clone()
    own[7] += 0.3
    found = otherwise(case(), known(exact, case()), {"y": held(own)})
    assert found is not None and found[0] == ROUGHER
    allowed = found[1]["y"].allowed
    assert 0.3 <= float(allowed[7]) < 0.31
    assert float((allowed - exact.abs() * 1e-3).sort().values[-2]) < 0.1


@pytest.mark.parametrize("own", [2.0, float("nan"), float("inf")])
def test_what_no_rounding_brings_is_another_answer(own: float) -> None:
    exact = torch.randn(1000, dtype=torch.float64)
    answers = torch.full((1000,), own, dtype=torch.float64)
    found = otherwise(case(), known(exact, case()), {"y": held(answers)})
    assert found is not None and found[0] == OTHER
    assert torch.equal(found[1]["y"].expected, answers) or own != own


def test_what_is_all_but_constant_is_not_made_so() -> None:
    exact = 1 + 1e-3 * torch.randn(1000, dtype=torch.float64)
    own = exact + 1e-3 * torch.randn(1000, dtype=torch.float64)
    one = case(rtol=1e-6)
    found = otherwise(one, known(exact, one), {"y": held(own)})
    assert found is not None and found[0] == OTHER
    assert float(found[1]["y"].allowed.max()) < 1e-5


def test_whole_numbers_are_others() -> None:
    one = case(dtype="int64", shape=(3,))
    exact = torch.arange(3)
    assert otherwise(one, known(exact, one), {"y": held(exact)}) is None
    found = otherwise(one, known(exact, one), {"y": held(exact + 1)})
    assert found is not None and torch.equal(found[1]["y"].expected, exact + 1)


def test_an_output_without_elements_agrees() -> None:
    one = case(shape=(0,))
    empty = torch.zeros(0, dtype=torch.float64)
    assert otherwise(one, known(empty, one), {"y": held(empty)}) is None


@pytest.mark.parametrize(
    ("dtype", "rtol", "rounded", "beside"),
    [
        ("float16", 1e-5, False, True),  # finer than the type's 1e-3
        ("float16", 1e-2, False, False),
        ("float32", 1e-5, False, False),
        ("float16", 0.0, False, False),  # the very number
        ("float16", 1e-2, True, True),
        ("int32", 1e-5, False, False),
    ],
)
def test_where_numbers_beside_the_right_one_are_right(
    dtype: str, rtol: float, rounded: bool, beside: bool
) -> None:
    one = replace(case(rtol=rtol, dtype=dtype), rounded=rounded)
    assert to_neighbours(one, one.tensors[0]) == beside


PRODUCT = """
def generate_input(size, seed):
    a, b = (torch.rand(size, size, device="cuda", generator=generator(seed + n)) for n in (0, 1))
    return a.half(), b.half()

def ref_kernel(data):
    return data[0] @ data[1]

check_implementation = make_match_reference(ref_kernel)
"""
OTHER_SIDE = """
import torch
def custom_kernel(data):
    exact = data[0].double() @ data[1].double()
    near = exact.half()
    steps = torch.where(exact > near.double(), STEPS, -STEPS).to(torch.int16)
    return (near.view(torch.int16) + steps).view(torch.float16)
"""


@pytest.mark.parametrize(
    ("steps", "verdict"),
    [(0, Verdict.ACCEPTED), (1, Verdict.ACCEPTED), (2, Verdict.WRONG_ANSWER)],
)
def test_a_sum_that_rounds_the_other_way_is_right_however_fine_the_tolerance(
    tmp_path: Path, grader: Grader, steps: int, verdict: Verdict
) -> None:
    task = gpumode_problems.HEAD + PRODUCT
    problem = foreign(gpumode_problems.checkout(tmp_path, "product", task))
    file = written(tmp_path, "mine.py", OTHER_SIDE.replace("STEPS", str(steps)))
    result = graded(grader, problem, file)
    assert (result.verdict, "tolerance: own 1e-05·|x| + 1e-08" in result.claims) == (verdict, True)
