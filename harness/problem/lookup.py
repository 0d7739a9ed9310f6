"""Find problems by what people call them: a title, a file's name, a folder. Never imports torch.

``6_Matmul_with_large_K_dimension_`` and ``Matmul, large K.py`` both mean ``matmul-large-k``.
"""

import contextlib
import re
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from harness.errors import ProblemError, UsageError
from harness.problem.format.load import find_problem, load_problem, problem_folders, problem_slugs
from harness.problem.package import Problem
from harness.text.plain import plain
from harness.text.suggest import nearest

_FILLERS = {
    "a", "and", "as", "by", "dimension", "dimensions", "for", "fused", "fusion", "in", "kernel",
    "level", "of", "on", "problem", "the", "then", "to", "with",
}  # fmt: skip
_LONGEST = 200
_STEMMED = 6
"""Letters from which on a word's other forms count as the word."""
_OFTEN = 2
"""Times that a word has to be in a text that is about it."""


def find_named(root: Path, name: str, place: str) -> Problem:
    """The problem in ``root`` whose slug or title is ``name``; as :func:`slug_named`.

    Raises:
        UsageError: there is none, or several.
        ProblemError: there is one, and it is wrong.
    """
    return find_problem(root, slug_named(root, name, place))


def slug_named(root: Path, name: str, place: str) -> str:
    """The slug of the problem in ``root`` that ``name`` is the slug or title of.

    As :func:`key_of` compares them; one that does not load is found by its very slug. ``place`` is
    the file whose header has the name, for messages.

    Raises:
        UsageError: there is none, or several.
    """
    problems = _loadable(root)
    wanted = key_of(name)
    found = [p for p in problems if wanted and wanted in (key_of(p.slug), key_of(p.title))]
    if len(found) == 1:
        return found[0].slug
    if name in _slugs(root):
        return name
    shown = f"{place}: its header is for the problem '{plain(name, 80)}'"
    if found:
        slugs = ", ".join(p.slug for p in found)
        raise UsageError(f"{shown}, which may be any of {slugs}: choose with --problem")
    names = {key_of(each): p.slug for p in problems for each in (p.title, p.slug)}
    near = nearest(wanted, names)
    hint = f" (did you mean {names[near]}?)" if near else ""
    raise UsageError(f"{shown}, and there is none of that name{hint}: name one with --problem")


def key_of(name: str) -> str:
    """What all names of one problem have in common: ``matmullargek``.

    Letter case, punctuation, a number in front, a file's suffix and words such as ``with`` make no
    difference.
    """
    name = re.sub(r"\.(?:py|cu|md|txt)\Z", "", name[:_LONGEST].strip().lower())
    words = re.findall(r"[^\W_]+", name)
    if len(words) > 1 and words[0].isdecimal():
        words = words[1:]
    return "".join(word for word in words if word not in _FILLERS)


def other_subject(text: str, problem: Problem, root: Path) -> str | None:
    """The slug of another problem that ``text`` is about; None if it is about ``problem``, or none.

    It is about a problem if it has each word of its slug, or a form of it, at least twice. Problems
    whose words are all in ``problem``'s own statement do not count.
    """
    counts = Counter(_words(text))
    if _times(problem.slug, counts) >= _OFTEN:
        return None
    own = {*_words(problem.title), *_words(problem.statement)}
    others = [
        (len(_words(each.slug)), each.slug)
        for each in _loadable(root)
        if _times(each.slug, counts) >= _OFTEN and not set(_words(each.slug)) <= own
    ]
    return max(others)[1] if others else None


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z][a-z0-9]*", text.lower())


def _times(slug: str, counts: Mapping[str, int]) -> int:
    """How often a text has the least frequent of a slug's words; forms of long words count, too."""

    def times(part: str) -> int:
        if len(part) < _STEMMED:
            return counts.get(part, 0)
        return sum(n for word, n in counts.items() if word.startswith(part[:-1]))

    return min(map(times, _words(slug)), default=0)


@lru_cache(maxsize=4)
def _slugs(root: Path) -> frozenset[str]:
    return frozenset(problem_slugs(root))


@lru_cache(maxsize=4)
def _loadable(root: Path) -> tuple[Problem, ...]:
    problems = []
    for folder in problem_folders(root):
        with contextlib.suppress(ProblemError):  # finding it by its slug says why
            problems.append(load_problem(folder))
    return tuple(problems)
