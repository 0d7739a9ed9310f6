"""Compiling a Triton submission where its kernels do not run: without a card, or ahead of its turn.

The submission's own entry point decides what is launched, so it runs: in a sandbox, like any
runner. What comes back is its word, read as data; it can only harm its own verdict or decorate its
own record.
"""

import os
import re
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from harness.judge.memory import Device, sealed_memory
from harness.judge.session import Fault, Program, Session
from harness.problem.case import benchmark_case
from harness.problem.model import Problem, Role
from harness.result import KernelResources, Record, Verdict
from harness.runner.kernel_cache import packed
from harness.runner.wire import Message
from harness.solution.cache import Cache, Failure, Outcome, key_of
from harness.solution.contract import Contract
from harness.solution.model import Solution, Target
from harness.solution.nvcc import killed

KERNELS = "kernels"
_MOST_BYTES = 64 << 20
_AHEAD_S = 8.0
_PATIENCE_S = 30.0
_MAX_KERNELS = 64
_MOST = 1 << 40
_KILLED = re.compile(r"\bfailed with error code -9\b")
"""What Triton says of a compiler that somebody has killed."""


class _Answer(Record):
    type: str
    status: str
    message: str
    line: int | None
    kernels: tuple[KernelResources, ...]
    configurations: int
    seconds: float


def compile_for_target(
    solution: Solution,
    problem: Problem,
    dtype: str,
    target: Target,
    cache: Cache,
    contract: Contract,
) -> Outcome:
    """Build all launches of the problem's first benchmark shape for ``target.arch``.

    A failure is a kernel that cannot be built, or a build that takes longer than the problem
    allows. Code whose launches cannot be found out without a GPU gives an outcome without kernels.

    For a card that is here, whatever the benchmark shapes and the small ones may launch is built,
    with all configurations of an autotuner, and kept as the file ``kernels``. It may be nothing:
    that is no failure, for the card tells what it can run.
    """
    assert target.arch is not None, "the caller asks for an architecture"
    shapes = [problem.benchmarks[0]]
    if target.kind == "cuda":
        shapes = [*problem.benchmarks, *problem.cpu_benchmarks]
    calls = [_arguments(problem, shape, dtype) for shape in shapes]
    parts: dict[str, str | bytes] = {
        "kind": f"triton for {target.kind}",
        "source": solution.source,
        "calls": repr(calls),
        "contract": repr(contract),
        "arch": target.arch,
        "triton": metadata.version("triton"),
        "python": sys.version,
    }

    def build(folder: Path) -> Outcome:
        if target.kind == "cuda":
            return _build_ahead(solution, problem, calls, target, contract, folder / KERNELS)
        return _build(solution, problem, calls, target, contract)

    return cache.fetch(key_of(parts), build)


def _arguments(
    problem: Problem, shape: Mapping[str, int | float], dtype: str
) -> list[dict[str, Any]]:
    """The arguments of one call, in order, tensors by type, shape and strides alone."""
    values = benchmark_case(problem, shape).values
    return [
        {
            "kind": "tensor",
            "dtype": p.data_type(dtype).name,
            "shape": list(p.dimensions(values)),
            "strides": list(p.steps(values)),
        }
        if p.role is Role.TENSOR
        else {"kind": "scalar", "value": values[p.name]}
        for p in problem.parameters
    ]


def _build(
    solution: Solution,
    problem: Problem,
    calls: list[list[dict[str, Any]]],
    target: Target,
    contract: Contract,
) -> Outcome:
    with Session(_program(solution, contract), Device(), problem.limits) as session:
        answer = session.compile(calls, _number(target))
        if isinstance(answer, Fault):
            return _unknown(answer, solution)
        log = session.output()
    return outcome_of(answer, log, solution.display_path)


def _build_ahead(
    solution: Solution,
    problem: Problem,
    calls: list[list[dict[str, Any]]],
    target: Target,
    contract: Contract,
    file: Path,
) -> Outcome:
    """Its kernels in ``file``; what the process says besides is of no interest."""
    limits = replace(problem.limits, build_s=min(problem.limits.build_s, _PATIENCE_S))
    start = time.perf_counter()
    fd = sealed_memory(KERNELS, _MOST_BYTES)
    try:
        with Session(_program(solution, contract), Device(), limits) as session:
            answer = session.compile(calls, _number(target), fd, within_s=_AHEAD_S)
        if isinstance(answer, Fault):
            return Outcome(keep=False)
        file.write_bytes(packed(fd))
    finally:
        os.close(fd)
    return Outcome(files={KERNELS: file}, seconds=time.perf_counter() - start)


def _program(solution: Solution, contract: Contract) -> Program:
    return Program(kind="python", source=solution.source, contract=contract)


def _number(target: Target) -> int:
    assert target.arch is not None
    return int(target.arch.removeprefix("sm_").rstrip("af"))


def outcome_of(answer: Message, log: str, shown: str) -> Outcome:
    """What the runner's ``answer`` about the file ``shown`` comes to; nothing to keep if it lies.

    The runner may have been made to answer anything: what is no such answer, or cannot be one
    (a register count of twenty digits), says nothing.
    """
    try:
        compiled = _Answer.model_validate(answer)
    except ValidationError:
        return Outcome(log=log, keep=False)
    failure = None
    if compiled.status == "compile_error" and _KILLED.search(compiled.message):
        return Outcome(failure=killed("ptxas"), log=log, keep=False)
    if compiled.status == "compile_error":
        place = f"{shown}:{compiled.line}: " if compiled.line else ""
        failure = Failure(
            verdict=Verdict.COMPILE_ERROR, message=f"{place}{compiled.message[:2000]}"
        )
    kernels = compiled.kernels[:_MAX_KERNELS]
    if any(max(_figures(kernel)) > _MOST for kernel in kernels):
        return Outcome(log=log, keep=False)
    return Outcome(failure=failure, kernels=kernels, log=log, seconds=compiled.seconds)


def _figures(kernel: KernelResources) -> tuple[int, ...]:
    return (
        kernel.registers,
        kernel.shared_bytes,
        kernel.spill_store_bytes,
        kernel.spill_load_bytes,
    )


def _unknown(fault: Fault, solution: Solution) -> Outcome:
    """It did not come to an answer: only taking too long to compile is a verdict of its own."""
    if fault.verdict is not Verdict.TIME_LIMIT:
        return Outcome(keep=False)
    message = f"{solution.display_path}: compiling takes too long"
    return Outcome(failure=Failure(verdict=Verdict.TIME_LIMIT, message=message), keep=False)
