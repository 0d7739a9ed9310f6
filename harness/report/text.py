r"""Untrusted text made fit to show: compiler logs, a submission's output, authors, file names.

What comes out holds nothing that a terminal or a reader's eye interprets: terminal escape
sequences are dropped, every other control, invisible or direction-changing character is shown as
its Python escape (``\x07``, ``\u202e``). Nor does it hold what a CI system would take for a command
in a log (``::error::``, ``##[group]``, ``##vso[…]``): one character of that is shown as an escape,
wherever it stands, for lines are wrapped. Not covered: letters that look like others, and stacks of
combining marks. Rich's markup is no concern of this module: whoever prints wraps the text in
:class:`rich.text.Text`, which reads no markup.
"""

import json
import re
import unicodedata

# Colours and the like (CSI), and strings such as hyperlinks and titles (OSC), as compilers print
# them. Bounded and without newlines, so that an unfinished one cannot swallow a log.
_SEQUENCE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]{0,64}[ -/]{0,8}[@-~]"
    r"|(?:\x1b\]|\x9d)[^\x00-\x1f\x7f-\x9f]{0,2048}(?:\x07|\x1b\\|\x9c)"
)

_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cn", "Cs", "Zl", "Zp"})
_HIDDEN_LETTERS = frozenset("\u115f\u1160\u3164\uffa0\u2800\u034f")  # blank, though not spaces
_TAB = 8

# The names are GitHub's: `::` alone is C++. The others are read anywhere in a line, GitHub's older
# ones, too.
_CI_COMMAND = re.compile(
    r":(?=:(?:add-mask|add-matcher|add-path|debug|echo|endgroup|error|group|notice|remove-matcher"
    r"|save-state|set-env|set-output|stop-commands|warning|internal-[\w-]*)(?![\w-]))"
    r"|#(?=#(?:\[|vso\[|teamcity\[))",
    re.IGNORECASE,
)


def plain(text: str, limit: int | None = None) -> str:
    """``text`` on one line: newlines and tabs are shown as escapes too.

    Args:
        text: anything.
        limit: most characters to return, at least 1; what is cut off is marked by ``…``.
    """
    return _cut(_visible(_head(text, limit)), limit)


def plain_lines(text: str, limit: int | None = None) -> str:
    """``text`` with its line breaks, tabs expanded; ``limit`` as for :func:`plain`."""
    lines = _head(text, limit).replace("\r\n", "\n").split("\n")
    shown = "\n".join(_visible(_SEQUENCE.sub("", line).expandtabs(_TAB)) for line in lines)
    return _cut(shown, limit)


def json_text(text: str) -> str:
    r"""JSON that says the same with nothing in it that a terminal or a CI system interprets.

    Hidden characters, which only strings can hold, become JSON's escapes (``\u202e``); other
    letters stay as they are.
    """
    shown = "".join(_in_json(c) if c != "\n" and _is_hidden(c) else c for c in text)
    return _CI_COMMAND.sub(lambda command: _in_json(command[0]), shown)


def head(text: str, lines: int, width: int = 400) -> str:
    """The first ``lines`` lines, each cut to ``width``, and how many were left out."""
    return _excerpt(text, lines, width, last=False)


def tail(text: str, lines: int, width: int = 400) -> str:
    """The last ``lines`` lines, each cut to ``width``, and how many were left out."""
    return _excerpt(text, lines, width, last=True)


def _excerpt(text: str, count: int, width: int, *, last: bool) -> str:
    lines = text.replace("\r\n", "\n").strip("\n").split("\n")
    left_out = len(lines) - count
    chosen = lines[-count:] if last else lines[:count]
    shown = [plain_lines(line, width) for line in chosen]
    if left_out > 0:
        note = (
            f"… {left_out} {'earlier' if last else 'more'} {'line' if left_out == 1 else 'lines'}"
        )
        shown = [note, *shown] if last else [*shown, note]
    return "\n".join(shown)


def _head(text: str, limit: int | None) -> str:
    # Megabytes need not be looked at to show a line. Sequences that are dropped take some room.
    return text if limit is None else text[: 8 * limit + 4096]


def _visible(text: str) -> str:
    if text.isascii() and text.isprintable() and ":" not in text and "#" not in text:
        return text  # most is like this, and a site has much of it
    shown = "".join(_escaped(c) if _is_hidden(c) else c for c in _SEQUENCE.sub("", text))
    return _CI_COMMAND.sub(lambda command: f"\\x{ord(command[0]):02x}", shown)


def _is_hidden(character: str) -> bool:
    return unicodedata.category(character) in _HIDDEN_CATEGORIES or character in _HIDDEN_LETTERS


def _escaped(character: str) -> str:
    return character.encode("unicode_escape", "backslashreplace").decode("ascii")


def _in_json(character: str) -> str:
    return json.dumps(character)[1:-1] if not character.isascii() else f"\\u{ord(character):04x}"


def _cut(text: str, limit: int | None) -> str:
    if limit is None or len(text) <= limit:
        return text
    return text[: limit - 1] + "…"
