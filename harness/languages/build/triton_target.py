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
from harness.problem.package import Problem
from harness.problem.terms import Limits, Role
from harness.records.build import KernelResources
from harness.records.result import Verdict
from harness.runner.triton.kernel_cache import packed
from harness.sandbox.host_memory import is_near, oom_kills
from harness.sandbox.pause_gate import clock
from harness.session.build_session import BuildSession
from harness.session.fault import Fault
from harness.session.programs import RunnerProgram
from harness.solution.contract import Contract
from harness.solution.model import Artifact, Solution
from harness.wire.arguments import ScalarArgument, TensorShape
from harness.wire.messages import Compiled

KERNELS = "kernels"
_MAX_BYTES = 64 << 20
"""Room for the package of compiled kernels."""
_AHEAD_S = 25.0
"""Seconds of the processor after which no further kernel is compiled ahead."""
_PATIENCE_S = 60.0
"""Seconds of all compiling ahead, in which it computes or sleeps."""
_MAX_KERNELS = 64
_MAX_FIGURE = 1 << 40
"""Greater figures on a kernel are no truth."""
_KILLED = re.compile(r"\bfailed with error code -9\b")
"""Triton's message on a compiler that was killed."""


class _TritonBuild(NamedTuple):
    """A submission, what it is compiled for, and the arguments of the calls that are made."""

    solution: Solution
    problem: Problem
    arch: int
    contract: Contract
    calls: tuple[tuple[TensorShape | ScalarArgument, ...], ...]

    def session(self, limits: Limits) -> BuildSession:
        """A runner of its own, without the card."""
        program = RunnerProgram(kind="python", source=self.solution.source, contract=self.contract)
        return BuildSession(program, CpuDevice(), limits)


def compile_triton(
    solution: Solution, problem: Problem, dtype: str, checked: Artifact, cache: Cache
) -> BuildOutcome:
    """Build the launches of ``solution``, which is ``checked``, for its target.

    Without a card those of the problem's first benchmark shape. A failure is a kernel that cannot
    be built, or a build that takes longer than the problem allows. Code whose launches cannot be
    found out without a GPU gives an outcome without kernels.

    For a card that is here those of all benchmark shapes, as the file ``kernels``, with all
    configurations of an autotuner. No kernel at all is no failure: what the card can run shows when
    it runs.
    """
    target = checked.target
    ahead = not target.emulated
    shapes = (*problem.benchmarks, *problem.cpu_benchmarks) if ahead else problem.benchmarks[:1]
    calls = tuple(_arguments(problem, shape, dtype) for shape in shapes)
    arch = int((target.arch or "").removeprefix("sm_").rstrip("af"))
    work = _TritonBuild(solution, problem, arch, checked.contract, calls)
    parts = {
        "kind": "triton ahead" if ahead else "triton",
        "source": solution.source,
        "calls": repr(calls),
        "contract": repr(checked.contract),
        "arch": target.arch or "",
        "triton": metadata.version("triton"),
        "python": sys.version,
    }

    def build(folder: Path) -> BuildOutcome:
        return _build_ahead(work, folder / KERNELS) if ahead else _build(work)

    return cache.fetch(key_of(parts), build)


def _arguments(
    problem: Problem, shape: Mapping[str, int | float], dtype: str
) -> tuple[TensorShape | ScalarArgument, ...]:
    """The arguments of one call, in order; of tensors only type, shape and strides."""
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
    limit, kills = work.problem.limits.host_bytes, oom_kills()
    with work.session(work.problem.limits) as session:
        answer = session.compile(work.calls, work.arch)
        shown = work.solution.display_path
        if not isinstance(answer, Fault):
            outcome = outcome_of(answer, session.output(), shown)
            killed = outcome.failure and outcome.failure.verdict is Verdict.INTERNAL_ERROR
            if not killed or not is_near(limit, session.peak_bytes, kills):
                return outcome
            peak = session.peak_bytes >> 20
            message = f"{shown}: compiling its kernels took {peak} MiB, the limit is {limit >> 20}"
            failed = BuildError(verdict=Verdict.MEMORY_LIMIT, message=message)
            return outcome.model_copy(update={"failure": failed})
    failure = None
    if answer.verdict is Verdict.TIME_LIMIT:
        spec = whole_case(work.problem, work.problem.benchmarks[0]).spec
        message = f"{shown}: compiling its kernels for sm_{work.arch}, {spec}, {answer.message}"
        failure = BuildError(verdict=answer.verdict, message=message)
    return BuildOutcome(failure=failure, reusable=False)


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
            return BuildOutcome(reusable=False)
        file.write_bytes(packed(fd))
    finally:
        os.close(fd)
    return BuildOutcome(files={KERNELS: file}, seconds=clock() - start)


def outcome_of(answer: Compiled, log: str, shown: str) -> BuildOutcome:
    """The outcome that the runner's ``answer`` about the file ``shown`` stands for.

    The submission may have made it answer anything: one that cannot be true (a register count of
    twenty digits) gives an outcome without kernels, which is not reused.
    """
    try:
        kernels = tuple(
            KernelResources.model_validate(kernel.to_json())
            for kernel in answer.kernels[:_MAX_KERNELS]
        )
    except ValidationError:
        return BuildOutcome(log=log, reusable=False)
    rejected = answer.status == "compile_error"
    if rejected and _KILLED.search(answer.message):
        return BuildOutcome(failure=killed_failure("ptxas"), log=log, reusable=False)
    for kernel in kernels:
        spills = kernel.spill_store_bytes, kernel.spill_load_bytes
        if max(kernel.registers, kernel.shared_bytes, *spills) > _MAX_FIGURE:
            return BuildOutcome(log=log, reusable=False)
    failure = None
    if rejected:
        place = f"{shown}:{answer.line}: " if answer.line else ""
        message = f"{place}{answer.message[:2000]}"
        failure = BuildError(verdict=Verdict.COMPILE_ERROR, message=message)
    return BuildOutcome(failure=failure, kernels=kernels, log=log, seconds=answer.seconds)
