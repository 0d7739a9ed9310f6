"""What boards and problems can be filtered by: device, type, language, difficulty and tag.

A page names each value by a token of ours (``t3``), so that no attribute holds what others wrote.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from harness.problem.package import Problem
from harness.site.boards import Board

Values = Mapping[str, Iterable[str]]
"""What something has of each facet, by the facet's name."""


class Choice(NamedTuple):
    """A facet with at least two values, and the token of each."""

    name: str
    options: tuple[tuple[str, str], ...]


class Facets:
    """The facets of a site, from all that has some; in order of their names' first mention."""

    def __init__(self, everything: Iterable[Values]) -> None:
        found: dict[str, set[str]] = {}
        for values in everything:
            for name, texts in values.items():
                found.setdefault(name, set()).update(filter(None, texts))
        self._tokens = {
            (name, text): f"{'abcdefgh'[place]}{number}"
            for place, (name, texts) in enumerate(found.items())
            for number, text in enumerate(sorted(texts))
        }
        self.choices = [
            Choice(name, tuple((self._tokens[name, text], text) for text in sorted(texts)))
            for name, texts in found.items()
            if len(texts) > 1
        ]

    def token(self, name: str, text: str) -> str:
        """The token of a value that something has."""
        return self._tokens[name, text]

    def tokens(self, values: Values) -> str:
        """The tokens of what something has, separated by blanks."""
        pairs = ((name, text) for name, texts in values.items() for text in texts if text)
        return " ".join(sorted(self._tokens[pair] for pair in pairs))


def of_board(
    board: Board, problem: Problem | None, language: Callable[[str], str]
) -> dict[str, Iterable[str]]:
    """The facets of a board; ``problem`` is None where its package is not at hand."""
    return {
        "device": [board.device],
        "type": [board.dtype],
        "language": [language(each) for each in board.languages],
        "difficulty": [problem.difficulty.lower()] if problem and problem.difficulty else [],
        "tag": problem.tags if problem else [],
    }


def of_problem(
    problem: Problem, boards: Sequence[Board], language: Callable[[str], str]
) -> dict[str, Iterable[str]]:
    """The facets of a problem, with those of its boards."""
    own = [of_board(board, problem, language) for board in boards]
    return {
        "device": {device for each in own for device in each["device"]},
        "type": problem.dtypes,
        "language": {language for each in own for language in each["language"]},
        "difficulty": [problem.difficulty.lower()] if problem.difficulty else [],
        "tag": problem.tags,
    }
