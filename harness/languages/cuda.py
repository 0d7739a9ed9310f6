"""CUDA C++: a ``.cu`` file with ``extern "C" void solution(...)``, or ``solve(...)``.

For a card it is compiled by nvcc to a shared library; for the CPU it is compiled by nvcc too, where
there is one, and made executable by :mod:`harness.cudacpu`.
"""

import contextlib
from pathlib import Path
from typing import NamedTuple

from harness.languages.base import Language
from harness.languages.build.cache import BuildError, BuildOutcome, Cache, key_of
from harness.languages.build.diagnostics import renamed
from harness.languages.build.hostbuild import HostSource, build_for_host
from harness.languages.build.nvcc import SOURCE, CudaSource, compile_cuda
from harness.languages.build.occupancy import with_occupancy
from harness.languages.build.prelude import host_prelude, prelude, prototype
from harness.languages.build.toolchain import NvccNotFound, find_host_compiler, find_nvcc
from harness.problem.model import Problem
from harness.records.build import Build
from harness.records.result import Verdict
from harness.solution import suffixes
from harness.solution.contract import EntryPoint, c_entry, contract
from harness.solution.model import Artifact, BuildFailure, Solution, Target

_MISFITS = ('overloaded function "{}"', "declaration of C function ‘void {}(")
"""Complaints of nvcc and g++ about an entry point with other parameters than the prelude's."""


class Cuda:
    """CUDA C++ files."""

    name = "cuda"
    suffix = suffixes.CUDA

    def claims(self, path: Path, text: str) -> bool:  # noqa: ARG002 (the Protocol's)
        """Any ``.cu`` file."""
        return path.suffix == self.suffix

    def build(
        self, solution: Solution, problem: Problem, dtype: str, target: Target, cache: Cache
    ) -> Artifact | BuildFailure:
        """Compile ``solution``, or find it in ``cache``.

        Raises:
            NvccNotFound: the target is a card and there is no nvcc.
            MachineError: there is no C++ compiler, or nvcc does not work.
        """
        work = _CudaBuild(solution, problem, dtype, target, c_entry(solution.text))
        outcome, built = work.for_cpu(cache) if target.emulated else work.for_card(cache)
        build = Build(
            seconds=outcome.seconds,
            cached=outcome.cached,
            target=built,
            log=renamed(outcome.log, SOURCE, solution.display_path),
            kernels=with_occupancy(outcome.kernels, target.code),
            contract=work.entry.value,
        )
        if outcome.failure is not None:
            message = _explained(outcome.failure, solution, problem, work.entry)
            return BuildFailure(verdict=outcome.failure.verdict, message=message, build=build)
        return Artifact(
            kind="library",
            target=target,
            library=outcome.files.get("library"),
            checked=outcome.files.get("checked"),
            source=solution.text,
            build=build,
            contract=contract(work.entry, problem),
        )


LANGUAGE: Language = Cuda()


class _CudaBuild(NamedTuple):
    """A submission, and what it is built for."""

    solution: Solution
    problem: Problem
    dtype: str
    target: Target
    entry: EntryPoint

    def for_card(self, cache: Cache) -> tuple[BuildOutcome, str]:
        """The library for a card, and a name for what was built."""
        job = self._cuda_source()
        key = key_of({"kind": "cuda", **job.key(library=True)})
        outcome = cache.fetch(key, lambda folder: compile_cuda(job, folder, cache, library=True))
        return outcome, self.target.code

    def for_cpu(self, cache: Cache) -> tuple[BuildOutcome, str]:
        """The libraries for the CPU, and a name for what was built."""
        cuda = None
        host = find_host_compiler()
        if self.target.arch is not None:
            with contextlib.suppress(NvccNotFound):
                cuda = self._cuda_source()
        job = HostSource(
            text=self.solution.text,
            prelude=host_prelude(self.problem, self.entry),
            dtype=self.dtype,
            host=host,
            cuda=cuda,
            seconds=self.problem.limits.build_s,
            timed=self.target.timed,
        )
        built = f"cpu+{self.target.code}" if cuda else "cpu"
        try:
            key = key_of({"kind": "cpu", **job.key()})
        except ValueError as error:
            message = f"not executable on a CPU: {error}"
            failure = BuildError(verdict=Verdict.NOT_EXECUTABLE_HERE, message=message)
            return BuildOutcome(failure=failure), built
        return cache.fetch(key, lambda folder: build_for_host(job, folder, cache)), built

    def _cuda_source(self) -> CudaSource:
        return CudaSource(
            source=self.solution.text.encode(),
            prelude=prelude(self.problem, self.dtype, self.entry),
            target=self.target,
            nvcc=find_nvcc(),
            host=find_host_compiler(),
            seconds=self.problem.limits.build_s,
        )


def _explained(failure: BuildError, solution: Solution, problem: Problem, entry: EntryPoint) -> str:
    """The failure's message about the user's own file, with the prototype if that helps."""
    message = renamed(failure.message, SOURCE, solution.display_path)
    misfit = any(sign.format(entry) in message for sign in _MISFITS)
    if failure.verdict is Verdict.INVALID_SUBMISSION or misfit:
        message += f"\nthe problem asks for\n    {prototype(problem, entry)}"
    return message
