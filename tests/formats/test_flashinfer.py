"""FlashInfer's format: ``run`` by order, by name, and with its outputs; files from the checkout."""

import json
from pathlib import Path

import pytest
from formats.flashinfer_problems import (
    ACCEPTED,
    EXPRESSION,
    MOST,
    MOST_WORK,
    NORM,
    NORM_WORK,
    STORED,
    WRONG,
    checkout,
    definition,
    workload,
)
from support.foreign import foreign, graded, written

from harness.errors import ProblemError, UsageError
from harness.formats.known import problems_in, read_problem
from harness.grading.grader import Grader
from harness.problem.case import CaseLimits
from harness.records.result import Verdict


@pytest.mark.corpus
def test_right_and_wrong(grader: Grader, tmp_path: Path) -> None:
    problem = foreign(checkout(tmp_path, "norm_d64", NORM, NORM_WORK))
    assert (problem.slug, problem.title) == ("flashinfer-norm-d64", "norm d64")
    text = ACCEPTED["norm"][2]
    result = graded(grader, problem, written(tmp_path, "a.py", text))
    assert result.accepted, result.message
    assert result.build is not None
    assert result.build.contract == "run"
    assert sorted(each.spec for each in result.cases) == [
        f"workload={n},sizes=cpu" for n in (1, 2, 3)
    ]
    assert "sizes: variable axes divided by up to 64 for the CPU" in result.claims
    wrong = graded(grader, problem, written(tmp_path, "b.py", text.replace("+ eps", "* 1.1 + eps")))
    assert wrong.verdict is Verdict.WRONG_ANSWER
    many = graded(grader, problem, written(tmp_path, "c.py", "def run(x): return x\n"))
    assert many.verdict is Verdict.INVALID_SUBMISSION
    assert "run takes 1 arguments" in many.message
    other = graded(grader, problem, written(tmp_path, "d.py", "def custom_kernel(data): pass\n"))
    assert other.verdict is Verdict.INVALID_SUBMISSION


@pytest.mark.corpus
@pytest.mark.parametrize("name", ACCEPTED)
def test_every_solution_is_accepted(grader: Grader, tmp_path: Path, name: str) -> None:
    made, work, solution, claim = ACCEPTED[name]
    problem = foreign(checkout(tmp_path, name, made, work))
    result = graded(grader, problem, written(tmp_path, "a.py", solution))
    assert result.accepted, result.message
    assert claim in result.claims
    right, instead = WRONG[name]
    assert right in solution
    result = graded(grader, problem, written(tmp_path, "b.py", solution.replace(right, instead)))
    assert result.verdict is Verdict.WRONG_ANSWER


@pytest.mark.corpus
def test_only_a_part_must_be_right_where_a_workload_says_so(grader: Grader, tmp_path: Path) -> None:
    text = "def run(x):\n    y = x.exp()\n    y[:{}] += 1\n    return y\n"
    problem = foreign(checkout(tmp_path, "most", MOST, MOST_WORK))
    few = graded(grader, problem, written(tmp_path, "a.py", text.format(4)))
    assert few.accepted, few.message
    many = graded(grader, problem, written(tmp_path, "b.py", text.format(5)))
    assert many.verdict is Verdict.WRONG_ANSWER
    whole = definition("def run(x): return x.exp()", {"x": "n"}, {"y": "n"}, {"n": None})
    folder = tmp_path / "sol/exp"
    written(folder, "definition.json", json.dumps(whole))
    written(folder, "workload.jsonl", json.dumps(workload({"n": 400}, x="random")))
    silent = graded(grader, foreign(folder), tmp_path / "a.py")
    assert silent.accepted, silent.message  # SOL-ExecBench's own part
    strict = foreign(checkout(tmp_path / "all", "exp", whole, [workload({"n": 400}, x="random")]))
    assert graded(grader, strict, tmp_path / "a.py").verdict is Verdict.WRONG_ANSWER
    capped = [{**MOST_WORK[0], "tolerance": {"max_error_cap": 0.5}}]
    problem = foreign(checkout(tmp_path / "capped", "most", MOST, capped))
    one = graded(grader, problem, written(tmp_path, "c.py", text.format(1)))
    assert one.verdict is Verdict.WRONG_ANSWER


