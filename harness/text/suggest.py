"""Suggest the word that was probably meant, or list the words there are."""

import difflib
from collections.abc import Iterable


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`` (did you mean x?)`` for the known word nearest to ``word``, or nothing if none is near."""
    candidates = list(known)
    lower = {c.lower(): c for c in candidates}
    near = difflib.get_close_matches(word.lower()[:80], lower, n=1, cutoff=0.6)
    return f" (did you mean {lower[near[0]]}?)" if near else ""


def listing(what: str, names: list[str]) -> str:
    """`` (sizes: m, n)``, for a complaint about a name that is none of them."""
    return f" ({what}: {', '.join(names)})" if names else f" (there are no {what})"
