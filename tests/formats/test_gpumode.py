"""GPU MODE's contract: what solves a task is accepted, and what it names is all that is read."""

import json
from pathlib import Path

import pytest
import torch
from formats.gpumode_problems import ACCEPTED, HEAD, MASKED, PROPERTY, REFUSED, SORT, checkout
from support.foreign import foreign, graded, job, written

from harness.errors import ProblemError
from harness.formats.known import problems_in, read_problem
from harness.grading.grader import Grader
from harness.grading.job import Options
from harness.problem.case import CaseLimits
from harness.records.result import Verdict


@pytest.mark.corpus
def test_right_and_wrong(grader: Grader, tmp_path: Path) -> None:
    problem = foreign(checkout(tmp_path, "sort_py", SORT))
    assert (problem.slug, problem.title) == ("gpumode-set-sort-py", "sort py")
    text = ACCEPTED["sort"][1]
    result = graded(grader, problem, written(tmp_path, "a.py", text))
    assert result.accepted, result.message
    assert [each.spec for each in result.cases] == ["test=1,sizes=cpu", "test=2,sizes=cpu"]
    assert "cases: 2 of 3 for the CPU" in result.claims
    late = text.replace("x.sort()[0]", "x.sort(descending=x.numel() > 99)[0]")
    wrong = graded(grader, problem, written(tmp_path, "b.py", late))
    assert wrong.verdict is Verdict.WRONG_ANSWER
    assert wrong.failed_case is not None
    assert wrong.failed_case.spec.startswith("test=2")
    other = graded(grader, problem, written(tmp_path, "c.cu", 'extern "C" void solution() {}'))
    assert other.verdict is Verdict.INVALID_SUBMISSION
    assert "custom_kernel" in other.message


@pytest.mark.corpus
def test_seeds_are_no_larger_than_the_tasks_own(tmp_path: Path) -> None:
    """Values around a seed of nine digits would all be the same float."""
    drawing = 'torch.rand(size, device="cuda", generator=generator(seed))'
    assert drawing in SORT
    problem = foreign(checkout(tmp_path, "sort_py", SORT.replace(drawing, f"{drawing} + seed")))
    cases = problem.draw_cases("s", dtype="float32", room=CaseLimits(work=1.0))
    drawn = []
    for case in cases:
        spec = problem.tensors_of(case, "float32")[0]
        values = [problem.inputs().draw(spec, case, f"s/{call}") for call in range(3)]
        assert all(len(x.unique()) > 0.9 * x.numel() for x in values)
        drawn += [int(x.min()) for x in values]
        assert all(x.min() >= 1 and x.max() <= 4243 for x in values)
    assert len(set(drawn)) == len(drawn)


@pytest.mark.corpus
@pytest.mark.parametrize("name", ACCEPTED)
def test_every_solution_is_accepted(grader: Grader, tmp_path: Path, name: str) -> None:
    text, solution, claim = ACCEPTED[name]
    problem = foreign(checkout(tmp_path, name, text))
    result = graded(grader, problem, written(tmp_path, "a.py", solution))
    assert result.accepted, result.message
    assert claim in result.claims
    zero = "\n\nbefore = custom_kernel\n\ndef custom_kernel(data):\n    made = before(data)\n"
    zero += "    many = made if isinstance(made, tuple) else (made,)\n"
    zero += "    for each in many: each.zero_()\n    return made\n"
    result = graded(grader, problem, written(tmp_path, "b.py", solution + zero))
    assert result.verdict is Verdict.WRONG_ANSWER


@pytest.mark.corpus
def test_all_that_is_given_is_a_copy(grader: Grader, tmp_path: Path) -> None:
    problem = foreign(checkout(tmp_path, "alone", ACCEPTED["alone"][0]))
    (case, *_) = problem.draw_cases("s", dtype="float16", room=CaseLimits(work=1.0))
    assert [str(each.direction) for each in problem.tensors_of(case, "float16")] == ["inout", "out"]
    text = "def custom_kernel(data):\n    made = data * 2\n    data.zero_()\n    return made\n"
    result = graded(grader, problem, written(tmp_path, "a.py", text))
    assert result.accepted, result.message
    wide = text.replace("data * 2", "data.float() * 2")
    result = graded(grader, problem, written(tmp_path, "b.py", wide))
    assert result.verdict is Verdict.RUNTIME_ERROR
    assert "expected torch.float16" in result.message


