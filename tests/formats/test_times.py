"""Times of problems in other formats: relative to their reference, as a program of its own."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from formats.flashinfer_problems import ACCEPTED as FLASHINFER_ONES
from formats.flashinfer_problems import checkout as flashinfer
from formats.gpumode_problems import ACCEPTED as GPUMODE_ONES
from formats.gpumode_problems import SORT
from formats.gpumode_problems import checkout as gpumode
from formats.kernelbench_problems import ACCEPTED as KERNELBENCH
from formats.kernelbench_problems import HEAD
from formats.leetgpu_problems import ACCEPTED as LEETGPU_ONES
from formats.leetgpu_problems import checkout as leetgpu
from formats.tensara_problems import ACCEPTED as TENSARA_ONES
from formats.tensara_problems import checkout as tensara
from support.foreign import foreign, job, written

from harness.device.base import OutOfDeviceMemory
from harness.errors import HarnessError
from harness.formats.base import Source, SourceFile
from harness.formats.baseline import reference_program
from harness.formats.problem import MOST_TIMED
from harness.grading.grader import Grader
from harness.grading.job import Options
from harness.records.result import Result
from harness.timing.budget import CPU_BUDGET, TimingBudget
from harness.timing.foreign import CannotBeTimed, foreign_budget, require_quick

LEETGPU = """
from core.challenge_base import ChallengeBase
import ctypes, torch

class Challenge(ChallengeBase):
    def __init__(self, device="cuda"):
        self.device = device

    def get_solve_signature(self):
        return {"x": (ctypes.POINTER(ctypes.c_float), "in"),
                "y": (ctypes.POINTER(ctypes.c_float), "out"), "n": (ctypes.c_size_t, "in")}

    def reference_impl(self, x, y, n):
        assert x.device.type == "cuda"
        y.copy_(x * n)
"""

TENSARA = """
from problem import Problem
import torch

class scaled(Problem):
    parameters = [
        {"name": "x", "type": "float", "pointer": True, "const": True},
        {"name": "y", "type": "float", "pointer": True, "const": False},
        {"name": "n", "type": "size_t", "pointer": False, "const": False},
    ]

    def __init__(self):
        super().__init__(name="scaled")

    def reference_solution(self, x):
        assert self.param_dtype(0) is torch.float32
        return x * 3
