"""Folders and JSON lines of a model's outputs, graded against the problems of a checkout."""

import json
from pathlib import Path

import pytest
from formats.kernelbench_problems import ACCEPTED, HEAD
from support.commands import in_shell, words
from support.foreign import written

from harness.commands.jobs import Packages, _by_problem, job_of
from harness.errors import UsageError
from harness.formats.problem import Foreign
from harness.grading.job import Job
from harness.solution.files import solution_files

ROOT = Path(__file__).parents[2] / "problems"
TEXT = HEAD + ACCEPTED["fixed"][0]
RIGHT = TEXT + "\nModelNew = Model\n"
WRONG = RIGHT.replace("return x.cumsum(0)", "return x.cumsum(0) + 1")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for level, name in ((1, "1_Scan"), (1, "2_Next"), (2, "1_Scan")):
        written(tmp_path, f"set/level{level}/{name}.py", f"{TEXT}# {level} {name}\n")
    return tmp_path / "set"


def test_each_file_has_its_problem(checkout: Path, tmp_path: Path) -> None:
    packages = Packages(ROOT)
    path = written(tmp_path, "run/level_2_problem_1_sample_0_kernel.py", RIGHT)
    job = job_of(path, packages, problem=str(checkout))
    assert isinstance(job.problem, Foreign)
    assert job.problem.slug == job.solution.problem == "kernelbench-level2-1-scan"  # type: ignore[union-attr]
    assert job_of(path, Packages(checkout), problem=None).problem.slug == job.problem.slug
    header = written(tmp_path, "0.txt", f"# Problem: 2_Next\n# Model: m\n\n```python\n{RIGHT}```")
    assert job_of(header, packages, problem=str(checkout)).problem.slug.endswith("level1-2-next")
    own = written(tmp_path, "solutions/kernelbench-level1-1-scan/me/a.py", RIGHT)
    assert job_of(own, packages, problem=str(checkout)).problem.slug.endswith("level1-1-scan")
    one = checkout / "level1" / "1_Scan.py"
    assert job_of(path, packages, problem=str(one)).problem.slug.endswith("level1-1-scan")


def test_a_record_may_name_a_package(tmp_path: Path) -> None:
    records = [{"problem": "Softmax", "model": "m", "code": "def solution(x, y): pass\n"}]
    path = tmp_path / "samples.jsonl"
    path.write_text(json.dumps(records[0]))
    (one,) = solution_files([path])
    assert job_of(one, Packages(ROOT), problem=None).problem.slug == "softmax"
    assert job_of(one, Packages(ROOT), problem="vector-add").problem.slug == "vector-add"


@pytest.mark.parametrize(
    ("name", "text", "given", "reason"),
    [
        ("level_1_problem_1_sample_0.py", RIGHT, None, "is for level 1, problem 1 of a set"),
        ("level_3_problem_1_sample_0.py", RIGHT, "set", "set has no level 3, problem 1"),
        ("kernel.py", RIGHT, "set", "which problem of set\\?"),
        ("samples.jsonl:2", '{"code": "x"}', "set", "no such line"),
        ("gone.jsonl:2", "", "set", "no such file"),
    ],
)
def test_what_is_not_known_says_what_to_do(
    checkout: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    text: str,
    given: str | None,
    reason: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    if text:
        written(tmp_path, name.partition(":")[0], text)
    with pytest.raises(UsageError, match=reason):
        job_of(Path(name), Packages(ROOT), problem=given)


def test_samples_of_a_problem_are_graded_together(checkout: Path, tmp_path: Path) -> None:
    packages = Packages(ROOT)
    names = [f"level_1_problem_{n}_sample_{s}_kernel.py" for s in (0, 1) for n in (2, 1)]
    jobs = [
        job_of(written(tmp_path, name, RIGHT), packages, problem=str(checkout)) for name in names
    ]
    ours = Job(path="own", solution=jobs[0].solution, problem=packages.find("softmax"))
    found = _by_problem([jobs[0], ours, *jobs[1:]])
    order = [0, 2, None, 1, 3]
    assert [jobs.index(each) if each in jobs else None for each in found] == order


@pytest.mark.corpus
def test_a_run_is_graded_resumed_and_compared(checkout: Path, tmp_path: Path) -> None:
    run = tmp_path / "runs" / "some-run"
    written(run, "level_1_problem_1_sample_0_kernel.py", RIGHT)
    written(run, "level_1_problem_1_sample_1_kernel.py", RIGHT)
    written(run, "level_2_problem_1_sample_0_kernel.py", WRONG)
    written(run, "level_9_problem_1_sample_0_kernel.py", RIGHT)
    record = {"level": 1, "problem_id": 2, "sample_id": 0, "model": "other", "kernel": RIGHT}
    lines = [record, {**record, "sample_id": 1, "kernel": None}, {**record, "sample_id": 2}]
    (tmp_path / "runs" / "more.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\nno\n")
    asked = words("submit", "runs", "--problem", "set", "--store", "s.db")
    done = in_shell(asked, tmp_path)
    assert done.returncode == 2, done.stderr
    counts = "8 files: 4 ACCEPTED, 1 WRONG_ANSWER, 1 INVALID_SUBMISSION; 2 not judged: "
    lost = "runs/more.jsonl:4, runs/some-run/level_9_problem_1_sample_0_kernel.py"
    assert done.stderr.splitlines()[-1] == counts + lost
    assert "runs/more.jsonl:4: is no JSON" in done.stderr
    assert "set has no level 9, problem 1" in done.stderr
    again = in_shell(f"{asked} --resume", tmp_path)
    assert "6 recorded already, 0 to grade" in again.stderr

    shown = in_shell(words("leaderboard", "--by", "model", "--store", "s.db"), tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert "other: 2 ACCEPTED, 1 INVALID_SUBMISSION (1 NO_CODE)" in shown.stdout
    assert "some-run: 2 ACCEPTED, 1 WRONG_ANSWER" in shown.stdout


@pytest.mark.corpus
def test_results_of_a_checkout_are_graded_again(checkout: Path, tmp_path: Path) -> None:
    record = {"level": 1, "problem_id": 1, "model": "m", "kernel": RIGHT}
    (tmp_path / "runs.jsonl").write_text(json.dumps(record) + "\n")
    store = ("--store", "s.db")
    done = in_shell(words("submit", "runs.jsonl", "--problem", "set", *store), tmp_path)
    assert done.returncode == 0, done.stderr
    left = in_shell(words("regrade", *store), tmp_path)
    assert left.returncode == 0
    assert "note: 1 result of problems in other formats left out: name the folder" in left.stderr
    assert left.stdout.startswith("nothing to grade again")
    current = in_shell(words("regrade", "set", *store), tmp_path)
    assert current.stdout.startswith("nothing to grade again")
    scan = checkout / "level1" / "1_Scan.py"
    scan.write_text(scan.read_text() + "# another version\n")
    again = in_shell(words("regrade", "set", *store), tmp_path)
    assert again.stdout.splitlines() == [
        "regraded  kernelbench-level1-1-scan · m/level_1_problem_1_record_1 · float32: ACCEPTED",
        "1 regraded (1 ACCEPTED), 0 skipped",
    ]
    scan.rename(checkout / "level1" / "3_Scan.py")
    gone = in_shell(words("regrade", "set", "kernelbench-level1-1-scan", *store), tmp_path)
    assert gone.returncode == 1
    assert "problem gone, or with mistakes" in gone.stdout
