"""References that are off by more than their tolerance, as convolutions on a card are (TF32)."""

from pathlib import Path

import pytest
import torch
from formats.kernelbench_problems import HEAD
from support.foreign import foreign, graded, graded_with, written

from harness.author.client import AuthorError
from harness.formats.description import description
from harness.formats.messages import CasesDescribed, ToldCase, ToldParameter, ToldTensor
from harness.formats.process.adaptor import Exactness, roughly, tried_wide
from harness.formats.rounding import ROUGHER
from harness.grading.grader import Grader
from harness.records.result import Verdict

CUT = """
def cut(x):
    if x.dtype == torch.float32:  # as a card's matrix units take it
        x = x.view(torch.int32).bitwise_and(-8192).view(torch.float32)
    return x

class Model(nn.Module):
    def forward(self, x, w):
        return cut(x) @ cut(w)

def get_inputs():
    return [torch.rand(64, 256), torch.rand(256, 64)]

def get_init_inputs():
    return []
"""


@pytest.mark.parametrize(
    ("formula", "verdict"),
    {
        "cut(x) @ cut(w)": "ACCEPTED",
        "x @ w": "ACCEPTED",
        "(x.double() @ w.double()).float()": "ACCEPTED",
        "x @ w * 1.01": "WRONG_ANSWER",
        "x.bfloat16().float() @ w * 1.003": "WRONG_ANSWER",
        "torch.full((64, 64), 64.0)": "WRONG_ANSWER",
        "x[:, :-1] @ w[:-1]": "WRONG_ANSWER",
    }.items(),
)
def test_its_own_answers_and_exact_ones_are_right(
    tmp_path: Path, grader: Grader, formula: str, verdict: str
) -> None:
    result = graded_with(grader, tmp_path, HEAD + CUT, "cut(x) @ cut(w)", formula)
    assert result.verdict == Verdict(verdict), result.message
    assert ROUGHER in result.claims and "reference: float32" not in result.claims


def test_another_answer_in_float64_is_no_rounding(tmp_path: Path, grader: Grader) -> None:
    text = HEAD + CUT.replace("return cut(x) @ cut(w)", "return (x @ w) * x.element_size()")
    result = graded(
        grader,
        foreign(written(tmp_path, "set/1_a.py", text)),
        written(tmp_path, "mine.py", text.replace("class Model", "class ModelNew")),
    )
    assert result.verdict is Verdict.ACCEPTED
    assert "reference: float32" in result.claims and ROUGHER not in result.claims


def exactness(narrow: torch.Tensor, wide: torch.Tensor) -> Exactness:
    return tried_wide(lambda: {"y": wide}, {"y": narrow}, 1e-4, 1e-4)


def test_what_it_is_off_is_the_most_in_units_of_the_root_mean_square() -> None:
    wide = torch.full((10_000,), 2.0, dtype=torch.float64)
    narrow = wide.float()
    narrow[3] += 0.01
    assert exactness(narrow, wide).errors == {"y": pytest.approx(1.5 * 0.01 / 2, rel=1e-4)}
    assert exactness(wide.float(), wide).errors == {}


@pytest.mark.parametrize(
    ("narrow", "wide"),
    [
        (torch.ones(4) * 1.1, torch.ones(4, dtype=torch.float64)),
        (torch.tensor([1.0, torch.inf]), torch.tensor([1.001, 1.0], dtype=torch.float64)),
        (torch.tensor([1.0, 1.0]), torch.tensor([1.001, torch.nan], dtype=torch.float64)),
        (torch.ones(4), torch.ones(4, dtype=torch.float32) * 1.001),
        (torch.ones(4), torch.ones(2, 2, dtype=torch.float64) * 1.001),
        (torch.tensor([1, 2]), torch.tensor([1, 3])),
        (torch.ones(3), torch.zeros(3, dtype=torch.float64)),
    ],
    ids=["far", "infinite", "not a number", "not wide", "shape", "whole numbers", "nothing"],
)
def test_what_are_other_answers(narrow: torch.Tensor, wide: torch.Tensor) -> None:
    assert roughly({"y": narrow}, {"y": wide}) is None
    assert not exactness(narrow, wide).wide


def test_of_several_outputs_each_has_its_own() -> None:
    wide = {"y": torch.ones(4, dtype=torch.float64), "n": torch.arange(3)}
    found = roughly({"y": torch.ones(4) * 1.001, "n": torch.arange(3)}, wide)
    assert found == {"y": pytest.approx(0.0015, rel=1e-3)}
    assert roughly({"y": torch.ones(4)}, wide) is None


@pytest.mark.parametrize("error", [-0.1, 1.5, float("nan"), float("inf")])
def test_an_error_that_the_judge_cannot_work_with(error: float) -> None:
    told = CasesDescribed(
        parameters=(ToldParameter(name="y", ctype="float", kind="out"),),
        cases=(
            ToldCase(
                key="test=1",
                tensors=(ToldTensor(name="y", dtype="float32", shape=(3,)),),
                numbers={},
                errors={"y": error},
            ),
        ),
        rtol=0.0,
        atol=0.0,
        claims=(),
    )
    with pytest.raises(AuthorError, match="the errors of test=1"):
        description(told)
