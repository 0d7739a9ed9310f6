r"""Text of those who are ranked, with nothing hidden in it and nothing that a log interprets.

The same rules as in ``harness/report/text.py``, which this package does not know; a test holds
them together.
"""

import re
import unicodedata

_HIDDEN = frozenset({"Cc", "Cf", "Cn", "Cs", "Zl", "Zp"})
_HIDDEN_LETTERS = frozenset("\u115f\u1160\u3164\uffa0\u2800\u034f")  # blank, though not spaces
_CI_COMMAND = re.compile(
    r":(?=:(?:add-mask|add-matcher|add-path|debug|echo|endgroup|error|group|notice|remove-matcher"
    r"|save-state|set-env|set-output|stop-commands|warning|internal-[\w-]*)(?![\w-]))"
    r"|#(?=#(?:\[|vso\[|teamcity\[))",
    re.IGNORECASE,
)


def visible(text: str) -> str:
    r"""``text`` with escapes (``\x1b``, ``\u202e``) for what would be hidden or interpreted."""
    if text.isascii() and text.isprintable() and ":" not in text and "#" not in text:
        return text  # most is like this, and boards have much of it
    shown = "".join(escaped(c) if _is_hidden(c) else c for c in text)
    return _CI_COMMAND.sub(lambda command: f"\\x{ord(command[0]):02x}", shown)


def escaped(character: str) -> str:
    """One character as Python writes it where it cannot be shown."""
    return character.encode("unicode_escape", "backslashreplace").decode("ascii")


def _is_hidden(character: str) -> bool:
    return unicodedata.category(character) in _HIDDEN or character in _HIDDEN_LETTERS
