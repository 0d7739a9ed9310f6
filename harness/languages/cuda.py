"""CUDA C++: a ``.cu`` file with ``extern "C" void solution(...)``, or ``solve(...)``.

For a card it is compiled by nvcc to a shared library; for the CPU it is compiled by nvcc too, where
there is one, and made executable by :mod:`harness.cudacpu`.
"""

from harness.languages.base import Language
from harness.languages.build.cache import BuildError, Cache
from harness.languages.build.cuda import SOURCE, CudaBuild
from harness.languages.build.diagnostics import renamed
from harness.languages.build.occupancy import with_occupancy
from harness.languages.build.toolchain import Nvcc, NvccNotFound, find_host_compiler, find_nvcc
from harness.problem.gradable import Gradable
from harness.problem.signature import c_prototype
from harness.records.build import Build
from harness.records.result import Verdict
from harness.solution import suffixes
from harness.solution.contract import EntryPoint, c_entry, contract
from harness.solution.model import Artifact, BuildFailure, Solution, Target

_MISFITS = ('overloaded function "{}"', "declaration of C function ‘void {}(")
"""Complaints of nvcc and g++ about an entry point with other parameters than the prelude's."""


class Cuda(Language):
    """CUDA C++ files."""

    name = "cuda"
    suffix = suffixes.CUDA

    def build(
        self, solution: Solution, problem: Gradable, dtype: str, target: Target, cache: Cache
    ) -> Artifact | BuildFailure:
        """Compile ``solution``, or find it in ``cache``.

        Raises:
            NvccNotFound: the target is a card and there is no nvcc.
            MachineError: there is no C++ compiler, or nvcc does not work.
        """
        entry, nvcc = c_entry(solution.text), _nvcc_for(target)
        if problem.entry:
            entry = EntryPoint(problem.entry)
            if not entry.in_c:
                message = f"{problem.format} asks for `{entry}` in Python, not for CUDA C++"
                return BuildFailure(verdict=Verdict.INVALID_SUBMISSION, message=message)
        work = CudaBuild(
            text=solution.text,
            problem=problem,
            dtype=dtype,
            target=target,
            entry=entry,
            host=find_host_compiler(),
            nvcc=nvcc,
            cache=cache,
        )
        outcome = work.for_cpu() if target.emulated else work.for_card()
        devices = (["cpu"] if target.emulated else []) + ([target.code] if nvcc else [])
        build = Build(
            seconds=outcome.seconds,
            cached=outcome.cached,
            target="+".join(devices),
            log=renamed(outcome.log, SOURCE, solution.display_path),
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


LANGUAGE = Cuda()


def _nvcc_for(target: Target) -> Nvcc | None:
    """The CUDA compiler; None where the CPU is built for, and there is none or no architecture."""
    if target.arch is None:
        return None
    try:
        return find_nvcc()
    except NvccNotFound:
        if target.emulated:
            return None
        raise


def _explained(
    failure: BuildError, solution: Solution, problem: Gradable, entry: EntryPoint
) -> str:
    """The failure's message about the user's own file, with the prototype if that helps."""
    message = renamed(failure.message, SOURCE, solution.display_path)
    misfit = any(sign.format(entry) in message for sign in _MISFITS)
    if failure.verdict is Verdict.INVALID_SUBMISSION or misfit:
        message += f"\nthe problem asks for\n    {c_prototype(problem, entry)}"
    return message
