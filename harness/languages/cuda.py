"""CUDA C++: a ``.cu`` file with ``extern "C" void solution(...)``, or ``solve(...)``.

For a card it is compiled by nvcc to a shared library; for the CPU it is compiled by nvcc too, where
there is one, and made executable by :mod:`harness.cudacpu`.
"""

from collections.abc import Sequence

from harness.languages.base import Language
from harness.languages.build.cache import BuildError, Cache
from harness.languages.build.compiler import lacks_entry
from harness.languages.build.cuda import SOURCE, CudaBuild
from harness.languages.build.diagnostics import as_typed, renamed
from harness.languages.build.libraries import FoundLibrary, LibraryNotFound, libraries_for
from harness.languages.build.library_table import not_included, undeclared
from harness.languages.build.machine_code import CUBIN, keep
from harness.languages.build.occupancy import with_occupancy
from harness.languages.build.toolchain import Nvcc, find_host_compiler, nvcc_for
from harness.problem.gradable import Gradable
from harness.problem.libraries import allowed_in_words
from harness.problem.signature import c_prototype
from harness.records.build import Build, UsedLibrary
from harness.records.result import Verdict
from harness.solution import suffixes
from harness.solution.contract import EntryPoint, c_entry, contract, entry_named
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
        if refused := _forbidden(solution.uses, problem):
            message = f"{solution.display_path}: {refused}"
            return BuildFailure(verdict=Verdict.INVALID_SUBMISSION, message=message)
        entry, nvcc = c_entry(solution.text), nvcc_for(target)
        if problem.entry:
            entry = entry_named(problem.entry)
            if not entry.in_c:
                message = f"{problem.format} asks for `{problem.entry}` in Python, not for CUDA C++"
                return BuildFailure(verdict=Verdict.INVALID_SUBMISSION, message=message)
        try:
            libraries = _libraries(solution.uses, nvcc)
        except LibraryNotFound as missing:
            message = f"{solution.display_path}: not compiled: {missing}"
            return BuildFailure(verdict=Verdict.NOT_EXECUTABLE_HERE, message=message)
        work = CudaBuild(
            text=solution.text,
            problem=problem,
            dtype=dtype,
            target=target,
            entry=entry,
            host=find_host_compiler(),
            nvcc=nvcc,
            cache=cache,
            uses=solution.uses,
            libraries=libraries,
        )
        outcome = work.for_cpu() if target.emulated else work.for_card()
        devices = (["cpu"] if target.emulated else []) + ([target.code] if nvcc else [])
        build = Build(
            seconds=outcome.seconds,
            cached=outcome.cached,
            target="+".join(devices),
            log=renamed(
                as_typed(outcome.log, SOURCE, solution.text), SOURCE, solution.display_path
            ),
            kernels=with_occupancy(outcome.kernels, target.code),
            contract=entry.value,
            libraries=_used(solution.uses, libraries),
        )
        if outcome.failure is not None:
            message = _explained(outcome.failure, outcome.log, solution, problem, entry)
            return BuildFailure(verdict=outcome.failure.verdict, message=message, build=build)
        if nvcc is not None and (CUBIN in outcome.files or not target.emulated):
            keep(
                dict(outcome.files),
                solution=solution.hash,
                problem=problem.hash,
                dtype=dtype,
                target=build.target,
                compiler=f"nvcc {nvcc.version}",
                cache=cache,
            )
        return Artifact(
            kind="library",
            target=target,
            library=outcome.files.get("library"),
            checked=outcome.files.get("checked"),
            source=solution.text,
            build=build,
            contract=contract(entry, problem),
            loads=tuple(file for each in libraries for file in each.loaded),
        )


LANGUAGE = Cuda()


def _forbidden(uses: Sequence[str], problem: Gradable) -> str:
    """Why the problem does not allow these libraries; empty if it does."""
    allowed = problem.libraries
    if allowed is None or not (extra := [name for name in uses if name not in allowed]):
        return ""
    return (
        f"uses {', '.join(extra)}, and the problem allows these libraries: "
        f"{allowed_in_words(allowed)}"
    )


def _libraries(uses: Sequence[str], nvcc: Nvcc | None) -> tuple[FoundLibrary, ...]:
    """The libraries for nvcc; none without it.

    Raises:
        LibraryNotFound: one of them is not installed.
    """
    if nvcc is None or not uses:
        return ()
    here = libraries_for(nvcc)
    return tuple(map(here.find, uses))


def _used(uses: Sequence[str], libraries: Sequence[FoundLibrary]) -> tuple[UsedLibrary, ...]:
    versions = {each.name: each.version for each in libraries}
    return tuple(UsedLibrary(name=name, version=versions.get(name, "")) for name in uses)


def _explained(
    failure: BuildError, log: str, solution: Solution, problem: Gradable, entry: EntryPoint
) -> str:
    """The failure's message about the user's own file, with the prototype if that helps."""
    message = renamed(failure.message, SOURCE, solution.display_path)
    misfit = any(sign.format(entry) in message for sign in _MISFITS)
    if misfit:
        said, _, complaint = message.partition("error: ")
        message = f"{said}error: {entry} has other parameters than the problem's ({complaint})"
    if misfit or lacks_entry(log):
        message += f"\nthe problem asks for\n    {c_prototype(problem, entry)}"
    if hint := not_included(log):
        message += f"\n{hint}"
    if hint := undeclared(solution.text, solution.uses, f"{failure.message}\n{log}"):
        message += f"\n{hint}"
    return message
