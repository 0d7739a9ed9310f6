"""How many kernels a call launches, as the runner counts them."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from harness.device.choose import open_device
from harness.judge.batch import Batch
from harness.judge.layout import lay_out
from harness.judge.task import Task
from harness.languages import LANGUAGES
from harness.languages.build.cache import Cache
from harness.languages.read import read_solution
from harness.problem.case import Case
from harness.problem.terms import Limits
from harness.session.programs import RunnerProgram, source_program, timed_program
from harness.session.runs import RunOptions
from harness.session.session import Session
from harness.solution.model import Artifact, Solution, Target

CALLS = 3
CASE = Case(sizes={"n": 1000}, scalars={"s": 0.5})
TWO = """
__global__ void copy(const VAR *x, VAR *y, size_t n) {
  size_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i];
}
__global__ void add(float s, VAR *y, size_t n) {
  size_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += s;
}
extern "C" void solution(const VAR *x, float s, VAR *y, size_t n) {
  copy<<<(n + 255) / 256, 256>>>(x, y, n);
  add<<<(n + 255) / 256, 256>>>(s, y, n);
}
"""
TORCH = """
import torch

def solution(x, s, y, n):
    torch.add(x, s, out=y)
    y.mul_(1)
"""


def built(task: Task, target: Target, folder: Path) -> RunnerProgram:
    path = folder / "two.cu"
    path.write_text(TWO)
    solution = read_solution(path, problem="shift")
    assert isinstance(solution, Solution)
    cache = Cache(folder / "cache")
    artifact = LANGUAGES["cuda"].build(solution, task.problem, task.dtype, target, cache)
    assert isinstance(artifact, Artifact), artifact
    return timed_program(artifact)


@contextmanager
def prepared(
    task: Task, program: RunnerProgram, *, capture: bool
) -> Iterator[tuple[Session, Batch]]:
    """A session that has prepared three calls; on a GPU, as one graph."""
    arena = task.device.arena(lay_out(task, CASE, CALLS).size)
    with Session(program, task.device, task.problem.limits) as session:
        assert session.load() is None
        assert session.map(arena) is None
        batch = Batch(task, CASE, arena, CALLS)
        batch.fill("warm-up")
        task.device.synchronize()
        plan = RunOptions(warmups=1 if capture else 0, capture=capture)
        assert session.prepare(batch, plan) is capture
        yield session, batch
    del batch
    arena.close()


def count(task: Task, program: RunnerProgram, *, capture: bool) -> float | None:
    with prepared(task, program, capture=capture) as (session, batch):
        for seed in ("one", "two"):
            assert isinstance(session.run(batch, seed), float)
            assert batch.check() is None
        return session.kernels


@pytest.mark.corpus
def test_the_cpu_executor_counts(shift_task: Task, tmp_path: Path) -> None:
    program = built(shift_task, Target(kind="cpu", arch=None), tmp_path)
    assert count(shift_task, program, capture=False) == 2


@pytest.mark.gpu
@pytest.mark.nvcc
def test_a_library_on_a_gpu(shift_task: Task, tmp_path: Path) -> None:
    task = replace(shift_task, device=open_device("cuda"))
    assert count(task, built(task, Target(kind="cuda"), tmp_path), capture=True) == 2


@pytest.mark.gpu
def test_torch_on_a_gpu(shift_task: Task) -> None:
    # torch and the CUDA driver together need more room than this small problem gives.
    problem = replace(shift_task.problem, limits=Limits())
    task = replace(shift_task, problem=problem, device=open_device("cuda"))
    assert count(task, source_program(TORCH.encode()), capture=True) == 2