@pytest.mark.parametrize(
    ("about", "reason"),
    [
        ({"path": "blob/gone.safetensors"}, "need blob/gone.safetensors, which is not in"),
        ({"path": "../secret.safetensors"}, "need ../secret.safetensors, which is not in"),
        ({"path": "/etc/passwd"}, "need /etc/passwd, which is not in"),
        ({"path": "blob/link.safetensors"}, "need blob/link.safetensors, which is not in"),
        ({"path": "blob/kept.safetensors"}, "need blob/kept.safetensors, which is not in"),
        ({"path": "\0"}, "which is not in the checkout"),
        ({}, "need None, which is not in"),
    ],
)
def test_tensors_that_are_not_there_are_named_by_reading(
    tmp_path: Path, about: dict[str, str], reason: str
) -> None:
    (tmp_path / "secret.safetensors").write_bytes(b"SECRET")
    start = {"type": "safetensors", "tensor_key": "start", **about}
    work = [workload({"n": 30, "k": 4}, x="random", start=start)]
    path = checkout(tmp_path / "set", "stored", STORED, work)
    (tmp_path / "set/blob/link.safetensors").symlink_to(tmp_path / "secret.safetensors")
    (tmp_path / "set/blob/kept.safetensors").write_bytes(b"version https://git-lfs.github.com\n")
    source = read_problem(path)
    assert reason in source.lack
    assert not any(b"SECRET" in each.text for each in source.files)
    assert reason in foreign(path).unfit(emulated=True)


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"reference": "import no_such\ndef run(x): return x"}, "no_such"),
        (
            {"inputs": {"x": {"shape": ["b", "s"], "dtype": "float4_e2m1fn_x2"}}},
            "x is to be random",
        ),
        ({"outputs": {"y": {"shape": ["t"], "dtype": "float8_e4m3fn"}}}, "y is a tensor of"),
        ({"inputs": {"x": {"shape": ["b", "s"], "dtype": "float3"}}}, "float3"),
        ({"outputs": {"y": {"shape": None, "dtype": "float32"}}}, "y is a number"),
        ({"reference": "import torch\ndef run(x): return torch.rand(12)"}, "the same each time"),
    ],
)
def test_what_is_not_graded_says_why(
    tmp_path: Path, changes: dict[str, object], reason: str
) -> None:
    work = [workload({"b": 3, "s": 4}, x="random")]
    path = checkout(tmp_path, "expression", {**EXPRESSION, **changes}, work)
    assert reason in foreign(path).unfit(emulated=True)


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("changes", "work", "reason"),
    [
        ({"reference": "x = 1"}, {"b": 3, "s": 4}, "defines no run"),
        ({"reference": "def run(x): return x, x"}, {"b": 3, "s": 4}, "returns 2 of 1 outputs"),
        ({"reference": "def run(x): return {'z': x}"}, {"b": 3, "s": 4}, "other outputs"),
        ({}, {"b": 3}, "no axis s"),
        ({"axes": {"b": {"type": "expr", "expression": "9**9**9**9"}}}, {"s": 1}, ""),
    ],
)
def test_mistakes_end_their_own_problem(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    changes: dict[str, object],
    work: dict[str, int],
    reason: str,
) -> None:
    monkeypatch.setattr("harness.formats.client.PROCESSOR_S", 40.0)
    path = checkout(tmp_path, "e", {**EXPRESSION, **changes}, [workload(work, x="random")])
    with pytest.raises(ProblemError) as found:
        foreign(path).unfit(emulated=True)
    assert reason in str(found.value)


@pytest.mark.corpus
def test_some_workloads_are_left_out(tmp_path: Path) -> None:
    start = {"type": "safetensors", "tensor_key": "start", "path": "blob/gone.safetensors"}
    there = ACCEPTED["stored"][1]
    away = workload({"n": 30, "k": 4}, x="random", start=start)
    problem = foreign(checkout(tmp_path, "stored", STORED, [away, *there]))
    assert problem.unfit(emulated=True) == ""
    assert "cases: 1 of 2 in the checkout" in problem.claims(emulated=True)
    (case,) = problem.draw_cases("s", dtype="float32", room=CaseLimits(work=1.0))
    _, offsets, _ = problem.tensors_of(case, "float32")
    assert problem.inputs().draw(offsets, case, "a").tolist() == [0, 7, 11, 30]


def test_checkouts_are_listed_by_reading(tmp_path: Path) -> None:
    checkout(tmp_path, "b", NORM, NORM_WORK)
    checkout(tmp_path, "a", definition("raise SystemExit", {"x": "n"}, {"y": "n"}, {"n": 1}), [])
    written(tmp_path, "sol/softmax/definition.json", json.dumps(NORM))
    written(tmp_path, "sol/softmax/workload.jsonl", json.dumps(NORM_WORK[0]))
    written(tmp_path, "solution.json", json.dumps({"definition": "b", "sources": []}))
    written(tmp_path, "deep.json", '{"axes" "inputs" "outputs" "reference"' + "[" * 9999)
    found = list(problems_in(tmp_path))
    assert [each.slug for each in found] == [
        "flashinfer-a",
        "flashinfer-b",
        "flashinfer-stand-in",
    ]
    assert found[0].lack == "there are no workloads for it in the checkout"
    assert [file.name for file in found[1].files] == [
        "reference.py",
        "definition.json",
        "workloads.json",
    ]
    assert read_problem(tmp_path / "sol/softmax").hash == found[2].hash
    with pytest.raises(UsageError, match="no problem of a known format"):
        read_problem(tmp_path / "solution.json")
