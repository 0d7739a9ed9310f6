"""Tolerances that are measured from float64: what honest float32 needs, and little more."""

import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from formats.kernelbench_problems import ACCEPTED, HEAD, SCALED
from formats.weak_problems import WEAK, problem
from support.foreign import graded, written

from harness.commands.jobs import Packages, job_of
from harness.errors import UsageError
from harness.formats.base import shortened
from harness.formats.client import ForeignProcess, Ungradable
from harness.formats.description import FormatCase
from harness.formats.known import read_problem
from harness.formats.messages import ErrorMeasured
from harness.formats.problem import Foreign
from harness.formats.processes import PROBLEMS
from harness.formats.weakness import try_impostors
from harness.grading.grader import Grader
from harness.problem.case import CaseLimits
from harness.records.result import Verdict
from harness.text.names import LONGEST

ROOT = Path(__file__).parents[2] / "problems"


def measured(path: Path) -> Foreign:
    return Foreign(source=read_problem(path), measured=True)


def test_a_measured_problem_is_another(tmp_path: Path) -> None:
    path = written(tmp_path, "set/1_a.py", HEAD + SCALED)
    own, other = Foreign(source=read_problem(path)), measured(path)
    assert (own.slug, other.slug) == ("kernelbench-set-1-a", "kernelbench-set-1-a-measured")
    assert own.hash != other.hash
    assert own.hash == own.source.hash
    long = shortened("x" * LONGEST, "-measured")
    assert (len(long), long[-9:]) == (LONGEST, "-measured")
    assert long != shortened("x" * (LONGEST + 1), "-measured")
    with pytest.raises(UsageError, match="--tolerance: softmax is in no other format"):
        file = written(tmp_path, "a.py", "def solution(x, y): pass\n")
        job_of(file, Packages(ROOT, measured=True), problem="softmax")
    job = job_of(path, Packages(ROOT, measured=True), problem=str(path))
    assert job.problem.slug == other.slug


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("scaled", HEAD + SCALED),
        ("softmax", problem("torch.softmax(x, dim=1)", "torch.rand(4, 5000)")),
        ("normed", HEAD + ACCEPTED["normed"][0]),
        ("convolution", HEAD + ACCEPTED["nested"][0]),
        ("several", HEAD + ACCEPTED["several"][0]),
        ("long sum", problem("x.sum(dim=1)", "torch.rand(3, 200000)")),
        ("cancelled", problem("x.sum(dim=1)", "torch.randn(3, 200000)")),
        ("scanned", problem("x.cumsum(1)", "torch.randn(3, 20000)")),
        ("variance", problem("x.var(dim=1)", "torch.rand(3, 20000) + 10")),
    ],
)
def test_honest_float32_is_accepted_and_half_precision_is_not(
    grader: Grader, tmp_path: Path, name: str, text: str
) -> None:
    asked = measured(written(tmp_path, "problem.py", text))
    right = written(tmp_path, "right.py", text + "\nModelNew = Model\n")
    result = graded(grader, asked, right)
    assert result.accepted, result.message
    assert result.claims[-1] == "tolerance: measured"
    assert result.problem.slug.endswith("-measured")
    less = f"""
class ModelNew(Model):
    def forward(self, *given):
        found = super().forward(*given)
        several = found if isinstance(found, tuple) else (found,)
        cut = [x.bfloat16().to(x.dtype) if x.is_floating_point() else x for x in several]
        return tuple(cut) if isinstance(found, tuple) else cut[0]
# {name}
"""
    cut = graded(grader, asked, written(tmp_path, "cut.py", text + less))
    assert cut.verdict is Verdict.WRONG_ANSWER
    assert " --tolerance measured " in cut.reproduce


@pytest.mark.corpus
def test_sums_in_order_are_honest(grader: Grader, tmp_path: Path) -> None:
    text = problem("x.sum(dim=1)", "torch.rand(4, 20000)")
    asked = measured(written(tmp_path, "problem.py", text))
    ordered = text.replace("class Model", "class ModelNew").replace(
        "x.sum(dim=1)", "x.cumsum(1)[:, -1].contiguous()"
    )
    result = graded(grader, asked, written(tmp_path, "ordered.py", ordered))
    assert result.accepted, result.message


