"""Triton: a Python file that imports ``triton`` and has an entry point."""

from dataclasses import replace
from pathlib import Path

from harness.languages import python
from harness.languages.base import Language
from harness.languages.build.cache import Cache
from harness.languages.build.occupancy import with_occupancy
from harness.problem.model import Problem
from harness.solution.model import Artifact, BuildFailure, Solution, Target


class Triton(python.Python):
    """Python whose kernels Triton compiles."""

    name = "triton"

    def claims(self, path: Path, text: str) -> bool:
        """A ``.py`` file with an import of triton."""
        return path.suffix == self.suffix and "triton" in python.imported(text)

    def build(
        self, solution: Solution, problem: Problem, dtype: str, target: Target, cache: Cache
    ) -> Artifact | BuildFailure:
        """Check the file and compile it for ``target.arch``, if any.

        With a GPU that is done ``ahead`` alone, and only saves time: what of it is called is not
        compiled again, the rest is, when it is first called.
        """
        artifact = super().build(solution, problem, dtype, target, cache)
        if isinstance(artifact, BuildFailure) or target.arch is None:
            return artifact
        if not target.emulated and not target.ahead:
            return artifact
        # Not at the top: most commands never need the judge's side of a runner.
        from harness.languages.build.triton_target import KERNELS, compile_ahead, compile_for_target

        if not target.emulated:
            outcome = compile_ahead(solution, problem, dtype, target, cache, artifact.contract)
            seconds = artifact.build.seconds + outcome.seconds
            build = artifact.build.model_copy(
                update={"seconds": seconds, "cached": outcome.cached, "target": target.arch}
            )
            return replace(artifact, build=build, kernels=outcome.files.get(KERNELS))
        outcome = compile_for_target(solution, problem, dtype, target, cache, artifact.contract)
        build = artifact.build.model_copy(
            update={
                "kernels": with_occupancy(outcome.kernels, target.arch),
                "cached": outcome.cached,
                "seconds": artifact.build.seconds + outcome.seconds,
                "target": f"cpu+{target.arch}",
                "log": outcome.log,
            }
        )
        if outcome.failure is not None:
            failure = outcome.failure
            return BuildFailure(verdict=failure.verdict, message=failure.message, build=build)
        return replace(artifact, build=build)


LANGUAGE: Language = Triton()
