"""Weights of modules, from the submission's word to the verdict."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from formats import weight_problems as modules
from support.foreign import foreign, graded, grading, job, written

from harness.formats.problem import Foreign
from harness.grading import checking
from harness.grading.grader import Grader
from harness.grading.job import Options
from harness.grading.weights import KEPT, weighed_tasks
from harness.problem.terms import Limits
from harness.records.comparison import Comparison
from harness.records.result import Result, Verdict

pytestmark = pytest.mark.corpus

FIXED = "weights: fixed for a grade"
IGNORES = "stronger check: ignores its weight"


@pytest.fixture(scope="module")
def grader() -> Iterator[Grader]:
    with grading() as made:
        yield made


@pytest.fixture(scope="module")
def problem(tmp_path_factory: pytest.TempPathFactory) -> Foreign:
    return foreign(written(tmp_path_factory.mktemp("set"), "level1/1_own.py", modules.PROBLEM))


def notes(result: Result) -> list[str]:
    return [note for note in result.notes if note.startswith(("weights:", IGNORES))]


@pytest.mark.parametrize("text", [modules.SAME_NAMES, modules.RENAMED], ids=["same", "renamed"])
def test_matched_ones_are_inputs(
    grader: Grader, problem: Foreign, tmp_path: Path, text: str
) -> None:
    result = graded(grader, problem, written(tmp_path, "file.py", text))
    assert result.accepted, result.message
    assert FIXED not in result.claims
    assert notes(result) == []


ONCE = modules.SAME_NAMES.replace(
    "        self.seen += 1\n",
    "        self.seen += 1\n        SEEN.append(self.last.weight.detach().clone())\n",
).replace("self.last(", "nn.functional.linear(").replace(
    "+ self.steps)", "+ self.steps, SEEN[-1] if len(SEEN) < 2 else SEEN[-2])"
).replace("class ModelNew", "SEEN = []\n\nclass ModelNew")  # fmt: skip
"""It computes with the weight of the call before, if there was one."""


@pytest.mark.parametrize(
    ("text", "noted"),
    [
        pytest.param(modules.TRANSPOSED, [], id="transposed"),
        pytest.param(modules.MERGED, [], id="merged"),
        pytest.param(modules.DROPPED, [], id="dropped"),
        pytest.param(modules.COPYING, [KEPT], id="copying"),
        pytest.param(modules.REFUSING, [KEPT], id="refusing"),
        pytest.param(modules.LYING, [KEPT], id="lying"),
    ],
)
def test_others_stay_those_of_the_seed(
    grader: Grader, problem: Foreign, tmp_path: Path, text: str, noted: list[str]
) -> None:
    result = graded(grader, problem, written(tmp_path, "file.py", text))
    assert result.accepted, result.message
    assert FIXED in result.claims
    assert notes(result) == noted


def only_fresh(*arguments: object) -> object:
    tasks = weighed_tasks(*arguments)  # type: ignore[arg-type]
    assert isinstance(tasks, list)
    assert len(tasks) == 2
    return tasks[:1]


CHANGING = modules.SAME_NAMES.replace(
    "        return self.last(self.norm(self.first(x)) + self.steps)",
    "        y = self.last(self.norm(self.first(x)) + self.steps)\n"
    "        self.last.weight.data[1, 2] += 1\n        return y",
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (modules.LYING, "elements of output are wrong"),
        (modules.COPYING, "elements of output are wrong"),
        (ONCE, "elements of output are wrong"),
        (CHANGING, "const input self.last.weight was changed (element 6)"),
    ],
    ids=["lying", "copying", "once", "changing"],
)
def test_each_call_has_its_own_in_guarded_memory(
    grader: Grader,
    problem: Foreign,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    text: str,
    message: str,
) -> None:
    monkeypatch.setattr(checking, "weighed_tasks", only_fresh)
    result = graded(grader, problem, written(tmp_path, "file.py", text))
    assert result.verdict is Verdict.WRONG_ANSWER
    assert message in result.message


def test_wrong_ones_are_wrong_with_either(grader: Grader, problem: Foreign, tmp_path: Path) -> None:
    for number, text in enumerate((modules.WRONG, ONCE.replace("SEEN[-2]", "SEEN[-1] + 1"))):
        result = graded(grader, problem, written(tmp_path, f"{number}.py", text))
        assert result.verdict is Verdict.WRONG_ANSWER
        assert FIXED in result.claims
        assert notes(result) == []


@pytest.mark.parametrize(
    ("text", "names"),
    [(modules.NO_GAMMA, "s norm.weight, norm.bias "), (modules.IGNORING, " norm.weight ")],
    ids=["has none", "does not use it"],
)
def test_ignoring_a_constant_one_is_noted(
    grader: Grader, problem: Foreign, tmp_path: Path, text: str, names: str
) -> None:
    result = graded(grader, problem, written(tmp_path, "file.py", text))
    assert result.accepted, result.message
    assert FIXED not in result.claims
    (note,) = notes(result)
    assert note.startswith(f"{IGNORES}{names}(")


def test_a_constructor_that_fails_or_hangs(
    grader: Grader, problem: Foreign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = "        super().__init__()\n"
    raising = modules.SAME_NAMES.replace(here, f"{here}        raise KeyError('it')\n")
    result = graded(grader, problem, written(tmp_path, "raises.py", raising))
    assert result.verdict is Verdict.RUNTIME_ERROR
    assert "KeyError" in result.message
    assert result.failed_case is not None
    hanging = modules.SAME_NAMES.replace(here, f"{here}        while True: pass\n")
    monkeypatch.setattr(Foreign, "limits", Limits(prepare_s=1.0))
    result = graded(grader, problem, written(tmp_path, "hangs.py", hanging))
    assert result.verdict is Verdict.TIME_LIMIT


def test_without_the_memory_they_stay_those_of_the_seed(
    grader: Grader, problem: Foreign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (most,) = {*problem.footprints(emulated=True)}
    monkeypatch.setattr(grader._device, "free_bytes", lambda: 4 << (most - 1).bit_length() - 1)
    result = graded(grader, problem, written(tmp_path, "file.py", modules.RENAMED))
    assert result.accepted, result.message
    assert FIXED in result.claims


def test_times_with_weights_of_each_call(grader: Grader, problem: Foreign, tmp_path: Path) -> None:
    options = Options(functional_times=True, shrink_s=0.0)
    for name, text, fixed in (("a", modules.RENAMED, False), ("b", modules.MERGED, True)):
        result = grader.grade(job(problem, written(tmp_path, f"{name}.py", text)), options)
        assert result.accepted, result.message
        assert result.score is not None, result.notes
        assert (FIXED in result.claims) is fixed
    jobs = [job(problem, tmp_path / f"{name}.py") for name in "ab"]
    for first, second in (jobs, jobs[:1] * 2):
        compared = grader.compare(first, second, options)
        assert isinstance(compared, Comparison), compared