@pytest.mark.corpus
def test_what_hides_behind_a_wide_tolerance_is_refused(tmp_path: Path) -> None:
    text, accepted = WEAK["nearly zero"]
    path = written(tmp_path, "problem.py", text)
    own = Foreign(source=read_problem(path))
    for asked, names in ((own, accepted), (measured(path), [])):
        tried = try_impostors(asked, "seed", 1, emulated=True)
        assert [each.name for each in tried if each.accepted] == names


@pytest.mark.corpus
def test_a_reference_in_float32_alone_has_none(grader: Grader, tmp_path: Path) -> None:
    name = next(name for name, (_, claim) in ACCEPTED.items() if claim == "reference: float32")
    text = HEAD + ACCEPTED[name][0]
    asked = measured(written(tmp_path, "problem.py", text))
    assert asked.unfit(emulated=True) == "its reference does not run in float64, to measure by"
    result = graded(grader, asked, written(tmp_path, "a.py", text + "\nModelNew = Model\n"))
    assert result.verdict is Verdict.NOT_EXECUTABLE_HERE


def test_one_case_is_measured_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = measured(
        written(tmp_path, "problem.py", problem("torch.relu(x)", "torch.rand(16, 40)"))
    )
    seen = []

    def note(_: object, case: FormatCase, *, small: bool) -> dict[str, float]:
        seen.append((case.key, small))
        return {"output": 1e-6}

    monkeypatch.setattr(PROBLEMS, "measured", note)
    assert asked.dtypes == ("float32",) and not seen
    case = asked.draw_cases("s", dtype="float32", room=CaseLimits(work=1.0))[0]
    assert asked.unmeasured(case) == ""
    assert seen == [(case.spec.partition(",")[0], True)]


@pytest.mark.corpus
def test_stronger_checks_are_notes(grader: Grader, tmp_path: Path) -> None:
    text = problem("torch.relu(x) + x.square().mean()", "torch.rand(16, 40)")
    asked = Foreign(source=read_problem(written(tmp_path, "problem.py", text)))
    right = graded(grader, asked, written(tmp_path, "right.py", text + "\nModelNew = Model\n"))
    assert right.accepted, right.message
    assert not any("stronger" in note for note in right.notes)

    new = text.replace("class Model", "class ModelNew")
    lazy = written(tmp_path, "lazy.py", new.replace("torch.relu(x)", "x"))
    result = graded(grader, asked, lazy)
    assert result.accepted, result.message
    (note,) = [each for each in result.notes if "stronger" in each]
    assert note.startswith("stronger check: wrong with inputs of both signs (--case inputs=1")
    spec = note.partition("--case ")[2].rstrip(")")
    replayed = graded(grader, asked, lazy, case=spec, seed=result.seed)
    assert replayed.verdict is Verdict.WRONG_ANSWER

    rough = new.replace("torch.relu(x)", "torch.relu(x) + 5e-5")
    result = graded(grader, asked, written(tmp_path, "rough.py", rough))
    assert result.accepted, result.message
    (note,) = [each for each in result.notes if "stronger" in each]
    assert note == (
        "stronger check: wrong within what float32 loses: --tolerance measured refuses it"
    )


@pytest.mark.corpus
def test_signs_that_a_problem_cannot_take_are_not_tried(tmp_path: Path) -> None:
    for name, text in {
        "root": problem("x.sqrt()"),
        "both": problem("x.abs()", "torch.randn(3, 4)"),
        "labels": problem("x + 1", "torch.randint(0, 5, (7,))"),
    }.items():
        asked = Foreign(source=read_problem(written(tmp_path, f"{name}.py", text)))
        case = asked.draw_cases("seed", dtype="float32", room=CaseLimits(work=1.0))[0]
        assert asked.signed(case, "seed") is None


@pytest.mark.parametrize("error", [math.nan, math.inf, -1.0, 0.06])
def test_an_error_that_says_nothing_is_no_tolerance(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: float
) -> None:
    source = read_problem(written(tmp_path, "problem.py", HEAD + SCALED))
    process = ForeignProcess(source)
    told = ErrorMeasured(relative={"output": error})
    monkeypatch.setattr(process, "ask", lambda *_: told)
    case: Any = SimpleNamespace(key="inputs=1")
    with pytest.raises(Ungradable, match="do not hold in float32"):
        process.measured(case, small=True)
