"""Tasks with several entry points: one call is all of them, and all must be right."""

import json
import time
from pathlib import Path

import pytest
from formats.parts_problems import (
    REFERENCE,
    RUNS_IT,
    SLOPE,
    SOLUTION,
    TASK,
    VALUE,
    checkout,
)
from support.foreign import foreign, graded, job, written

from benchmarks.field.grades import program
from harness.device.cpu import CpuDevice
from harness.formats.known import problems_in, read_problem
from harness.grading.grader import Grader
from harness.grading.job import Options
from harness.progress.progress import NoProgress
from harness.records.result import Verdict
from harness.verify.foreign import verify_foreign

ENTRY = "quadratic_value, quadratic_slope"


def test_it_is_found_by_reading(tmp_path: Path) -> None:
    checkout(tmp_path, "raise SystemExit\n" + REFERENCE, "raise SystemExit\n" + RUNS_IT)
    (source,) = problems_in(tmp_path)
    assert (source.slug, source.lack, source.entry) == ("gpumode-set-quadratic", "", ENTRY)
    assert [each.name for each in source.files] == ["reference.py", "task.json"]
    told = json.loads(source.files[-1].text)
    assert told["parts"] == [["value", "quadratic_value"], ["slope", "quadratic_slope"]]
    assert told["tests"] == [{"rows": 2048, "width": 96}, {"rows": 2048, "width": 160}]
    other = checkout(tmp_path, runs_it=RUNS_IT.replace("2_048", "4096"))
    assert read_problem(other).hash != read_problem(checkout(tmp_path)).hash


def test_all_parts_must_be_right(grader: Grader, tmp_path: Path) -> None:
    problem = foreign(checkout(tmp_path))
    result = graded(grader, problem, written(tmp_path, "a.py", "import torch\n" + SOLUTION))
    assert result.accepted, result.message
    assert result.build is not None
    assert result.build.contract == "functions"
    assert "tolerance: own 0.01·|x| + 0.001" in result.claims
    assert [each.spec for each in result.cases] == ["test=1,sizes=cpu", "test=2,sizes=cpu"]
    wrong = SOLUTION.replace("(2 * scale)", "scale")
    result = graded(grader, problem, written(tmp_path, "b.py", wrong))
    assert result.verdict is Verdict.WRONG_ANSWER
    assert "output_slope" in result.message


@pytest.mark.corpus
def test_its_reference_is_accepted_and_timed_against_itself(grader: Grader, tmp_path: Path) -> None:
    problem = foreign(checkout(tmp_path))
    (tmp_path / "a.py").write_bytes(program(problem))
    chosen = Options(timing=True, functional_times=True, quick=True, shrink_s=0.0)
    result = grader.grade(job(problem, tmp_path / "a.py"), chosen)
    assert result.accepted, result.message
    assert result.measurements
    assert not any("time" in note for note in result.notes)


@pytest.mark.corpus
def test_what_computes_nothing_is_wrong(tmp_path: Path) -> None:
    report = verify_foreign(foreign(checkout(tmp_path)), "seed", 1, CpuDevice(), NoProgress())
    assert report.impostors
    assert not report.findings


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (VALUE, "defines no quadratic_slope at its top level"),
        ("from math import *\n" + SLOPE, "the file defines no function `quadratic_value(...)`"),
        ("def custom_kernel(data): pass\n", "functions, as gpumode calls them"),
    ],
)
def test_a_missing_function_is_named(
    grader: Grader, tmp_path: Path, text: str, message: str
) -> None:
    problem = foreign(checkout(tmp_path))
    result = graded(grader, problem, written(tmp_path, "a.py", text))
    assert result.verdict is Verdict.INVALID_SUBMISSION
    assert message in result.message


def test_it_is_nothing_for_another_language(grader: Grader, tmp_path: Path) -> None:
    text = 'extern "C" void solution() {}'
    result = graded(grader, foreign(checkout(tmp_path)), written(tmp_path, "a.cu", text))
    assert result.verdict is Verdict.INVALID_SUBMISSION
    assert f"`{ENTRY}` in Python, not for CUDA C++" in result.message


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (".to(x.dtype)", "", "torch.float32 for output_slope, expected torch.float16"),
        ("return (x.float() ** 2) @ scale", "return None", "None for output_value"),
        ("@ scale", "@ scale, x", "quadratic_value returned list of 2, expected 1 tensor"),
    ],
)
def test_what_is_returned_must_be_as_the_references(
    grader: Grader, tmp_path: Path, old: str, new: str, message: str
) -> None:
    file = written(tmp_path, "a.py", SOLUTION.replace(old, new))
    result = graded(grader, foreign(checkout(tmp_path)), file)
    assert result.verdict is Verdict.RUNTIME_ERROR
    assert message in result.message


