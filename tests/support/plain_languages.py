"""Python submissions that runners execute as they are, for tests on a stand-in for torch.

On a CPU they are interpreted, which needs the real torch.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from harness.languages import LANGUAGES, Language
from harness.languages.build.cache import Cache
from harness.problem.package import Problem
from harness.solution.contract import IN_ORDER
from harness.solution.model import Artifact, BuildFailure, Solution, Target


class PlainLanguage:
    """``language``, but Python is not interpreted, and called with the parameters in order."""

    def __init__(self, language: Language) -> None:
        self._language = language
        self.name = language.name
        self.suffix = language.suffix

    def claims(self, path: Path, text: str) -> bool:
        return self._language.claims(path, text)

    def build(
        self, solution: Solution, problem: Problem, dtype: str, target: Target, cache: Cache
    ) -> Artifact | BuildFailure:
        built = self._language.build(solution, problem, dtype, target, cache)
        if isinstance(built, BuildFailure) or built.kind != "python":
            return built
        executed = Target(kind="cuda")  # not interpreted
        return replace(built, target=executed, contract=IN_ORDER, language="", kernels=None)


PLAIN_LANGUAGES: dict[str, Language] = {
    name: PlainLanguage(language) for name, language in LANGUAGES.items()
}


def install_plain_languages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have commands build with them."""
    for name, language in PLAIN_LANGUAGES.items():
        monkeypatch.setitem(LANGUAGES, name, language)
