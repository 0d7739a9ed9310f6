"""Triton: a Python file that imports ``triton`` and has an entry point."""

from dataclasses import replace

from harness.languages import python
from harness.languages.build.cache import Cache
from harness.languages.build.occupancy import with_occupancy
from harness.problem.gradable import Gradable
from harness.problem.package import Problem
from harness.solution.model import Artifact, BuildFailure, Solution, Target


class Triton(python.Python):
    """Python whose kernels Triton compiles."""

    name = imports = "triton"

    def build(
        self, solution: Solution, problem: Gradable, dtype: str, target: Target, cache: Cache
    ) -> Artifact | BuildFailure:
        """Check the file and compile it for ``target.arch``, if any.

        With a GPU only if that saves time (``ahead``): a kernel is else compiled at its first call.
        """
        artifact = super().build(solution, problem, dtype, target, cache)
        if isinstance(artifact, BuildFailure) or target.arch is None:
            return artifact
        if not isinstance(problem, Problem):  # its launches need sizes that are declared
            return artifact
        if not target.emulated and not target.ahead:
            return artifact
        if artifact.extensions is not None:  # its calls need them, and what compiles has no card
            return artifact
        # Not at the top: most commands never need the judge's side of a runner.
        from harness.languages.build.triton_target import KERNELS, compile_triton

        outcome = compile_triton(solution, problem, dtype, artifact, cache)
        found = {
            "kernels": with_occupancy(outcome.kernels, target.arch),
            "cached": outcome.cached,
            "seconds": artifact.build.seconds + outcome.seconds,
            "target": f"cpu+{target.arch}" if target.emulated else target.arch,
            "log": outcome.log,
        }
        build = artifact.build.model_copy(update=found)
        if (failure := outcome.failure) is not None:
            return BuildFailure(verdict=failure.verdict, message=failure.message, build=build)
        return replace(artifact, build=build, kernels=outcome.files.get(KERNELS))


LANGUAGE = Triton()
