"""KernelBench's contract: each reference is right by its own measure, and what differs is wrong."""

import re
from pathlib import Path

import pytest
from formats.kernelbench_problems import ACCEPTED, HEAD, KEPT, MISTAKEN, REFUSED, SCALED
from support.foreign import foreign, graded, written

from harness.errors import ProblemError, UsageError
from harness.formats.known import problems_in, read_problem
from harness.grading.grader import Grader
from harness.records.result import Verdict


@pytest.mark.corpus
def test_its_own_reference_is_accepted_and_another_factor_wrong(
    grader: Grader, tmp_path: Path
) -> None:
    problem = foreign(written(tmp_path, "level2/7_Scaled.py", HEAD + SCALED))
    assert (problem.slug, problem.title) == ("kernelbench-level2-7-scaled", "7 Scaled")
    right = written(tmp_path, "right.py", HEAD + SCALED + "\nModelNew = Model\n")
    result = graded(grader, problem, right)
    assert result.accepted, result.message
    assert (result.problem.format, result.problem.hash) == ("kernelbench", problem.hash)
    assert result.claims[0] == "shapes: fixed"
    assert "weights: fixed for a grade" not in result.claims
    assert "sizes: divided by 2 for the CPU" in result.claims
    assert result.claims[-1] == "tolerance: own 0.0001·|x| + 0.0001"
    assert all(each.spec.startswith("inputs=") for each in result.cases)

    text = HEAD + SCALED.replace("* self.factor", "* (self.factor * 1.001)")
    wrong = graded(grader, problem, written(tmp_path, "wrong.py", text + "\nModelNew = Model\n"))
    assert wrong.verdict is Verdict.WRONG_ANSWER
    assert f"--problem {problem.named}" in wrong.reproduce
    failed = wrong.failed_case
    assert failed is not None
    again = graded(grader, problem, tmp_path / "wrong.py", case=failed.spec, seed=wrong.seed)
    assert again.failed_case is not None
    assert again.failed_case.mismatch == failed.mismatch

    function = written(tmp_path, "function.py", "def solution(x, y): pass\n")
    other = graded(grader, problem, function)
    assert other.verdict is Verdict.INVALID_SUBMISSION
    assert "ModelNew" in other.message


@pytest.mark.corpus
@pytest.mark.parametrize("name", ACCEPTED)
def test_every_reference_is_accepted(grader: Grader, tmp_path: Path, name: str) -> None:
    text, claim = ACCEPTED[name]
    problem = foreign(written(tmp_path, f"{name}.py", HEAD + text))
    file = written(tmp_path, "file.py", HEAD + text + "\nModelNew = Model\n")
    result = graded(grader, problem, file)
    assert result.accepted, result.message
    assert claim in result.claims


@pytest.mark.corpus
def test_constants_copied_from_the_file_are_as_small_as_its_own(
    grader: Grader, tmp_path: Path
) -> None:
    problem = foreign(written(tmp_path, "kept.py", HEAD + KEPT))
    own = HEAD + KEPT + "\nModelNew = Model\n"
    for text, right in (
        (own, True),
        (own.replace("shape = (batch_size, wide)", "shape = [4096, 2048]"), False),
        (own.replace("batch_size = 4096", "batch_size = 4097"), False),
    ):
        result = graded(grader, problem, written(tmp_path, "file.py", text))
        assert result.accepted is right, result.message
        assert "sizes: smaller batch for the CPU" in result.claims


@pytest.mark.corpus
@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_graded_says_why(grader: Grader, tmp_path: Path, name: str) -> None:
    text, reason = REFUSED[name]
    problem = foreign(written(tmp_path, f"{name}.py", text))
    assert reason in problem.unfit(emulated=True)
    file = written(tmp_path, "file.py", text + "\nModelNew = Model\n")
    result = graded(grader, problem, file)
    assert result.verdict is Verdict.NOT_EXECUTABLE_HERE
    assert reason in result.message
    assert result.claims == ()


@pytest.mark.corpus
@pytest.mark.parametrize("name", MISTAKEN)
def test_mistakes_have_a_place(tmp_path: Path, name: str) -> None:
    text, reason = MISTAKEN[name]
    problem = foreign(written(tmp_path, f"{name}.py", text))
    with pytest.raises(ProblemError, match=re.escape(reason)) as found:
        problem.unfit(emulated=False)
    (diagnostic,) = found.value.diagnostics
    assert diagnostic.path == tmp_path / f"{name}.py"


@pytest.mark.corpus
def test_weights_of_another_seed_are_wrong(grader: Grader, tmp_path: Path) -> None:
    problem = foreign(written(tmp_path, "scaled.py", HEAD + SCALED))
    text = HEAD + SCALED.replace(
        "        self.layer", "        torch.manual_seed(1)\n        self.layer"
    )
    result = graded(grader, problem, written(tmp_path, "file.py", text + "\nModelNew = Model\n"))
    assert result.verdict is Verdict.WRONG_ANSWER


