"""The interface of a language: one module with a class for it and an instance, LANGUAGE."""

from pathlib import Path
from typing import Protocol

from harness.languages.build.cache import Cache
from harness.problem.gradable import Gradable
from harness.solution.model import Artifact, BuildFailure, Solution, Target


class Language(Protocol):
    """One way to write a submission."""

    name: str
    """Its name in results and commands."""
    suffix: str
    """The file name extension, with its dot."""

    def claims(self, path: Path, text: str) -> bool:  # noqa: ARG002 (for others to look at)
        """Whether a file is written in this language, by its path and its text.

        ``text`` is untrusted: never run it, nor give it to a parser that nesting could exhaust.
        """
        return path.suffix == self.suffix

    def build(
        self, solution: Solution, problem: Gradable, dtype: str, target: Target, cache: Cache
    ) -> Artifact | BuildFailure:
        """Make ``solution`` ready for a runner, ``[VAR]`` standing for ``dtype``.

        Raises:
            MachineError: this machine lacks a tool, or the tool itself is broken.
        """
