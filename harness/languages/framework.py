"""Python files whose kernels a framework of :mod:`harness.frameworks` compiles: a language each."""

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
        self.imports = framework.imported
        self._framework = framework

    def build(
        self, solution: Solution, problem: Problem, dtype: str, target: Target, cache: Cache
    ) -> Artifact | BuildFailure:
        """Check the file; the framework compiles its kernels when they are first called."""
        artifact = super().build(solution, problem, dtype, target, cache)
        reason = self._unusable(target)
        if reason is None or isinstance(artifact, BuildFailure):
            return artifact
        verdict = Verdict.NOT_EXECUTABLE_HERE
        return BuildFailure(verdict=verdict, message=reason, build=artifact.build)

    def _unusable(self, target: Target) -> str | None:
        """The reason why it cannot run on this target; None if it can."""
        title, oldest = self._framework.title, self._framework.capability
        if target.emulated:
            return f"{title} runs on NVIDIA GPUs alone, and there is none here (harness doctor)"
        if self._framework.version() is None:
            return f"{title} is not installed here: {self._framework.remedy}"
        if int((target.arch or "").removeprefix("sm_").rstrip("af")) < oldest:
            return f"{title} needs a card of sm_{oldest} or newer; this one is {target.arch}"
        return None


LANGUAGES: tuple[Language, ...] = tuple(map(InFramework, FRAMEWORKS.values()))