@pytest.mark.corpus
def test_nested_arguments_are_checked_each(grader: Grader, tmp_path: Path) -> None:
    text, _ = ACCEPTED["paired"]
    problem = foreign(written(tmp_path, "paired.py", HEAD + text))
    assert [p.name for p in problem.parameters] == [
        *("x", "states_0_0", "states_0_1", "states_1_0", "states_1_1", "options_rate", "times"),
        *("output_0", "output_1", "output_2"),
    ]
    for right, wrong, name in (
        ("x.sum()", "x.sum() + 1", "output_1"),
        ("for h, c in states", "for c, h in states", "output_0"),
    ):
        text_of = HEAD + text.replace(right, wrong) + "\nModelNew = Model\n"
        result = graded(grader, problem, written(tmp_path, "file.py", text_of))
        assert result.verdict is Verdict.WRONG_ANSWER
        assert f"elements of {name} are wrong" in result.message
    changing = text.replace(
        "        return x * times", "            h.add_(0.1)\n        return x * times"
    )
    file = written(tmp_path, "file.py", HEAD + changing + "\nModelNew = Model\n")
    result = graded(grader, problem, file)
    assert result.verdict is Verdict.WRONG_ANSWER
    assert "const input states_0_0 was changed" in result.message


@pytest.mark.corpus
def test_too_little_memory_is_said_before_anything_is_built(
    grader: Grader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = foreign(written(tmp_path, "scaled.py", HEAD + SCALED))
    monkeypatch.setattr(grader._device, "free_bytes", lambda: 1 << 14)
    monkeypatch.setattr(grader, "_languages", {})
    result = graded(grader, problem, written(tmp_path, "file.py", "ModelNew = None\n"))
    assert result.verdict is Verdict.NOT_EXECUTABLE_HERE
    assert "checking its smallest case takes" in result.message
    assert "of memory, and there are 8 KiB" in result.message


@pytest.mark.corpus
def test_inputs_are_not_to_be_written_to(grader: Grader, tmp_path: Path) -> None:
    text, _ = ACCEPTED["fixed"]
    problem = foreign(written(tmp_path, "fixed.py", HEAD + text))
    text = HEAD + text.replace("return x.cumsum(0)", "return x.cumsum_(0).clone()")
    result = graded(grader, problem, written(tmp_path, "file.py", text + "\nModelNew = Model\n"))
    assert result.verdict is Verdict.WRONG_ANSWER
    assert "const input x was changed" in result.message


def test_cases_of_two_seeds_have_other_weights(tmp_path: Path) -> None:
    problem = foreign(written(tmp_path, "scaled.py", HEAD + SCALED))
    from harness.problem.case import CaseLimits

    room = CaseLimits(work=1.0)
    first, second = (problem.draw_cases(seed, dtype="float32", room=room) for seed in "ab")
    specs = {case.spec for case in (*first, *second)}
    assert len(specs) == 4
    for case in first:
        assert problem.parse_case(case.spec) == case
        made = problem.construction(case)
        assert made is not None
        assert f"weights={made.seed}," in case.spec
        assert made.arguments == "[1024, 512, 1.5]"
    for spec in ("inputs=3,weights=1", "inputs=1", "weights=1", "inputs=1,weights=x", ""):
        with pytest.raises(UsageError, match="case: "):
            problem.parse_case(spec)


def test_problems_are_found_by_reading_alone(tmp_path: Path) -> None:
    text = "raise SystemExit\n" + HEAD + SCALED
    for name in ("10_b.py", "2_a.py", ".hidden/c.py", "sub/d.py"):
        written(tmp_path, name, text)
    written(tmp_path, "else.py", "class Model: pass\ndef get_inputs(): pass\n")
    written(tmp_path, "inside.py", "    class Model: pass\n    def get_inputs(): pass\n")
    (tmp_path / "binary.py").write_bytes(b"\xff\x00" * 100)
    found = [source.path.name for source in problems_in(tmp_path)]
    assert found == ["2_a.py", "10_b.py", "d.py"]
    hashes = {source.hash for source in problems_in(tmp_path)}
    assert len(hashes) == 1
    assert read_problem(tmp_path / "2_a.py").hash in hashes
    (tmp_path / "2_a.py").write_text(text + "#")
    assert read_problem(tmp_path / "2_a.py").hash not in hashes
    with pytest.raises(UsageError, match="no problem of a known format"):
        read_problem(tmp_path / "else.py")
    with pytest.raises(UsageError, match="no such file"):
        read_problem(tmp_path / "gone.py")
