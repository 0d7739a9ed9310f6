"""PTX: a ``.ptx`` file whose first comments say how its kernels are launched.

The driver of the card builds it. Where there is a CUDA toolkit, its ptxas reads it first, so that
what is wrong with it is found on any machine.
"""

import contextlib
from pathlib import Path

from harness.languages.base import Language
from harness.languages.build.cache import BuildOutcome, Cache, key_of
from harness.languages.build.diagnostics import renamed
from harness.languages.build.occupancy import most_shared, with_occupancy
from harness.languages.build.ptx import SOURCE, PtxSource, assemble, check_fit, find_assembler
from harness.languages.build.toolchain import NvccNotFound, find_nvcc
from harness.problem.dtypes import DTYPES
from harness.problem.expressions import SIZEOF_VAR
from harness.problem.model import Problem
from harness.records.build import Build
from harness.records.result import Verdict
from harness.solution import suffixes
from harness.solution.contract import EntryPoint, contract
from harness.solution.launches import LaunchError, Launches, read_launches
from harness.solution.model import Artifact, BuildFailure, Solution, Target

NO_CPU_PATH = "PTX runs on NVIDIA GPUs alone, and there is none here (harness doctor)"


class Ptx:
    """PTX files."""

    name = "ptx"
    suffix = suffixes.PTX

    def claims(self, path: Path, text: str) -> bool:  # noqa: ARG002 (the Protocol's)
        """Any ``.ptx`` file."""
        return path.suffix == self.suffix

    def build(
        self, solution: Solution, problem: Problem, dtype: str, target: Target, cache: Cache
    ) -> Artifact | BuildFailure:
        """Check the header and, where there is a ptxas, the code.

        Raises:
            MachineError: the sandbox for ptxas cannot be made.
        """
        try:
            each = read_launches(solution.text, problem)
        except LaunchError as error:
            return _invalid(f"{solution.display_path}:{error.line}: {error.reason}", None)
        fixed = {SIZEOF_VAR: DTYPES[dtype].itemsize}
        launches = Launches(each, fixed, most_shared(target.code), solution.display_path)
        outcome = _assembled(solution, problem, target, cache)
        build = Build(
            seconds=outcome.seconds,
            cached=outcome.cached,
            target=target.code or "ptx",
            log=renamed(outcome.log, SOURCE, solution.display_path),
            kernels=with_occupancy(outcome.kernels, target.code),
            contract=EntryPoint.SOLUTION.value,
        )
        if (failure := outcome.failure) is not None:
            message = renamed(failure.message, SOURCE, solution.display_path)
            return BuildFailure(verdict=failure.verdict, message=message, build=build)
        try:
            for launch in each:
                check_fit(launch, solution.text, problem, dtype)
            for shape in (*problem.benchmarks, *problem.cpu_benchmarks):
                launches.at(shape)
        except LaunchError as error:
            return _invalid(launches.message(error), build)
        if target.emulated:
            verdict = Verdict.NOT_EXECUTABLE_HERE
            return BuildFailure(verdict=verdict, message=NO_CPU_PATH, build=build)
        return Artifact(
            kind="ptx",
            target=target,
            library=None,
            checked=None,
            source=solution.text,
            build=build,
            contract=contract(EntryPoint.SOLUTION, problem),
            launches=launches,
        )


LANGUAGE: Language = Ptx()


def _invalid(message: str, build: Build | None) -> BuildFailure:
    return BuildFailure(verdict=Verdict.INVALID_SUBMISSION, message=message, build=build)


def _assembled(solution: Solution, problem: Problem, target: Target, cache: Cache) -> BuildOutcome:
    """What ptxas says; nothing where there is none, or no card to assemble for."""
    if target.arch is None:
        return BuildOutcome()
    with contextlib.suppress(NvccNotFound):
        nvcc = find_nvcc()
        assembler = find_assembler(nvcc)
        if assembler is not None:
            job = PtxSource(
                source=solution.text.encode(),
                target=target,
                assembler=assembler,
                version=nvcc.version,
                seconds=problem.limits.build_s,
            )
            key = key_of({"kind": "ptx", **job.key()})
            return cache.fetch(key, lambda folder: assemble(job, folder))
    return BuildOutcome()
