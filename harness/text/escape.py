r"""What of a text would be hidden or interpreted, and how to write it so that it is neither.

Hidden are control characters, invisible ones and those that change direction; a log of a CI system
interprets commands (``::error::``, ``##[group]``, ``##vso[…]``), wherever they stand, for lines are
wrapped: one character of a command is written as an escape. Shared by what is printed
(:mod:`harness.text.plain`) and by what is exported (:mod:`leaderboard.csvfile`).
"""

import re
import unicodedata
from collections.abc import Callable

_HIDDEN = frozenset({"Cc", "Cf", "Cn", "Cs", "Zl", "Zp"})
_HIDDEN_LETTERS = frozenset("\u115f\u1160\u3164\uffa0\u2800\u034f")  # blank, though not spaces

# The names are GitHub's: `::` alone is C++. The others are read anywhere in a line, GitHub's older
# ones, too.
_CI_COMMAND = re.compile(
    r":(?=:(?:add-mask|add-matcher|add-path|debug|echo|endgroup|error|group|notice|remove-matcher"
    r"|save-state|set-env|set-output|stop-commands|warning|internal-[\w-]*)(?![\w-]))"
    r"|#(?=#(?:\[|vso\[|teamcity\[))",
    re.IGNORECASE,
)


def visible(text: str) -> str:
    r"""``text`` with escapes (``\x1b``, ``\u202e``) for what would be hidden or interpreted."""
    # Most text has nothing to hide, and boards and a site have much of it. Of what is hidden only
    # some letters are printable in Python's sense.
    if not (text.isprintable() and (text.isascii() or _HIDDEN_LETTERS.isdisjoint(text))):
        text = "".join(escaped(c) if is_hidden(c) else c for c in text)
    if ":" not in text and "#" not in text:
        return text
    return without_commands(text, lambda character: f"\\x{ord(character):02x}")


def is_hidden(character: str) -> bool:
    """Whether a reader would not see ``character``, or see what follows it in another way."""
    return unicodedata.category(character) in _HIDDEN or character in _HIDDEN_LETTERS


def escaped(character: str) -> str:
    """One character as Python writes it where it cannot be shown."""
    return character.encode("unicode_escape", "backslashreplace").decode("ascii")


def without_commands(text: str, escape: Callable[[str], str]) -> str:
    """``text`` with one character of each command of a CI system written by ``escape``."""
    return _CI_COMMAND.sub(lambda command: escape(command[0]), text)


def quoted(text: str, limit: int = 100) -> str:
    """``text`` as a Python literal in ASCII, cut to ``limit`` characters."""
    return ascii(text if len(text) <= limit else text[:limit] + "...")
