"""Triton's kernels, compiled before their turn for a card that this process does not see."""

import contextlib
import io
import tarfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from harness.device.cpu import CpuDevice
from harness.languages.build import triton_target
from harness.languages.build.cache import BuildOutcome, Cache
from harness.languages.read import read_solution
from harness.languages.triton import Triton
from harness.problem.format.load import load_problem
from harness.problem.package import Problem
from harness.records.result import Verdict
from harness.sandbox.pause_gate import PauseGate, waiting
from harness.session.fault import Fault
from harness.session.programs import RunnerProgram, timed_program
from harness.session.session import Session
from harness.solution.model import Artifact, BuildFailure, Solution, Target
from harness.wire.messages import Compiled

ROOT = Path(__file__).resolve().parents[3]
CARD = Target(kind="cuda", arch="sm_90", ahead=True)

_PATIENCE_S = 60.0

SAMPLE = "solutions/vector-add/samples/triton.py"

TELLS = """
import os
import pathlib

import triton

folder = pathlib.Path(os.environ["TRITON_CACHE_DIR"])
raise RuntimeError("kernels: " + " ".join(sorted(file.name for file in folder.rglob("*.cubin"))))
"""


@pytest.fixture(scope="module")
def problem() -> Problem:
    return load_problem(ROOT / "problems/vector-add")


@pytest.fixture(scope="module")
def built(problem: Problem, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Artifact]:
    cache = Cache(tmp_path_factory.mktemp("cache"))
    yield build(SAMPLE, problem, cache)


def build(file: str, problem: Problem, cache: Cache) -> Artifact:
    solution = read_solution(ROOT / file, problem=problem.slug)
    assert isinstance(solution, Solution)
    artifact = Triton().build(solution, problem, "float32", CARD, cache)
    assert isinstance(artifact, Artifact), artifact
    return artifact


def members(artifact: Artifact) -> list[str]:
    assert artifact.kernels is not None
    with tarfile.open(fileobj=io.BytesIO(artifact.kernels.read_bytes())) as archive:
        return archive.getnames()


def test_kernels_of_all_shapes_are_compiled(built: Artifact) -> None:
    assert any(name.endswith(".cubin") for name in members(built))
    assert (built.build.target, built.build.cached) == ("sm_90", False)


def test_a_single_file_is_not_compiled_ahead(problem: Problem, tmp_path: Path) -> None:
    solution = read_solution(ROOT / SAMPLE, problem=problem.slug)
    assert isinstance(solution, Solution)
    alone = replace(CARD, ahead=False)
    artifact = Triton().build(solution, problem, "float32", alone, Cache(tmp_path))
    assert isinstance(artifact, Artifact)
    assert artifact.kernels is None


def test_a_runner_gets_the_kernels_before_the_file_is_loaded(
    built: Artifact, problem: Problem
) -> None:
    program = replace(timed_program(built), source=TELLS.encode(), interpret=False)
    with program.open() as opened:
        assert len(opened) == 2
    with Session(program, CpuDevice(), problem.limits) as session:
        fault = session.load()
    assert isinstance(fault, Fault)
    cubins = sorted(Path(name).name for name in members(built) if name.endswith(".cubin"))
    assert fault.message.splitlines()[0].endswith("kernels: " + " ".join(cubins))


