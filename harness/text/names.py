"""Names of authors: the one form that is taken everywhere, when two are one, and when they look it.

A new name is ASCII, the strictest level of Unicode's profiles for identifiers (UTS 39, 5.2
"ASCII-Only"): there is nothing in it to normalise, to hide, or to mix. Records of earlier harnesses
may have others, which are read and shown with escapes.
"""

import re
import unicodedata
from collections.abc import Iterable
from hashlib import sha256

from harness.text.plain import hidden, plain

LONGEST = 64
"""Characters of a name at most."""

PATTERN = rf"[A-Za-z0-9][A-Za-z0-9._+-]{{0,{LONGEST - 1}}}"
"""A name as a regular expression; safe as a file's, too."""

IN_WORDS = f"letters, digits and . _ + -, at most {LONGEST}, the first a letter or digit"
"""The same for people."""

_NAME = re.compile(PATTERN)

_PROTOTYPES = str.maketrans({"0": "o", "O": "o", "1": "l", "I": "l", "m": "rn"})
"""ASCII that looks like other ASCII, by Unicode's ``confusables.txt`` (UTS 39, 4)."""


def is_name(text: str) -> bool:
    """Whether ``text`` is a name as new records may have it."""
    return _NAME.fullmatch(text) is not None


def fit_name(text: str) -> str:
    """A name made of what others call something: ``vendor/some model`` → ``vendor-some-model``.

    Empty where nothing is left. What is too long ends in a mark of the whole.
    """
    name = re.sub(r"[^A-Za-z0-9._+-]+", "-", text).strip("-._+")
    if len(name) <= LONGEST:
        return name
    mark = sha256(name.encode()).hexdigest()[:6]
    return f"{name[: LONGEST - len(mark) - 1]}-{mark}"


def key(name: str) -> str:
    """What all spellings of one name have in common: two names are one if these are equal.

    Letter case and compatibility forms (NFKC), hidden characters and surrounding blanks make no
    other name.
    """
    if _NAME.fullmatch(name):
        return name.lower()
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    return "".join(letter for letter in folded if not hidden(letter)).strip()


def shown(name: str, limit: int = LONGEST) -> str:
    r"""``name`` fit to show; letters that are not ASCII, which may look like others, as escapes."""
    return plain(name if name.isascii() else ascii(name)[1:-1], limit)


def lookalike(name: str, known: Iterable[str]) -> str | None:
    """One of the ``known`` names that another than ``name`` could be taken for; None if none."""
    own, looks = key(name), _looks(name)
    return next((each for each in known if key(each) != own and looks & _looks(each)), None)


def _looks(name: str) -> frozenset[str]:
    """How ``name`` looks, as it is written and in small letters."""
    spellings = (name, name.casefold())
    return frozenset(each.translate(_PROTOTYPES).casefold() for each in spellings)
