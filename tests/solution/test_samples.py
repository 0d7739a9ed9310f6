"""What the names of samples, and the keys of JSON lines, say of model, problem and sample."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from harness.languages.read import is_there, read_solution
from harness.records.result import Reason
from harness.solution.files import solution_files
from harness.solution.generation.sample_file import sample_place
from harness.solution.model import Invalid, Solution
from harness.solution.wanted import Wanted, said

CODE = "import torch\n\n\nclass ModelNew(torch.nn.Module):\n    pass\n"
KERNEL = 'extern "C" void solution(float* x) {\n}\n'


def lines(folder: Path, *records: object, name: str = "samples.jsonl") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(each) + "\n" for each in records))
    return path


def only(path: Path) -> Solution:
    (one,) = solution_files([path])
    solution = read_solution(one)
    assert isinstance(solution, Solution), solution
    return solution


@pytest.mark.parametrize(
    ("config", "model"),
    [
        (None, "run-7"),
        ("model_name: vendor/some-8B\n", "vendor/some-8B"),
        ("level: 1\nmodel_name: 'quoted'  # comment\n", "quoted"),
        ("model_name: null\n", "run-7"),
        ("server_type: x\n", "run-7"),
    ],
)
def test_a_run_of_kernelbench(tmp_path: Path, config: str | None, model: str) -> None:
    run = tmp_path / "runs" / f"run-7{len(config or '')}"
    run.mkdir(parents=True)
    if config is not None:
        (run / "generation_config.yaml").write_text(config)
    name = "level_2_problem_19_sample_3_kernel.py"
    (run / name).write_text(CODE)
    (run / "level_2_problem_19_sample_3_prompt.txt").write_text("write a kernel")
    (run / "eval_results.json").write_text('{"19": [{"sample_id": 3, "compiled": true}]}')
    solution = only(run)
    assert solution.wanted == Wanted(level=2, number=19)
    assert (solution.name, solution.text) == (Path(name).stem, CODE)
    assert solution.generation is not None
    model = run.name if model == "run-7" else model
    assert (solution.generation.model, solution.generation.sample) == (model, "3")
    assert solution.author == model.replace("/", "-")


def test_other_names_say_nothing(tmp_path: Path) -> None:
    for name in ("level_1.py", "my_level_1_problem_2_sample_3.py", "kernel.py"):
        (tmp_path / name).write_text(CODE)
        solution = read_solution(tmp_path / name)
        assert isinstance(solution, Solution)
        assert not solution.wanted
        assert solution.generation is None
        assert solution.author == "anonymous"


def test_the_header_of_a_named_file_goes_before_its_name(tmp_path: Path) -> None:
    path = tmp_path / "level_1_problem_2_sample_0.txt"
    path.write_text(f"# Problem: softmax\n# Model: m\n\n```python\n{CODE}```\n")
    solution = read_solution(path)
    assert isinstance(solution, Solution)
    assert (solution.problem, solution.author) == ("softmax", "m")
    assert solution.generation is not None
    assert solution.generation.sample == "0"


RECORDS: dict[str, tuple[dict[str, Any], Wanted, str, str, str]] = {
    "kernelbench": (
        {"level": 1, "problem_id": 19, "sample_id": 4, "model_name": "a/b", "kernel": CODE},
        Wanted(level=1, number=19),
        *("a/b", "4", "level_1_problem_19_sample_4"),
    ),
    "cuda-l1": (
        {"level_id": 3, "task_id": "7", "ref_code": "a\nb", "custom_code": CODE, "score": 1.5},
        Wanted(level=3, number=7, reference="a\nb"),
        *("h100", "", "level_3_problem_7_record_1"),
    ),
    "archive": (
        {"Op_Name": "7_relu", "Level_ID": 1, "Task_ID": 7, "CUDA_Code": CODE, "Model": "m"},
        Wanted(level=1, number=7, name="7_relu"),
        *("m", "", "level_1_problem_7_record_1"),
    ),
    "path": (
        {"problem": "level2/12_Gemm.py", "model": "m", "sample": 0, "code": CODE},
        Wanted(level=2, number=12, name="12_Gemm.py"),
        *("m", "0", "level_2_problem_12_sample_0"),
    ),
    "level in words": (
        {"level": "level_3", "problem_id": 4, "sample_idx": "1", "model": "m", "kernel": CODE},
        Wanted(level=3, number=4),
        *("m", "1", "level_3_problem_4_sample_1"),
    ),
    "text": (
        {"problem": "import x\nclass Model: pass", "model": "m", "code": CODE},
        Wanted(reference="import x\nclass Model: pass"),
        *("m", "", "h100_record_1"),
    ),
    "raw": (
        {"level": 1, "problem_id": 2, "response": f"<think>no</think>\n```py\n{CODE}```\nDone."},
        Wanted(level=1, number=2),
        *("h100", "", "level_1_problem_2_record_1"),
    ),
    "fenced": (
        {"problem": "softmax", "model": "m", "code": f"Here:\n```python\n{CODE}```\n"},
        Wanted(name="softmax"),
        *("m", "", "softmax_record_1"),
    ),
    "flashinfer": (
        {
            "name": "fast_gemm_v2",
            "definition": "gemm_n_64_k_128",
            "author": "somebody",
            "spec": {"language": "triton", "entry_point": "main.py::run"},
            "sources": [{"path": "main.py", "content": CODE}],
        },
        Wanted(name="gemm_n_64_k_128"),
        *("somebody", "", "fast_gemm_v2"),
    ),
}


@pytest.mark.parametrize("kind", RECORDS)
@pytest.mark.parametrize("name", ["h100.jsonl", "h100.json"])
def test_keys_say_what_a_record_is(tmp_path: Path, kind: str, name: str) -> None:
    record, wanted, model, sample, called = RECORDS[kind]
    solution = only(lines(tmp_path, record, name=name).parent)
    assert solution.wanted == wanted
    assert solution.generation is not None
    assert (solution.generation.model, solution.generation.sample) == (model, sample)
    assert (solution.name, solution.display_path) == (called, str(tmp_path / f"{name}:1"))
    assert solution.language == "pytorch"
    assert solution.text.strip() == CODE.strip()
    again = read_solution(solution.path, submitted=solution.submitted)  # as a store has it
    assert isinstance(again, Solution)
    assert again.text == solution.text


def test_the_language_of_a_record_is_seen(tmp_path: Path) -> None:
    solution = only(lines(tmp_path, {"problem": "p", "code": KERNEL}))
    assert solution.language == "cuda"
    assert solution.text == KERNEL


def test_lists_levels_and_single_objects(tmp_path: Path) -> None:
    record = {"task_id": 5, "custom_code": CODE}
    forms: dict[str, object] = {
        "list": [record, record],
        "levels": {"1": [record], "2": [{**record, "custom_code": None}]},
        "one": record,
    }
    for name, value in forms.items():
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(value, indent=2))
        paths = solution_files([path])
        assert paths == [Path(f"{path}:{n + 1}") for n in range(len(paths))]
        assert len(paths) == (1 if name == "one" else 2)
    found = read_solution(Path(f"{tmp_path}/levels.json:2"))
    assert isinstance(found, Invalid)
    assert found.wanted == Wanted(level=2, number=5)
    assert (found.reason, found.problem) == (Reason.NO_CODE, None)
    assert "its custom_code is null" in found.message


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ({"level": 1, "problem_id": 1, "kernel": "  "}, "its kernel is empty"),
        ({"level": 1, "problem_id": 1, "kernel": "None\n"}, 'its kernel is "None"'),
        ({"level": 1, "problem_id": 1, "kernel": 7}, "its kernel is int"),
        ({"level": 1, "problem_id": 1, "score": 7}, "none of custom_code"),
        ({"definition": "d", "sources": []}, "no sources"),
        ({"definition": "d", "sources": [{}, {}]}, "2 sources; one file is graded"),
        ({"definition": "d", "sources": [7]}, "no path, or no content"),
    ],
)
def test_a_record_without_code_is_a_sample_all_the_same(
    tmp_path: Path, record: dict[str, object], reason: str
) -> None:
    path = lines(tmp_path, {"code": CODE}, {**record, "model": "m"})
    found = read_solution(Path(f"{path}:2"))
    assert isinstance(found, Invalid)
    assert reason in found.message
    assert found.message.startswith(f"{path}:2: ")
    assert found.reason is Reason.NO_CODE
    assert found.reference is not None
    assert found.generation is not None
    assert found.generation.model == "m"


def test_an_output_that_was_cut_off(tmp_path: Path) -> None:
    record = {"problem": "p", "generation": "<think>hm", "finish_reason": "length"}
    found = read_solution(Path(f"{lines(tmp_path, record)}:1"))
    assert isinstance(found, Invalid)
    assert found.reason is Reason.TRUNCATED_IN_REASONING


def test_each_bad_line_is_told_by_itself(tmp_path: Path) -> None:
    path = tmp_path / "samples.jsonl"
    deep = "[" * 100_000
    path.write_text(f'{{"code": {json.dumps(CODE)}}}\n\n{{"code": \n{deep}\n[1]\n{{"x": 1}}\n')
    found = solution_files([path])
    assert found == [Path(f"{path}:{n}") for n in (1, 3, 4, 5, 6)]
    reasons = [read_solution(each) for each in found[1:]]
    for number, (each, reason) in enumerate(
        zip(reasons, ("is no JSON", "is no JSON", "is no JSON object", "no code"), strict=True), 3
    ):
        assert isinstance(each, Invalid)
        assert each.message.startswith(f"{path}:{number}")
        assert reason in each.message
    for number in (7, 999):
        gone = read_solution(Path(f"{path}:{number}"))
        assert isinstance(gone, Invalid)
        assert "no such line" in gone.message


def test_files_of_results_and_settings_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(CODE)
    lines(tmp_path, {"id": "1", "verdict": "ACCEPTED"}, name="results.jsonl")
    lines(tmp_path, {"definition": "d", "solution": "fast", "workload": {}}, name="traces.jsonl")
    lines(tmp_path, {"name": "d", "axes": {}, "reference": "def run(): pass"}, name="d.json")
    (tmp_path / "package.json").write_text('{"name": "x"}')
    (tmp_path / "broken.json").write_text("{")
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "link.jsonl").symlink_to(lines(tmp_path / "elsewhere", {"code": CODE}))
    found = solution_files([tmp_path])
    assert found == [tmp_path / "a.py", Path(f"{tmp_path}/elsewhere/samples.jsonl:1")]
    named = read_solution(tmp_path / "results.jsonl")
    assert isinstance(named, Invalid)
    assert "its records have no code" in named.message


def test_places(tmp_path: Path) -> None:
    path = lines(tmp_path, {"code": CODE})
    place = Path(f"{path}:1")
    assert sample_place(place) == (path, 1)
    assert is_there(place)
    for other in (path, Path(f"{path}:0"), Path(f"{path}:x"), Path("a.py:3"), Path("a.jsonl")):
        assert sample_place(other) is None
    place.write_text("a file of that name is itself")
    assert sample_place(place) is None
    path.unlink()
    place.unlink()
    assert not is_there(place)
    gone = read_solution(place)
    assert isinstance(gone, Invalid)
    assert "cannot be read" in gone.message


def test_a_file_that_changes_is_read_again(tmp_path: Path) -> None:
    path = lines(tmp_path, {"code": CODE, "problem": "p"})
    place = Path(f"{path}:1")
    before = read_solution(place)
    lines(tmp_path, {"code": CODE + "# more\n", "problem": "p"})
    after = read_solution(place)
    assert isinstance(before, Solution)
    assert isinstance(after, Solution)
    assert before.hash != after.hash


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("19_ReLU", Wanted(number=19, name="19_ReLU")),
        ("level_3/7_Net.py", Wanted(level=3, number=7, name="7_Net.py")),
        ("KernelBench/level1/19", Wanted(level=1, number=19, name="19")),
        ("rmsnorm_h4096", Wanted(name="rmsnorm_h4096")),
        ("softmax", Wanted(name="softmax")),
    ],
)
def test_names_of_problems(name: str, wanted: Wanted) -> None:
    assert said(name) == wanted


def test_long_names_stay_apart(tmp_path: Path) -> None:
    records = [{"problem": "p" * 90, "code": CODE, "sample": n, "model": "m" * 80} for n in (1, 2)]
    names = set()
    for path in solution_files([lines(tmp_path, *records)]):
        solution = read_solution(path, problem="p")
        assert isinstance(solution, Solution), solution
        names.add(solution.name)
    assert len(names) == 2
