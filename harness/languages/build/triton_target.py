"""Compile a Triton submission where its kernels do not run: without a card, or ahead of its turn.

The submission's own entry point decides what is launched, so it runs: in a sandbox, like any
runner. The answer is untrusted data: it can only harm the submission's own verdict or embellish its
own record.
"""

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from harness.device.base import sealed_memory
from harness.device.cpu import CpuDevice
from harness.languages.build.cache import BuildError, BuildOutcome, Cache, key_of
from harness.languages.build.compiler import killed_failure
from harness.problem.case import whole_case
from harness.problem.model import Limits, Problem, Role
from harness.records.build import KernelResources
from harness.records.result import Verdict
from harness.runner.triton.kernel_cache import packed
from harness.sandbox.pause_gate import clock
from harness.session.fault import Fault
from harness.session.programs import RunnerProgram
from harness.session.session import Session
from harness.solution.contract import Contract
from harness.solution.model import Solution
from harness.wire.arguments import ScalarArgument, TensorShape
from harness.wire.messages import Compiled

KERNELS = "kernels"
_MAX_BYTES = 64 << 20
"""Room for the package of compiled kernels."""
_AHEAD_S = 8.0
"""Seconds of the processor after which no further kernel is compiled ahead."""
_PATIENCE_S = 30.0
"""Wall time, in seconds, of all compiling ahead."""
_MAX_KERNELS = 64
_MAX_FIGURE = 1 << 40
"""Greater figures on a kernel are no truth."""
_KILLED = re.compile(r"\bfailed with error code -9\b")
"""Triton's message on a compiler that somebody has killed."""


def compile_for_target(
    solution: Solution,
    problem: Problem,
    dtype: str,
    arch: str,
    cache: Cache,
    contract: Contract,
) -> BuildOutcome:
    """Build all launches of the problem's first benchmark shape for ``arch``.

    A failure is a kernel that cannot be built, or a build that takes longer than the problem
    allows. Code whose launches cannot be found out without a GPU gives an outcome without kernels.
    """
    calls = (_arguments(problem, problem.benchmarks[0], dtype),)
    work = _TritonBuild(solution, problem, arch, contract, calls)
    return cache.fetch(work.key("triton"), lambda _: _build(work))


def compile_ahead(
    solution: Solution,
    problem: Problem,
    dtype: str,
    arch: str,
    cache: Cache,
    contract: Contract,
) -> BuildOutcome:
    """Build whatever may be launched on a card that is here, as the file ``kernels``.

    For the benchmark shapes and the small ones, with all configurations of an autotuner. No kernel
    at all is no failure: what the card can run shows when it runs.
    """
    shapes = (*problem.benchmarks, *problem.cpu_benchmarks)
    calls = tuple(_arguments(problem, shape, dtype) for shape in shapes)
    work = _TritonBuild(solution, problem, arch, contract, calls)
    return cache.fetch(work.key("triton ahead"), lambda to: _build_ahead(work, to / KERNELS))


class _TritonBuild(NamedTuple):
    """A submission, what it is compiled for, and the arguments of the calls that are made."""

    solution: Solution
    problem: Problem
    sm: str
    contract: Contract
    calls: tuple[tuple[TensorShape | ScalarArgument, ...], ...]

    def key(self, kind: str) -> str:
        """The key that the outcome is kept under."""
        return key_of(
            {
                "kind": kind,
                "source": self.solution.source,
                "calls": repr(self.calls),
                "contract": repr(self.contract),
                "arch": self.sm,
                "triton": metadata.version("triton"),
                "python": sys.version,
            }
        )

    @property
    def arch(self) -> int:
        """The number 90 of sm_90."""
        return int(self.sm.removeprefix("sm_").rstrip("af"))

    def session(self, limits: Limits) -> Session:
        """A runner of its own, without the card."""
        program = RunnerProgram(kind="python", source=self.solution.source, contract=self.contract)
        return Session(program, CpuDevice(), limits)


def _arguments(
    problem: Problem, shape: Mapping[str, int | float], dtype: str
) -> tuple[TensorShape | ScalarArgument, ...]:
    """The arguments of one call, in order; of tensors type, shape and strides alone."""
    values = whole_case(problem, shape).values
    return tuple(
        TensorShape(
            dtype=p.data_type(dtype).name,
            shape=tuple(p.dimensions(values)),
            strides=tuple(p.steps(values)),
        )
        if p.role is Role.TENSOR
        else ScalarArgument(ctype=p.type, value=values[p.name])
        for p in problem.parameters
    )


def _build(work: _TritonBuild) -> BuildOutcome:
    with work.session(work.problem.limits) as session:
        answer = session.compile(work.calls, work.arch)
        if isinstance(answer, Fault):
            return _without_answer(answer, work.solution)
        log = session.output()
    return outcome_of(answer, log, work.solution.display_path)


def _build_ahead(work: _TritonBuild, file: Path) -> BuildOutcome:
    """Have the kernels packed into ``file``; the rest of the answer is ignored."""
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


def outcome_of(answer: Compiled, log: str, shown: str) -> BuildOutcome:
    """The outcome that the runner's ``answer`` about the file ``shown`` stands for.

    The submission may have made it answer anything: one that cannot be true (a register count of
    twenty digits) gives an outcome without kernels, not to be kept.
    """
    try:
        kernels = tuple(
            KernelResources.model_validate(kernel.to_json())
            for kernel in answer.kernels[:_MAX_KERNELS]
        )
    except ValidationError:
        return BuildOutcome(log=log, keep=False)
    failure = None
    if answer.status == "compile_error" and _KILLED.search(answer.message):
        return BuildOutcome(failure=killed_failure("ptxas"), log=log, keep=False)
    if answer.status == "compile_error":
        place = f"{shown}:{answer.line}: " if answer.line else ""
        failure = BuildError(
            verdict=Verdict.COMPILE_ERROR, message=f"{place}{answer.message[:2000]}"
        )
    if any(max(_figures(kernel)) > _MAX_FIGURE for kernel in kernels):
        return BuildOutcome(log=log, keep=False)
    return BuildOutcome(failure=failure, kernels=kernels, log=log, seconds=answer.seconds)


def _figures(kernel: KernelResources) -> tuple[int, ...]:
    return (
        kernel.registers,
        kernel.shared_bytes,
        kernel.spill_store_bytes,
        kernel.spill_load_bytes,
    )


def _without_answer(fault: Fault, solution: Solution) -> BuildOutcome:
    """The outcome where the runner gave no answer: a failure only if compiling took too long."""
    if fault.verdict is not Verdict.TIME_LIMIT:
        return BuildOutcome(keep=False)
    message = f"{solution.display_path}: compiling takes too long"
    return BuildOutcome(failure=BuildError(verdict=Verdict.TIME_LIMIT, message=message), keep=False)