@pytest.mark.corpus
def test_a_reference_that_computes_in_float64_is_accepted_itself(
    grader: Grader, tmp_path: Path
) -> None:
    problem = foreign(checkout(tmp_path, "scratch", ACCEPTED["scratch"][0]))
    text = "def custom_kernel(data): return data[0].double().cumsum(0)\n"
    result = graded(grader, problem, written(tmp_path, "a.py", text))
    assert result.accepted, result.message


@pytest.mark.corpus
@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_graded_says_why(tmp_path: Path, name: str) -> None:
    text, reason = REFUSED[name]
    assert reason in foreign(checkout(tmp_path, name, text)).unfit(emulated=True)


@pytest.mark.corpus
def test_cases_differ_by_more_than_sizes(tmp_path: Path) -> None:
    tests = '  - {"size": 8, "seed": 1}\n  - {"size": 8, "seed": 1, "case": "high"}'
    problem = foreign(checkout(tmp_path, "property", PROPERTY, tests))
    low, high = problem.draw_cases("s", dtype="float32", room=CaseLimits(work=1.0))
    inputs = problem.inputs()
    (data, _) = problem.tensors_of(low, "float32")
    one, other = inputs.draw(data, low, "a"), inputs.draw(data, high, "a")
    assert float(one.max()) < 1 <= float(other.min())
    assert not one.equal(inputs.draw(data, low, "b"))


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("check", "reason"),
    [
        ("return False", "does not accept its own reference's answer"),
        ("return []", ""),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("return open('/etc/new', 'w')", "Error"),
        ("import os; os._exit(3)", "ended its process with status 3"),
        ("data.zero_(); output.zero_(); return True", ""),
    ],
)
def test_hostile_checks_end_their_own_problem(tmp_path: Path, check: str, reason: str) -> None:
    text = PROPERTY.split("def check_implementation")[0]
    text += f"def check_implementation(data, output):\n    {check}\n"
    problem = foreign(checkout(tmp_path, "lies", text))
    try:
        said = problem.unfit(emulated=True)
    except ProblemError as error:
        said = str(error)
    assert reason in said
    assert bool(said) == bool(reason)


@pytest.mark.corpus
def test_outputs_that_a_check_cannot_look_at_are_wrong(grader: Grader, tmp_path: Path) -> None:
    text = PROPERTY.replace("    if output.dtype", "    assert_right(output)\n    if output.dtype")
    text += "\ndef assert_right(output):\n    if output.isnan().any(): raise ValueError('NaN')\n"
    problem = foreign(checkout(tmp_path, "property", text))
    file = written(tmp_path, "a.py", "def custom_kernel(data): return data * float('nan')\n")
    result = graded(grader, problem, file)
    assert result.verdict is Verdict.WRONG_ANSWER


@pytest.mark.corpus
def test_types_may_differ_by_case_and_what_has_more_is_left_out(
    grader: Grader, tmp_path: Path
) -> None:
    tests = '  - {"size": 8, "seed": 1}\n  - {"size": 9, "seed": 1, "masked": true}\n'
    tests += '  - {"size": 9, "seed": 1, "parts": 3}'
    problem = foreign(checkout(tmp_path, "masked", MASKED, tests))
    text = "def custom_kernel(data): return data[0] * data[1]\n"
    result = graded(grader, problem, written(tmp_path, "a.py", text))
    assert result.accepted, result.message
    assert "cases: 2 of 4 for the CPU" in result.claims
    assert len(result.cases) == 2


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('lang: "py"', 'lang: "py"\nmulti_gpu: true', "needs several GPUs"),
        ('lang: "py"', 'lang: "cu"', "written in cu"),
        ('"../utils.py"', '"../../../../../etc/passwd"', "is no Python file of the checkout"),
        ('"../utils.py"', '"../../../../secret.py"', "is no Python file of the checkout"),
        ('"../utils.py"', '"../gone.py"', "cannot be read"),
        ('"name": "utils.py"', '"name": "../utils.py"', "is no name for a file here"),
        ('"name": "reference.py"', '"name": "other.py"', "names no reference.py"),
        ('"size": 33', '"size": *a', "aliases"),
        ('{"size": 33, "seed": 4242}', "&a [1]\n  - *a", "aliases"),
        ('{"size": 33, "seed": 4242}', "[" * 60_000, "nested deeper than 8 levels"),
        ('{"size": 33, "seed": 4242}', "- " * 30_000, "nested deeper than 8 levels"),
        ('{"size": 33, "seed": 4242}', "[1", "cannot be read"),
        ('{"size": 33, "seed": 4242}', "[1]", "tests is no list of mappings"),
        ('"size": 33', '"size": .nan', "cannot be read"),
        ('"size": 33', '"size": 2020-13-01', "no timestamp: put the value in quotes"),
        ('lang: "py"', 'lang: "py"\nlang: "cu"', "lang: given twice (first on line "),
        ('lang: "py"', 'lang: !mine "py"', "YAML tags (!mine) are not allowed"),
        ('lang: "py"', f"lang: {'x' * (64 << 10)}", "cannot be read: line 1: it is larger than"),
    ],
)
def test_hostile_tasks_are_named_by_reading(
    tmp_path: Path, old: str, new: str, reason: str
) -> None:
    written(tmp_path, "secret.py", "SECRET = 1")
    folder = checkout(tmp_path / "deep", "sort", SORT)
    task = folder / "task.yml"
    assert old in task.read_text()
    task.write_text(task.read_text().replace(old, new))
    source = read_problem(folder)
    assert reason in source.lack
    assert not any(b"SECRET" in each.text for each in source.files)
    assert reason in foreign(folder).unfit(emulated=True)


