"""Suggest the word that was probably meant, or list the words there are."""

import difflib
from collections.abc import Iterable

_LONGEST = 80
"""Characters of a word that are compared: it comes from untrusted files."""


def nearest(word: str, known: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    """The known word most like ``word``, letter case aside; None if none is near.

    ``cutoff`` is the least :meth:`difflib.SequenceMatcher.ratio`.
    """
    lower = {each.lower(): each for each in known}
    near = difflib.get_close_matches(word.lower()[:_LONGEST], lower, n=1, cutoff=cutoff)
    return lower[near[0]] if near else None


def did_you_mean(word: str, known: Iterable[str], *, cutoff: float = 0.6) -> str:
    """`` (did you mean x?)`` for the known word nearest to ``word``, or nothing if none is near."""
    near = nearest(word, known, cutoff=cutoff)
    return f" (did you mean {near}?)" if near else ""


def listing(what: str, names: list[str]) -> str:
    """`` (sizes: m, n)``, for a complaint about a name that is none of them."""
    return f" ({what}: {', '.join(names)})" if names else f" (there are no {what})"
