"""What the harness asks of a language. A language is one module that has these three names."""

from pathlib import Path
from typing import Protocol

from harness.languages.build.cache import Cache
from harness.problem.model import Problem
from harness.solution.model import Artifact, BuildFailure, Solution, Target


class Language(Protocol):
    """One way to write a submission."""

    @property
    def name(self) -> str:
        """How results and commands call it."""

    @property
    def suffix(self) -> str:
        """The file name extension, with its dot."""

    def claims(self, path: Path, text: str) -> bool:
        """Whether the file at ``path``, which says ``text``, is written in this language.

        Where several claim it, it is in the first of them. ``text`` is untrusted: it is looked at,
        never run, and never given to a parser that its nesting could exhaust.
        """

    def build(
        self, solution: Solution, problem: Problem, dtype: str, target: Target, cache: Cache
    ) -> Artifact | BuildFailure:
        """Make ``solution`` ready for a runner, ``[VAR]`` standing for ``dtype``.

        Raises:
            MachineError: this machine lacks a tool, or the tool itself is broken.
        """
