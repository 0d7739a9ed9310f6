"""Python files whose kernels a framework of :mod:`harness.frameworks` compiles: a language each."""

from pathlib import Path

from harness.frameworks import FRAMEWORKS, Framework
from harness.languages import python
from harness.languages.base import Language
from harness.languages.build.cache import Cache
from harness.problem.model import Problem
from harness.records.result import Verdict
from harness.solution.model import Artifact, BuildFailure, Solution, Target


class InFramework(python.Python):
    """Python that imports one framework."""

    def __init__(self, framework: Framework) -> None:
        self.name = framework.name
        self._framework = framework

    def claims(self, path: Path, text: str) -> bool:
        """A ``.py`` file with an import of the framework."""
        if path.suffix != self.suffix:
            return False
        return self._framework.imported in python.imported(text)

    def build(
        self, solution: Solution, problem: Problem, dtype: str, target: Target, cache: Cache
    ) -> Artifact | BuildFailure:
        """Check the file; the framework compiles its kernels when they are first called."""
        artifact = super().build(solution, problem, dtype, target, cache)
        if isinstance(artifact, BuildFailure):
            return artifact
        reason = self._unusable(target)
        if reason is not None:
            verdict = Verdict.NOT_EXECUTABLE_HERE
            return BuildFailure(verdict=verdict, message=reason, build=artifact.build)
        return artifact

    def _unusable(self, target: Target) -> str | None:
        """Why nothing written in it can run on this target, if that is so."""
        framework = self._framework
        if target.emulated:
            return (
                f"{framework.title} runs on NVIDIA GPUs alone, and there is none here "
                "(harness doctor)"
            )
        if framework.version() is None:
            return f"{framework.title} is not installed here: {framework.remedy}"
        number = (target.arch or "").removeprefix("sm_").rstrip("af")
        if int(number) < framework.capability:
            return (
                f"{framework.title} needs a card of sm_{framework.capability} or newer; "
                f"this one is {target.arch}"
            )
        return None


LANGUAGES: tuple[Language, ...] = tuple(map(InFramework, FRAMEWORKS.values()))
