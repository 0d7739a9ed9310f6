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

from harness.text.escape import is_hidden, visible, without_commands

# Colours and the like (CSI), and strings such as hyperlinks and titles (OSC), as compilers print
# them. Bounded and without newlines, so that an unfinished one cannot swallow a log.
_SEQUENCE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]{0,64}[ -/]{0,8}[@-~]"
    r"|(?:\x1b\]|\x9d)[^\x00-\x1f\x7f-\x9f]{0,2048}(?:\x07|\x1b\\|\x9c)"
)

_TAB = 8


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


def json_text(text: str) -> str:
    r"""JSON that says the same with nothing in it that a terminal or a CI system interprets.

    Hidden characters, which only strings can hold, become JSON's escapes (``\u202e``); other
    letters stay as they are.
    """
    shown = text
    if not (text.isascii() and text.isprintable()):
        shown = "".join(_in_json(c) if c != "\n" and is_hidden(c) else c for c in text)
    return without_commands(shown, _in_json)


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


def _in_json(character: str) -> str:
    return json.dumps(character)[1:-1] if not character.isascii() else f"\\u{ord(character):04x}"


def _cut(text: str, limit: int | None) -> str:
    if limit is None or len(text) <= limit:
        return text
    return text[: limit - 1] + "…"