"""


def source(format_name: str, *files: tuple[str, str]) -> Source:
    return Source(
        format=format_name,
        path=Path("somewhere"),
        slug=f"{format_name}-one",
        title="one",
        entry="solve",
        files=tuple(SourceFile(name=n, text=text.encode()) for n, text in files),
    )


def entry_of(made: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """The entry point of the program, loaded here, since it is of our own problems."""
    monkeypatch.setattr("tempfile.mkdtemp", lambda: str(tmp_path))
    monkeypatch.setattr("sys.path", [*__import__("sys").path])
    monkeypatch.setattr("sys.modules", {**__import__("sys").modules})
    entry, text = reference_program(made)
    names: dict[str, Any] = {}
    exec(text, names)
    found: Callable[..., Any] = names[entry]
    return found


def test_a_challenge_writes_its_outputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base = ("core/challenge_base.py", "class ChallengeBase: pass\n")
    solve = entry_of(source("leetgpu", ("challenge.py", LEETGPU), base), tmp_path, monkeypatch)
    x, y = torch.ones(4), torch.zeros(4)
    solve(x, y, 4)
    assert y.tolist() == [4.0] * 4


def test_a_problem_is_derived_from_one_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = entry_of(source("tensara", ("def.py", TENSARA)), tmp_path, monkeypatch)
    assert run(torch.ones(2), 2).tolist() == [3.0, 3.0]


def test_a_task_has_the_modules_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = foreign(gpumode(tmp_path / "set", "sort_py", SORT))
    kernel = entry_of(problem.source, tmp_path, monkeypatch)
    data = torch.tensor([3.0, 1.0, 2.0])
    assert kernel((data, torch.empty(3))).tolist() == [1.0, 2.0, 3.0]


def test_a_model_and_a_run_are_what_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = HEAD + KERNELBENCH["fixed"][0]
    model = entry_of(source("kernelbench", ("problem.py", text)), tmp_path, monkeypatch)
    assert issubclass(model, torch.nn.Module)  # type: ignore[arg-type]
    run = "def run(x):\n    return x + 1\n"
    told = '{"outputs": {"y": {"dtype": "float16", "shape": ["n"]}}}'
    files = (("reference.py", run), ("definition.json", told), ("workloads.json", "{}"))
    other = source("flashinfer", *files)
    (made,) = entry_of(other, tmp_path, monkeypatch)(x=torch.ones(2))
    assert (made.dtype, made.tolist()) == (torch.float16, [2.0, 2.0])
    assert b"workloads.json" not in reference_program(other)[1]
    with pytest.raises(HarnessError, match="of nobody"):
        reference_program(source("nobody"))


def test_batches_are_as_long_as_drawing_allows() -> None:
    budget = foreign_budget(TimingBudget())
    assert (budget.min_batch_s, budget.max_block_s) == (0.0, 1.0)
    assert foreign_budget(CPU_BUDGET).max_block_s == CPU_BUDGET.max_block_s


def test_what_takes_too_long_to_check_is_not_timed() -> None:
    case = SimpleNamespace(spec="inputs=1")
    inputs = SimpleNamespace(draw=None)
    problem = SimpleNamespace(inputs=lambda: inputs, tensors_of=lambda *_: ())
    reference = SimpleNamespace(expectations=lambda *_: {})
    task: Any = SimpleNamespace(problem=problem, reference=reference, dtype="float32", seed="1")
    require_quick(task, [case], 1e9)  # type: ignore[list-item]
    with pytest.raises(CannotBeTimed, match="one call of inputs=1 takes 0 s"):
        require_quick(task, [case], -1.0)  # type: ignore[list-item]


def timed(grader: Grader, path: Path, file: Path) -> Result:
    options = Options(functional_times=True, shrink_s=0.0)
    return grader.grade(job(foreign(path), file), options)


@pytest.mark.corpus
def test_a_submission_is_timed_beside_the_reference(grader: Grader, tmp_path: Path) -> None:
    text = HEAD + KERNELBENCH["fixed"][0]
    path = written(tmp_path, "set/1_fixed.py", text)
    result = timed(grader, path, written(tmp_path, "own.py", text + "\nModelNew = Model\n"))
    assert result.accepted, result.message
    (measured,) = result.measurements
    assert measured.spec.startswith("inputs=1")
    assert result.score is not None
    assert result.score.baseline == "reference"
    assert not result.score.ranked
    assert json.loads(result.model_dump_json())["score"]["speedup"]["value"] > 0


STAND_INS: dict[str, tuple[Callable[[Path], Path], str]] = {
    **{
        f"leetgpu {name}": (partial(leetgpu, name=name, text=text), solution)
        for name, (text, solution, _) in LEETGPU_ONES.items()
    },
    **{
        f"tensara {name}": (partial(tensara, name=name, text=text), solution)
        for name, (text, solution, *_) in TENSARA_ONES.items()
    },
    **{
        f"gpumode {name}": (partial(gpumode, name=name, text=text), solution)
        for name, (text, solution, _) in GPUMODE_ONES.items()
    },
    **{
        f"flashinfer {name}": (partial(flashinfer, name=name, made=made, work=work), solution)
        for name, (made, work, solution, _) in FLASHINFER_ONES.items()
    },
}


@pytest.mark.corpus
@pytest.mark.parametrize("name", STAND_INS)
def test_every_reference_runs_as_a_program(grader: Grader, tmp_path: Path, name: str) -> None:
    make, solution = STAND_INS[name]
    result = timed(grader, make(tmp_path), written(tmp_path, "a.py", solution))
    assert result.accepted, result.message
    assert result.score is not None, result.notes


@pytest.mark.corpus
def test_a_reference_that_does_not_run_there_leaves_the_verdict(
    grader: Grader, tmp_path: Path
) -> None:
    text = HEAD + KERNELBENCH["fixed"][0]
    there = "import os\nif not __file__.endswith('problem/problem.py'):\n    raise OSError('no')\n"
    path = written(tmp_path, "set/1_alone.py", there + text)
    result = timed(grader, path, written(tmp_path, "own.py", text + "\nModelNew = Model\n"))
    assert result.accepted, result.message
    assert result.score is None
    assert any("not timed: its reference does not run as a program" in n for n in result.notes)


@pytest.mark.corpus
@pytest.mark.parametrize("error", [OutOfDeviceMemory("it", "full"), torch.OutOfMemoryError("full")])
def test_no_memory_for_the_reference_leaves_the_verdict(
    grader: Grader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def none_left(*_: object) -> None:
        raise error

    monkeypatch.setattr("harness.grading.benchmark.reference_session", none_left)
    text = HEAD + KERNELBENCH["fixed"][0]
    path = written(tmp_path, "set/1_fixed.py", text)
    result = timed(grader, path, written(tmp_path, "own.py", text + "\nModelNew = Model\n"))
    assert result.accepted, result.message
    (note,) = [each for each in result.notes if each.startswith("not timed")]
    assert "no memory for it and its reference" in note
    assert "full" in note


def test_few_of_many_shapes_are_timed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    problem = foreign(gpumode(tmp_path, "sort_py", SORT))
    cases = {f"benchmark={n}": SimpleNamespace(timed=True, key=n) for n in range(25)}
    told = SimpleNamespace(cases=cases)
    kind = type(problem)
    monkeypatch.setattr(kind, "_described", lambda *_, **__: told)
    monkeypatch.setattr(kind, "_case", lambda _, each, *__, **___: each.key)
    found: Any = problem.timed_cases(emulated=True)
    assert len(found) == len(set(found)) == MOST_TIMED
    assert (found[0], found[-1]) == (0, 24)
