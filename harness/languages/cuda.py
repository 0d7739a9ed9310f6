"""CUDA C++: a ``.cu`` file with ``extern "C" void solution(...)``, or ``solve(...)``.

For a card it is compiled by nvcc to a shared library; for the CPU it is compiled by nvcc too, where
there is one, and made executable by :mod:`harness.cudacpu`.
"""

import contextlib
from pathlib import Path

from harness.languages.base import Language
from harness.languages.build.cache import BuildError, BuildOutcome, Cache, key_of
from harness.languages.build.diagnostics import renamed
from harness.languages.build.hostbuild import HostSource, build_for_host
from harness.languages.build.nvcc import SOURCE, CudaSource, compile_cuda
from harness.languages.build.occupancy import with_occupancy
from harness.languages.build.prelude import host_prelude, prelude, prototype
from harness.languages.build.toolchain import Nvcc, NvccNotFound, find_host_compiler, find_nvcc
from harness.problem.model import Problem
from harness.records.build import Build
from harness.records.result import Verdict
from harness.solution import suffixes
from harness.solution.contract import EntryPoint, c_entry, contract
from harness.solution.model import Artifact, BuildFailure, Solution, Target

# How nvcc and g++ complain about an entry point with other parameters than the prelude's.
MISFITS = ('overloaded function "{}"', "declaration of C function ‘void {}(")


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
        entry = c_entry(solution.text)
        if not target.emulated:
            outcome = _for_card(solution, problem, dtype, target, cache, entry)
            built = target.code
        else:
            outcome, built = _for_cpu(solution, problem, dtype, target, cache, entry)
        log = renamed(outcome.log, SOURCE, solution.display_path)
        build = Build(
            seconds=outcome.seconds,
            cached=outcome.cached,
            target=built,
            log=log,
            kernels=with_occupancy(outcome.kernels, target.code),
            contract=entry.value,
        )
        if outcome.failure is not None:
            message = _explained(outcome.failure, solution, problem, entry)
            return BuildFailure(verdict=outcome.failure.verdict, message=message, build=build)
        return Artifact(
            kind="library",
            target=target,
            library=outcome.files.get("library"),
            checked=outcome.files.get("checked"),
            source=solution.text,
            build=build,
            contract=contract(entry, problem),
        )


LANGUAGE: Language = Cuda()


def _for_card(
    solution: Solution,
    problem: Problem,
    dtype: str,
    target: Target,
    cache: Cache,
    entry: EntryPoint,
) -> BuildOutcome:
    job = _cuda_source(solution, prelude(problem, dtype, entry), problem, target, find_nvcc())
    return cache.fetch(
        key_of({"kind": "cuda", **job.key(library=True)}),
        lambda folder: compile_cuda(job, folder, cache, library=True),
    )


def _for_cpu(
    solution: Solution,
    problem: Problem,
    dtype: str,
    target: Target,
    cache: Cache,
    entry: EntryPoint,
) -> tuple[BuildOutcome, str]:
    """The outcome, and a name for what was built."""
    host = find_host_compiler()
    cuda = None
    if target.arch is not None:
        with contextlib.suppress(NvccNotFound):
            declared = prelude(problem, dtype, entry)
            cuda = _cuda_source(solution, declared, problem, target, find_nvcc())
    job = HostSource(
        text=solution.text,
        prelude=host_prelude(problem, entry),
        dtype=dtype,
        host=host,
        cuda=cuda,
        seconds=problem.limits.build_s,
        timed=target.timed,
    )
    built = f"cpu+{target.code}" if cuda else "cpu"
    try:
        key = key_of({"kind": "cpu", **job.key()})
    except ValueError as error:
        message = f"not executable on a CPU: {error}"
        return BuildOutcome(
            failure=BuildError(verdict=Verdict.NOT_EXECUTABLE_HERE, message=message)
        ), built
    return cache.fetch(key, lambda folder: build_for_host(job, folder, cache)), built


def _cuda_source(
    solution: Solution, declared: str, problem: Problem, target: Target, nvcc: Nvcc
) -> CudaSource:
    return CudaSource(
        source=solution.text.encode(),
        prelude=declared,
        target=target,
        nvcc=nvcc,
        host=find_host_compiler(),
        seconds=problem.limits.build_s,
    )


def _explained(failure: BuildError, solution: Solution, problem: Problem, entry: EntryPoint) -> str:
    """The failure's message about the user's own file, with what is asked for if that helps."""
    message = renamed(failure.message, SOURCE, solution.display_path)
    misfit = any(sign.format(entry) in message for sign in MISFITS)
    if failure.verdict is Verdict.INVALID_SUBMISSION or misfit:
        message += f"\nthe problem asks for\n    {prototype(problem, entry)}"
    return message