def test_launches_that_cannot_be_found_are_left_to_the_card(
    problem: Problem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "waits.py"
    file.write_text("import time\nimport triton\ntime.sleep(60)\ndef solution(x, y, z, n): ...\n")
    monkeypatch.setattr(triton_target, "_PATIENCE_S", 0.5)
    artifact = build(str(file), problem, Cache(tmp_path / "cache"))
    assert artifact.kernels is None
    assert timed_program(artifact).kernels is None


def test_a_file_that_raises_gives_no_kernels_and_no_failure(
    problem: Problem, tmp_path: Path
) -> None:
    file = tmp_path / "raises.py"
    file.write_text("import triton\ndef solution(x, y, z, n): raise ValueError('not here')\n")
    artifact = build(str(file), problem, Cache(tmp_path / "cache"))
    assert not any(name.endswith(".cubin") for name in members(artifact))


def test_a_compilation_that_takes_too_long_says_of_what(problem: Problem, tmp_path: Path) -> None:
    file = tmp_path / "slow.py"
    file.write_text("import triton\ndef solution(x, y, z, n):\n    while True: pass\n")
    limited = replace(problem, limits=replace(problem.limits, build_s=2.0))
    solution = read_solution(file, problem=problem.slug)
    assert isinstance(solution, Solution)
    target = Target(kind="cpu", arch="sm_90")
    failure = Triton().build(solution, limited, "float32", target, Cache(tmp_path / "cache"))
    assert isinstance(failure, BuildFailure)
    assert failure.verdict is Verdict.TIME_LIMIT
    for part in ("slow.py", "compiling its kernels for sm_90", "n=", "within 2 s"):
        assert part in failure.message


@pytest.mark.parametrize(
    ("peak", "verdict"), [(3900 << 20, "MEMORY_LIMIT"), (400 << 20, "INTERNAL_ERROR")]
)
def test_an_assembler_killed_near_the_limit_of_memory_is_over_it(
    problem: Problem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, peak: int, verdict: str
) -> None:
    fields = {"status": "compile_error", "message": "`ptxas` failed with error code -9"}
    rest = {"line": None, "seconds": 1.0, "configurations": 1, "kernels": []}
    answer = Compiled.from_json({**fields, **rest})
    monkeypatch.setattr(Session, "compile", lambda *_, **__: answer)
    monkeypatch.setattr(Session, "peak_bytes", peak)
    solution = read_solution(ROOT / SAMPLE, problem=problem.slug)
    assert isinstance(solution, Solution)
    target = Target(kind="cpu", arch="sm_90")
    failure = Triton().build(solution, problem, "float32", target, Cache(tmp_path / "cache"))
    assert isinstance(failure, BuildFailure)
    assert failure.verdict == verdict


def test_no_runner_has_to_hash_triton_by_itself(problem: Problem) -> None:
    """Its cache asks for that hash, and it takes a second."""
    source = b"""
from triton.runtime.cache import triton_key

print(triton_key.cache_info().currsize, flush=True)
"""

    def known() -> bool:
        program = RunnerProgram(kind="python", source=source)
        with Session(program, CpuDevice(), problem.limits) as session:
            session.load()
            return session.output().startswith("1")

    end = time.monotonic() + _PATIENCE_S
    while not known():  # the first comes before there was time for it
        assert time.monotonic() < end


def test_compiling_ahead_does_not_count_the_time_of_a_pause(
    problem: Problem, tmp_path: Path
) -> None:
    ahead_s = 0.0

    def time_s() -> float:
        return time.perf_counter() + ahead_s

    gate, rests, over = PauseGate(time_s), threading.Event(), threading.Event()

    class Rests(contextlib.nullcontext[None]):
        def __enter__(self) -> Any:
            return self

        def compile(self, *_: object, **__: object) -> dict[str, object]:
            with waiting():
                rests.set()
                over.wait(_PATIENCE_S)
            return {}

    work = SimpleNamespace(problem=problem, calls=[], arch=90, session=lambda _: Rests())

    def build_ahead() -> BuildOutcome:
        with gate.work():
            return triton_target._build_ahead(cast(Any, work), tmp_path / "kernels")

    began = time_s()
    with ThreadPoolExecutor(1) as threads:
        building = threads.submit(build_ahead)
        assert rests.wait(_PATIENCE_S)
        with gate.paused():
            paused_at = time_s()
            ahead_s += 1000.0
            paused_s = time_s() - paused_at
        over.set()
        seconds = building.result(_PATIENCE_S).seconds
    assert seconds <= time_s() - began - paused_s
