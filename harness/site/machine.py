"""The machine code of an entry beside its source: two panes, with links from one to the other."""

from collections.abc import Iterator
from typing import NamedTuple

from markupsafe import Markup

from harness.languages.build.machine_code import MachineCode
from harness.text.plain import plain, plain_lines

ROOM = 60_000
"""Bytes of a page that the machine code may take."""
SOURCE_ROOM = 40_000
"""Bytes that the source may take."""
_DIGITS = 4
_LONGEST = 400
"""Characters of a line."""


class Panes(NamedTuple):
    """What the page shows."""

    source: Markup
    """Its lines with their numbers; those that became instructions lead to the first of them."""
    kernels: tuple[tuple[str, Markup], ...]
    """The name of each kernel with its instructions; each leads to the line that it comes from."""
    instructions: int
    """How many instructions are shown."""
    whole: bool
    """Whether these are all."""


def panes(code: MachineCode, source: str) -> Panes:
    """The panes of ``code`` and of the file's text, which its lines are those of."""
    lines = [plain(each, _LONGEST) for each in plain_lines(source).split("\n")]
    number, room, whole = 0, ROOM, code.whole
    first: dict[int, int] = {}
    kernels: list[tuple[str, Markup]] = []
    shown = _fitting(lines)
    for kernel in code.kernels:
        parts: list[Markup] = []
        for each in kernel.instructions:
            row = _row(number, each.address, plain(each.text, _LONGEST), each.line, shown)
            if (room := room - len(row.encode())) < 0:
                break
            parts.append(row)
            if each.address:
                first.setdefault(each.line, number)
                number += 1
        if parts:
            kernels.append((kernel.name, Markup("").join(parts)))
        if room < 0:
            whole = False
            break
    numbered = Markup("").join(_source(lines[:shown], first))
    return Panes(numbered, tuple(kernels), number, whole)


def _fitting(lines: list[str]) -> int:
    """How many of ``lines`` fit into the pane of the source."""
    room = SOURCE_ROOM
    for count, line in enumerate(lines):
        room -= len(Markup.escape(line).encode()) + 50
        if room < 0:
            return count
    return len(lines)


def _row(number: int, address: str, text: str, line: int, shown: int) -> Markup:
    if not address:
        return Markup("{}:\n").format(text)
    if 0 < line <= shown:
        link = _numbered('<a id="i{}" href="#L{}">{}</a>', number, line, line)
    else:
        link = Markup('<span id="i{}">    </span>').format(number)
    return Markup("{} {}  {}\n").format(link, address, text)


def _source(lines: list[str], first: dict[int, int]) -> Iterator[Markup]:
    for number, line in enumerate(lines, start=1):
        at = first.get(number)
        if at is None:
            link = _numbered('<span id="L{}">{}</span>', number, number)
        else:
            link = _numbered('<a id="L{}" href="#i{}">{}</a>', number, at, number)
        yield Markup("{} {}\n").format(link, line)


def _numbered(markup: str, *numbers: int) -> Markup:
    """``markup`` filled in; the last number, which is shown, ends in the fourth column."""
    blanks = " " * (_DIGITS - len(str(numbers[-1])))
    return Markup(blanks + markup).format(*numbers)  # noqa: S704 - ours
