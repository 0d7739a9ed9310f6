"""Problems that pass what computes nothing, and what results and ``verify`` say of them."""

import json
from pathlib import Path

import pytest
from formats.kernelbench_problems import HEAD, SCALED
from formats.leetgpu_problems import challenge, checkout
from formats.weak_problems import WEAK
from support.commands import in_shell, words
from support.foreign import foreign, graded, grading, written

from harness.device.cpu import CpuDevice
from harness.formats import weakness
from harness.formats.weakness import try_impostors, weak_claims
from harness.progress.progress import NoProgress
from harness.verify.findings import Level, Status
from harness.verify.foreign import verify_foreign


@pytest.mark.corpus
@pytest.mark.parametrize("name", WEAK)
def test_which_impostors_a_problem_accepts(tmp_path: Path, name: str) -> None:
    text, accepted = WEAK[name]
    problem = foreign(written(tmp_path, "problem.py", text))
    tried = try_impostors(problem, "seed", 2, emulated=True)
    assert [each.name for each in tried if each.accepted] == accepted
    assert all(each.spec.startswith("inputs=") for each in tried if each.refused)
    claims = problem.claims(emulated=True)
    weak = [f"weak: {each} passes" for each in accepted]
    assert [each for each in claims if each.startswith("weak: ")] == weak
    assert claims[-1].startswith("tolerance: own")


@pytest.mark.parametrize(
    ("lengths", "status"), {"1, 1": "accepted", "1, 9": "not applicable"}.items()
)
def test_what_has_no_answer_in_one_case_passes_none(
    tmp_path: Path, lengths: str, status: str
) -> None:
    text = challenge(
        "'x': (FLOATS, 'in'), 'y': (FLOATS, 'out')",
        "x, y):\n        y[0] = x.sum()",
        f"return [{{'x': torch.rand(n), 'y': torch.empty(1)}} for n in ({lengths})]",
    )
    problem = foreign(checkout(tmp_path, "sum", text))
    report = verify_foreign(problem, "seed", 1, CpuDevice(), NoProgress())
    statuses = {each.name: each.status for each in report.impostors}
    assert statuses["its own input"] == status
    claims = problem.claims(emulated=True)
    assert ("weak: its own input passes" in claims) is (status == "accepted")


@pytest.mark.corpus
def test_a_result_carries_the_claims(tmp_path: Path) -> None:
    text, _ = WEAK["identity"]
    problem = foreign(written(tmp_path, "relu.py", text))
    with grading() as grader:
        right = written(tmp_path, "right.py", text + "\nModelNew = Model\n")
        assert "weak: its own input passes" in graded(grader, problem, right).claims
        lazy = text.replace("class Model", "class ModelNew").replace("torch.relu(x)", "x.clone()")
        assert graded(grader, problem, written(tmp_path, "lazy.py", lazy)).accepted


def test_verify_warns_of_what_is_accepted(tmp_path: Path) -> None:
    text, _ = WEAK["identity"]
    problem = foreign(written(tmp_path, "relu.py", text))
    report = verify_foreign(problem, "seed", 1, CpuDevice(), NoProgress())
    statuses = {each.name: each.status for each in report.impostors}
    assert statuses == {
        "zero answer": Status.REJECTED,
        "constant answer": Status.REJECTED,
        "another input's answer": Status.REJECTED,
        "its own input": Status.ACCEPTED,
    }
    (finding,) = report.findings
    assert finding.level is Level.WARNING
    assert finding.message == "impostor “its own input” is accepted in all 2 cases"
    assert finding.remedy == "its results carry the claim “weak: its own input passes”"


def test_code_that_fails_later_has_no_claims(tmp_path: Path) -> None:
    asked = HEAD + "import os\n" + SCALED.replace("[torch.rand(batch_size, wide)]", "given()")
    asked += "\ntimes = [0]\ndef given():\n    times[0] += 1\n    assert times[0] < 4\n"
    asked += "    return [torch.rand(batch_size, wide)]\n"
    assert weak_claims(foreign(written(tmp_path, "a.py", asked)), emulated=True) == ()


def test_large_tensors_are_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weakness, "MOST_BYTES", 100)
    problem = foreign(written(tmp_path, "large.py", WEAK["identity"][0] + "# large\n"))
    assert weak_claims(problem, emulated=True) == ("weak: not tried, its tensors are large",)
    (finding,) = verify_foreign(problem, "seed", 1, CpuDevice(), NoProgress()).findings
    assert finding.message == "its tensors are too large to try impostors on"


@pytest.mark.corpus
def test_verify_of_a_checkout(tmp_path: Path) -> None:
    written(tmp_path, "set/level1/1_relu.py", WEAK["identity"][0])
    written(tmp_path, "set/level1/2_strong.py", WEAK["strong"][0])
    written(tmp_path, "set/level1/3_mistake.py", WEAK["strong"][0] + "\nraise ValueError('no')\n")
    written(
        tmp_path, "set/level1/4_random.py", WEAK["strong"][0].replace("x.T", "torch.rand_like(x.T)")
    )
    done = in_shell(words("verify", "set"), tmp_path)
    assert done.returncode == 1, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("WARNING set/level1/1_relu.py: impostor “its own input” is accepted")
    assert lines[1].startswith(
        "kernelbench-level1-1-relu: 0 errors, 1 warning · 3 impostors rejected, 1 accepted · "
    )
    assert lines[2].startswith("kernelbench-level1-2-strong: 0 errors, 0 warnings · 3 impostors")
    assert lines[3].startswith("ERROR set/level1/3_mistake.py:")
    assert "ValueError: no" in lines[3]
    assert lines[5].startswith("WARNING set/level1/4_random.py: cannot be graded here")
    assert lines[7].startswith("4 problems: 1 error, 2 warnings")
    one = in_shell(words("verify", "set/level1/1_relu.py", "--json"), tmp_path)
    assert one.returncode == 0, one.stderr
    (report,) = json.loads(one.stdout)
    assert [each["status"] for each in report["impostors"]].count("accepted") == 1