@pytest.mark.corpus
def test_inputs_are_the_submissions_own(grader: Grader, tmp_path: Path) -> None:
    problem = foreign(checkout(tmp_path))
    last = SLOPE.replace("return (", "return x.copy_(")
    result = graded(grader, problem, written(tmp_path, "a.py", VALUE + last))
    assert result.accepted, result.message
    first = VALUE.replace("(x.float() ** 2)", "x.zero_().float()")
    result = graded(grader, problem, written(tmp_path, "b.py", first + SLOPE))
    assert result.verdict is Verdict.WRONG_ANSWER


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("quadratic_slope", "gradient", "does not say what a submission calls reference_slope"),
        ("ROWS =", "my_value =", "calls reference_value: my_value, quadratic_value"),
        ("atol=ATOL", "atol=0", ""),
        ("ATOL, RTOL, generate", "generate", ""),
        ("allclose", "equal", "does not compare by allclose with ATOL and RTOL"),
        ("2_048", "len(COUNTS)", "its generate_inputs takes rows, which neither"),
        ("2_048", "2__048", "its generate_inputs takes rows, which neither"),
        ("def check", "    generate_inputs(MORE, 1)\nMORE = 3\ndef check", "takes rows"),
        ("(ROWS, width,", "(width=width, rows=ROWS,", ""),
    ],
)
def test_what_does_not_say_enough_is_not_graded(
    tmp_path: Path, old: str, new: str, reason: str
) -> None:
    assert old in RUNS_IT
    source = read_problem(checkout(tmp_path, runs_it=RUNS_IT.replace(old, new)))
    assert reason in source.lack
    assert bool(reason) == bool(source.lack)


def test_what_runs_it_must_be_there(tmp_path: Path) -> None:
    folder = checkout(tmp_path)
    (folder / "task.yml").write_text(TASK.replace('main: "run.py"', "main: 3"))
    assert "does not say what runs it" in read_problem(folder).lack
    (folder / "task.yml").write_text(TASK.replace('"source": "run.py"', '"source": "/etc/run.py"'))
    assert "no Python file of the checkout" in read_problem(folder).lack


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("ATOL, RTOL = 1e-3, 1e-2", "ATOL, RTOL = 1e-3, '1'", "has no RTOL"),
        ("scale, weight):", "scale, *weight):", "takes more than inputs by their names"),
        ("return x, torch", "return torch", "does not return x, scale, weight"),
        ("return (x.float().square() * scale).sum(1)", "return 1.5", "returns no tensor"),
    ],
)
def test_references_that_keep_no_rules_say_why(
    tmp_path: Path, old: str, new: str, reason: str
) -> None:
    assert old in REFERENCE
    problem = foreign(checkout(tmp_path, REFERENCE.replace(old, new)))
    try:
        said = problem.unfit(emulated=True)
    except Exception as error:  # a mistake of the file
        said = str(error)
    assert reason in said


@pytest.mark.parametrize(
    "text",
    [
        "a" * (1 << 21) + "_value",
        "_value" * (1 << 18),
        "generate_inputs(" * (1 << 17),
        "generate_inputs(" + "a," * (1 << 19),
        ("N" * 1000 + " " * 1000) * 1000 + "=",
        ("N = 1" + " " * 4000 + "x\n") * 400,
        "\n".join(f"A{n} = {n}; b{n}_value" for n in range(50_000)),
    ],
)
def test_hostile_text_is_read_in_no_time(tmp_path: Path, text: str) -> None:
    folder = checkout(tmp_path, runs_it=RUNS_IT + text)
    began = time.process_time()
    read_problem(folder)
    other = REFERENCE + text.replace("generate", "\ndef generate").replace("b", "\ndef reference_")
    read_problem(checkout(tmp_path, other))
    assert time.process_time() - began < 5
