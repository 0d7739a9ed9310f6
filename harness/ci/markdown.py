"""Untrusted text in Markdown as GitHub shows it: always as code, where nothing is interpreted.

In code there are no links, no mentions, no references to issues, no HTML, no emoji and no
mathematics. What could end the code is written as an escape, or fenced by more of the same.
"""

import re

from harness.text.plain import plain, plain_lines

_TICKS = re.compile(r"`+")


def code(text: str, limit: int = 200) -> str:
    r"""``text`` in one line of code, for prose and for cells of tables; nothing if it is empty.

    Backticks and bars, which would end the code or the cell, are shown as ``\x60`` and ``\x7c``.
    """
    shown = plain(text, limit).strip().replace("`", r"\x60").replace("|", r"\x7c")
    return f"`{shown}`" if shown else ""


def block(text: str, limit: int = 4000) -> str:
    """``text`` as a fenced block, with a fence that is longer than any in it."""
    shown = plain_lines(text, limit).strip("\n")
    longest = max((len(run) for run in _TICKS.findall(shown)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{shown}\n{fence}\n"
