"""Compiling a Triton submission where its kernels do not run: without a card, or ahead of its turn.

The submission's own entry point decides what is launched, so it runs: in a sandbox, like any
runner. What comes back is its word, read as data; it can only harm its own verdict or decorate its
own record.
"""

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from harness.device.base import sealed_memory
from harness.device.cpu import CpuDevice
from harness.languages.build.cache import BuildError, BuildOutcome, Cache, key_of
from harness.languages.build.nvcc import killed
from harness.problem.case import benchmark_case
from harness.problem.model import Limits, Problem, Role
from harness.records.build import KernelResources
from harness.records.fields import Record
from harness.records.result import Verdict
from harness.runner.triton.kernel_cache import packed
from harness.sandbox.pause_gate import clock
from harness.session.fault import Fault
from harness.session.programs import RunnerProgram
from harness.session.session import Session
from harness.solution.contract import Contract
from harness.solution.model import Solution, Target
from harness.wire import Message

KERNELS = "kernels"
_MAX_BYTES = 64 << 20
_AHEAD_S = 8.0
_PATIENCE_S = 30.0
_MAX_KERNELS = 64
_MOST = 1 << 40
_KILLED = re.compile(r"\bfailed with error code -9\b")
"""What Triton says of a compiler that somebody has killed."""


class _CompileAnswer(Record):
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
) -> BuildOutcome:
    """Build all launches of the problem's first benchmark shape for ``target.arch``.

    A failure is a kernel that cannot be built, or a build that takes longer than the problem
    allows. Code whose launches cannot be found out without a GPU gives an outcome without kernels.
    """
    calls = [_arguments(problem, problem.benchmarks[0], dtype)]
    work = _Work(solution, problem, target, contract, calls)
    return cache.fetch(work.key("triton"), lambda _: _build(work))


def compile_ahead(
    solution: Solution,
    problem: Problem,
    dtype: str,
    target: Target,
    cache: Cache,
    contract: Contract,
) -> BuildOutcome:
    """Build whatever may be launched on a card that is here; it is kept as the file ``kernels``.

    For the benchmark shapes and the small ones, with all configurations of an autotuner. It may be
    nothing: that is no failure, for the card tells what it can run.
    """
    shapes = (*problem.benchmarks, *problem.cpu_benchmarks)
    calls = [_arguments(problem, shape, dtype) for shape in shapes]
    work = _Work(solution, problem, target, contract, calls)
    return cache.fetch(work.key("triton ahead"), lambda to: _build_ahead(work, to / KERNELS))


class _Work(NamedTuple):
    """A submission, what it is compiled for, and the arguments of the calls that are made."""

    solution: Solution
    problem: Problem
    target: Target
    contract: Contract
    calls: list[list[dict[str, Any]]]

    def key(self, kind: str) -> str:
        """Under which the outcome is kept."""
        assert self.target.arch is not None, "the caller asks for an architecture"
        return key_of(
            {
                "kind": kind,
                "source": self.solution.source,
                "calls": repr(self.calls),
                "contract": repr(self.contract),
                "arch": self.target.arch,
                "triton": metadata.version("triton"),
                "python": sys.version,
            }
        )

    @property
    def arch(self) -> int:
        """90 for sm_90."""
        assert self.target.arch is not None
        return int(self.target.arch.removeprefix("sm_").rstrip("af"))

    def session(self, limits: Limits) -> Session:
        """A runner of its own, without the card."""
        program = RunnerProgram(kind="python", source=self.solution.source, contract=self.contract)
        return Session(program, CpuDevice(), limits)


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


def _build(work: _Work) -> BuildOutcome:
    with work.session(work.problem.limits) as session:
        answer = session.compile(work.calls, work.arch)
        if isinstance(answer, Fault):
            return _unknown(answer, work.solution)
        log = session.output()
    return outcome_of(answer, log, work.solution.display_path)


def _build_ahead(work: _Work, file: Path) -> BuildOutcome:
    """Its kernels in ``file``; what the process says besides is of no interest."""
    limits = work.problem.limits
    limits = replace(limits, build_s=min(limits.build_s, _PATIENCE_S))
    start = clock()
    fd = sealed_memory(KERNELS, _MAX_BYTES)
    try:
        with work.session(limits) as session:
            answer = session.compile(work.calls, work.arch, fd, within_s=_AHEAD_S)
        if isinstance(answer, Fault):
            return BuildOutcome(keep=False)
        file.write_bytes(packed(fd))
    finally:
        os.close(fd)
    return BuildOutcome(files={KERNELS: file}, seconds=clock() - start)


def outcome_of(answer: Message, log: str, shown: str) -> BuildOutcome:
    """What the runner's ``answer`` about the file ``shown`` comes to; nothing to keep if it lies.

    The runner may have been made to answer anything: what is no such answer, or cannot be one
    (a register count of twenty digits), says nothing.
    """
    try:
        compiled = _CompileAnswer.model_validate(answer)
    except ValidationError:
        return BuildOutcome(log=log, keep=False)
    failure = None
    if compiled.status == "compile_error" and _KILLED.search(compiled.message):
        return BuildOutcome(failure=killed("ptxas"), log=log, keep=False)
    if compiled.status == "compile_error":
        place = f"{shown}:{compiled.line}: " if compiled.line else ""
        failure = BuildError(
            verdict=Verdict.COMPILE_ERROR, message=f"{place}{compiled.message[:2000]}"
        )
    kernels = compiled.kernels[:_MAX_KERNELS]
    if any(max(_figures(kernel)) > _MOST for kernel in kernels):
        return BuildOutcome(log=log, keep=False)
    return BuildOutcome(failure=failure, kernels=kernels, log=log, seconds=compiled.seconds)


def _figures(kernel: KernelResources) -> tuple[int, ...]:
    return (
        kernel.registers,
        kernel.shared_bytes,
        kernel.spill_store_bytes,
        kernel.spill_load_bytes,
    )


def _unknown(fault: Fault, solution: Solution) -> BuildOutcome:
    """It did not come to an answer: only taking too long to compile is a verdict of its own."""
    if fault.verdict is not Verdict.TIME_LIMIT:
        return BuildOutcome(keep=False)
    message = f"{solution.display_path}: compiling takes too long"
    return BuildOutcome(failure=BuildError(verdict=Verdict.TIME_LIMIT, message=message), keep=False)
