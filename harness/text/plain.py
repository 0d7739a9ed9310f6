r"""Untrusted text made fit to show: compiler logs, a submission's output, authors, file names.

What comes out holds nothing that a terminal or a reader's eye interprets: terminal escape
sequences are dropped, every other control, invisible or direction-changing character is shown as
its Python escape (``\x07``, ``\u202e``). Nor does it hold what a CI system would take for a command
in a log (``::error::``, ``##[group]``, ``##vso[…]``): one character of that is shown as an escape,
wherever it stands, for lines are wrapped. Not covered: letters that look like others, and stacks of
combining marks. Rich's markup is no concern of this module: text is printed in
:class:`rich.text.Text`, which reads no markup.
"""

import json
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

# Colours and the like (CSI), and strings such as hyperlinks and titles (OSC), as compilers print
# them. Bounded and without newlines, so that an unfinished one cannot swallow a log.
_SEQUENCE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]{0,64}[ -/]{0,8}[@-~]"
    r"|(?:\x1b\]|\x9d)[^\x00-\x1f\x7f-\x9f]{0,2048}(?:\x07|\x1b\\|\x9c)"
)

_TAB = 8
_MAX_PRINTABLE = 80


def visible(text: str) -> str:
    r"""``text`` with escapes (``\x1b``, ``\u202e``) for what would be hidden or interpreted."""
    # Most text has nothing to hide, and boards and a site have much of it. Of what is hidden only
    # some letters are printable in Python's sense.
    if not (text.isprintable() and (text.isascii() or _HIDDEN_LETTERS.isdisjoint(text))):
        text = "".join(ascii(c)[1:-1] if hidden(c) else c for c in text)
    if ":" not in text and "#" not in text:
        return text
    return _without_commands(text, lambda character: f"\\x{ord(character):02x}")


def plain(text: str, limit: int | None = None) -> str:
    """``text`` on one line: newlines and tabs are shown as escapes too.

    Args:
        text: anything.
        limit: most characters to return, at least 1; what is cut off is marked by ``…``.
    """
    if limit is None and text.isprintable():  # a site has millions of them
        return visible(text)
    shown = _SEQUENCE.sub("", _head(text, limit))
    return _cut(visible(shown), limit)


def plain_lines(text: str, limit: int | None = None) -> str:
    """``text`` with its line breaks, tabs expanded; ``limit`` as for :func:`plain`."""
    lines = _head(text, limit).replace("\r\n", "\n").split("\n")
    shown = "\n".join(visible(_SEQUENCE.sub("", line).expandtabs(_TAB)) for line in lines)
    return _cut(shown, limit)


def printable(text: str) -> str:
    """The first :data:`_MAX_PRINTABLE` characters, all visible: a name or value in a message."""
    return visible(text[:_MAX_PRINTABLE]) + ("…" if len(text) > _MAX_PRINTABLE else "")


def json_text(text: str) -> str:
    r"""JSON that says the same with nothing in it that a terminal or a CI system interprets.

    Hidden characters, which only strings can hold, become JSON's escapes (``\u202e``); other
    letters stay as they are.
    """
    shown = text
    if not (text.isascii() and text.isprintable()):
        shown = "".join(_in_json(c) if c != "\n" and hidden(c) else c for c in text)
    return _without_commands(shown, _in_json)


def head(text: str, lines: int, width: int = 400) -> str:
    """The first ``lines`` lines, each cut to ``width``, and how many were left out."""
    every = _lines(text)
    shown = [plain_lines(line, width) for line in every[:lines]]
    return "\n".join([*shown, *_left_out(len(every) - lines, "more")])


def tail(text: str, lines: int, width: int = 400) -> str:
    """The last ``lines`` lines, each cut to ``width``, and how many were left out."""
    every = _lines(text)
    shown = [plain_lines(line, width) for line in every[-lines:]]
    return "\n".join([*_left_out(len(every) - lines, "earlier"), *shown])


def _lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").strip("\n").split("\n")


def _left_out(count: int, which: str) -> list[str]:
    return [f"… {count} {which} {'line' if count == 1 else 'lines'}"] if count > 0 else []


def quoted(text: str, limit: int = 100) -> str:
    """``text`` as a Python literal in ASCII, cut to ``limit`` characters."""
    return ascii(text if len(text) <= limit else text[:limit] + "...")


def hidden(character: str) -> bool:
    """Whether a reader would not see ``character``, or see what follows it in another way."""
    return unicodedata.category(character) in _HIDDEN or character in _HIDDEN_LETTERS


def _without_commands(text: str, escape: Callable[[str], str]) -> str:
    """``text`` with one character of each command of a CI system written by ``escape``."""
    return _CI_COMMAND.sub(lambda command: escape(command[0]), text)


def _head(text: str, limit: int | None) -> str:
    # Megabytes need not be looked at to show a line. Sequences that are dropped take some room.
    return text if limit is None else text[: 8 * limit + 4096]


def _in_json(character: str) -> str:
    return json.dumps(character)[1:-1] if not character.isascii() else f"\\u{ord(character):04x}"


def _cut(text: str, limit: int | None) -> str:
    if limit is None or len(text) <= limit:
        return text
    return text[: limit - 1] + "…"