@pytest.mark.parametrize(
    ("told", "call_s"),
    [("25", 25.0), ("480", 60.0), ("0.5", 10.0), ("9" * 400, 60.0), ("-3", 10.0), ('"a"', 10.0)],
)
def test_a_call_may_take_what_a_task_lets_its_tests_take(
    tmp_path: Path, told: str, call_s: float
) -> None:
    folder = checkout(tmp_path, "sort", SORT)
    assert foreign(folder).limits.call_s == 10.0
    task = folder / "task.yml"
    task.write_text(task.read_text() + f"test_timeout: {told}\n")
    assert foreign(folder).limits.call_s == call_s


def test_checkouts_are_listed_by_reading(tmp_path: Path) -> None:
    for name in ("b", "a"):
        folder = checkout(tmp_path, name, "raise SystemExit\n" + SORT)
    (link := folder / "out.py").symlink_to("/etc/passwd")
    written(tmp_path, "other/task.yml", "files: 1\n")
    found = list(problems_in(tmp_path))
    assert [source.slug for source in found] == ["gpumode-set-a", "gpumode-set-b"]
    names = [file.name for file in found[0].files]
    assert names == ["reference.py", "task.py", "utils.py", "task.json"]
    cases = json.loads(found[0].files[-1].text)
    assert cases["tests"][0] == {"size": 33, "seed": 4242}
    task = folder / "task.yml"
    task.write_text(task.read_text().replace('"task.py"}', f'"{link.name}"}}'))
    assert "no Python file of the checkout" in read_problem(folder).lack


@pytest.mark.corpus
def test_narrow_inputs_of_a_wrong_answer_are_shown_as_numbers(
    grader: Grader, tmp_path: Path
) -> None:
    tests = '  - {"size": 4, "seed": 1}\n  - {"size": 4, "seed": 2}'
    problem = foreign(checkout(tmp_path, "narrow", ACCEPTED["narrow"][0], tests))
    wrong = ACCEPTED["narrow"][1].replace("a.float()", "a.view(torch.uint8)")
    chosen = Options(timing=False, shrink_s=60.0)
    result = grader.grade(job(problem, written(tmp_path, "a.py", wrong)), chosen)
    assert result.verdict is Verdict.WRONG_ANSWER
    assert result.shrunk is not None
    a, after = (each for each in result.shrunk.tensors if each.parameter == "data_0")
    assert (a.role, after.role, after.values) == ("input", "got", a.values)
    shown = torch.tensor(a.values, dtype=torch.float32)
    assert shown.to(torch.float8_e4m3fn).float().equal(shown)
    assert bool((shown < 0).any())
    assert bool((shown != shown.round()).any())


ROOM = CaseLimits(work=1.0)
MANY = (
    HEAD
    + """
def generate_input(size, seed):
    made = generator(seed)
    return {f"weight_{n:03}": torch.rand(size, device="cuda", generator=made) for n in range(20)}

def ref_kernel(data):
    return sum(data.values())

check_implementation = make_match_reference(ref_kernel)
"""
)


@pytest.mark.corpus
@pytest.mark.parametrize(("count", "lack"), [(30, ""), (90, "it has too many tests: message of")])
def test_a_description_may_be_as_long_as_a_packet(tmp_path: Path, count: int, lack: str) -> None:
    tests = "\n".join(f'  - {{"size": 4, "seed": {4000 + n}}}' for n in range(count))
    problem = foreign(checkout(tmp_path, "many", MANY, tests))
    found = problem.unfit(emulated=True)
    if lack:
        assert found.startswith(lack)
    else:
        assert found == ""
        assert len(problem.draw_cases("s", dtype="float32", room=ROOM)) == count
