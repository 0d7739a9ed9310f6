"""Fences as models write them: lines of backticks or tildes around code, with their faults.

Beyond CommonMark, a fence may be indented by anything and follow other words on its line; a second
opening fence as long as the first ends a block that was not closed; a closing fence may stand at
the end of a line of code.
"""

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from harness.solution.generation.code import NAMES

_TOO_DEEP = 4
"""A fence so many columns to the right of the opening one is content: CommonMark's rule."""

_SHORTEST = 3
_SHORT = 80
"""Characters of a line that is kept in memory for the next that is the same."""
_NONE: tuple[list[int], list[int]] = ([], [])
_FENCE = re.compile(r"(`{3,}|~{3,})")
_KNOWN = {"h", "hpp"}.union(*NAMES.values())
"""Words that name a language after a fence in the middle of a line."""


class Fence(NamedTuple):
    """An opening fence: its character, length, indentation, its width in columns, and words."""

    mark: str
    length: int
    indent: str
    width: int
    info: str


class Line(NamedTuple):
    """What the fences of a line may do: open a block at its start, close one at its end."""

    opens: Fence | None
    interrupts: bool
    """Whether it may open one in the place of another: it has words, and none in front."""
    mark: str
    """The last character; there are ``length`` of it, after what ends at offset ``stop``."""
    length: int
    stop: int
    width: float
    """Of what is before them, if that is white space alone; else less than any."""


def read(line: str) -> Line:
    """The fences of ``line``."""
    return _read(line) if len(line) <= _SHORT else _read.__wrapped__(line)


@lru_cache(maxsize=256)  # most fences are like others
def _read(line: str) -> Line:
    bare = line.rstrip()
    mark = bare[-1:]
    rest = bare.rstrip(mark)
    stop = len(rest)
    opens = opening(line)
    interrupts = opens is not None and opens.info != "" and _leads(line, opens)
    width = -math.inf if rest and not rest.isspace() else _width(rest)
    return Line(opens, interrupts, mark, len(bare) - stop, stop, width)


def opening(line: str) -> Fence | None:
    """The fence that ``line`` opens, if it does."""
    found = _FENCE.search(line)
    if found is None:
        return None
    start, end = found.span()
    before, info, mark = line[:start], line[end:].strip(), line[start]
    words = before.strip(" \t")
    if mark in info or (words and (mark == "~" or info.lower() not in _KNOWN)):
        return None
    indent = "" if words else before
    return Fence(mark, end - start, indent, _width(indent), info)


def lines(text: str, start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Where the lines of a part begin and end that have a fence; the others change nothing."""
    while (found := _FENCE.search(text, start, stop)) is not None:
        first = max(start, text.rfind("\n", start, found.start()) + 1)
        newline = text.find("\n", found.end(), stop)
        last = stop if newline < 0 else newline
        yield first, last
        start = last + 1


def closes(line: Line, fence: Fence) -> bool:
    """Whether the block of ``fence`` ends before offset ``line.stop``."""
    # Not further to the right: part of a comment, say, that shows how to call something.
    return (
        line.length >= fence.length
        and line.mark == fence.mark
        and line.width < fence.width + _TOO_DEEP
    )


def interrupts(line: Line, fence: Fence) -> bool:
    """Whether ``line`` opens a fence although that of the block it is in was never closed."""
    other = line.opens
    return (
        line.interrupts
        and other is not None
        and other.mark == fence.mark
        and other.length >= fence.length
        and other.width < fence.width + _TOO_DEEP
    )


def _leads(line: str, fence: Fence) -> bool:
    """Whether nothing but white space is before ``fence`` on its line."""
    return line.startswith(fence.indent + fence.mark * fence.length)


def _width(indent: str) -> int:
    return len(indent.expandtabs(_TOO_DEEP)) if indent else 0


class End(NamedTuple):
    """A line ends the fence ``depth`` of a nest; ``by`` is what it opens instead, or None."""

    depth: int
    by: Fence | None


class Nest:
    """Fences that wrap Markdown, each open in the one before; tells which of them a line ends.

    In time of the line's length, however many are open: of fences of one length, each is further
    to the right than the one that it is in, since it would have ended that one otherwise.
    """

    def __init__(self) -> None:
        self._open: list[Fence] = []
        self._alike: dict[tuple[str, int], tuple[list[int], list[int]]] = {}
        """Depths and widths of the open ones, by mark and length."""

    def open(self, fence: Fence) -> None:
        """``fence`` begins in the innermost one."""
        depths, widths = self._alike.setdefault((fence.mark, fence.length), ([], []))
        depths.append(len(self._open))
        widths.append(fence.width)
        self._open.append(fence)

    def cut(self, depth: int) -> None:
        """The fence ``depth`` ends, and all that are in it."""
        while len(self._open) > depth:
            fence = self._open.pop()
            for each in self._alike[fence.mark, fence.length]:
                each.pop()

    def end(self, line: Line, begin: int = 0) -> End | None:
        """The outermost fence, from depth ``begin`` on, that ``line`` closes or interrupts."""
        if begin >= len(self._open):
            return None
        closed = self._first(line.mark, line.length, line.width, begin)
        other = line.opens
        if line.interrupts and other is not None:
            interrupted = self._first(other.mark, other.length, other.width, begin)
            if interrupted is not None and (closed is None or interrupted < closed):
                return End(interrupted, other)
        return None if closed is None else End(closed, None)

    def _first(self, mark: str, length: int, width: float, begin: int) -> int | None:
        """The outermost fence from ``begin`` on that a ``mark`` of this length and width ends."""
        first: int | None = None
        for shorter in range(_SHORTEST, length + 1):
            depths, widths = self._alike.get((mark, shorter), _NONE)
            place = bisect_right(widths, width - _TOO_DEEP)
            if begin:
                place = max(place, bisect_left(depths, begin))
            if place < len(depths) and (first is None or depths[place] < first):
                first = depths[place]
        return first


class Tracker:
    """Says for ascending offsets of a text whether they are inside a fenced block."""

    def __init__(self, text: str, start: int) -> None:
        self._text = text
        self._line = start
        self._seen = start
        self._open: Fence | None = None

    def inside_at(self, position: int) -> bool:
        """Whether the line of ``position`` is one of a block; fences themselves are not."""
        while True:
            stop = self._text.find("\n", self._seen, position)
            if stop < 0:
                self._seen = position
                return self._open is not None
            line = self._text[self._line : stop]
            if self._open is None:
                self._open = opening(line)
            elif _FENCE.search(line):
                fences = read(line)
                if closes(fences, self._open):
                    self._open = None
                elif interrupts(fences, self._open):
                    self._open = fences.opens
            self._line = self._seen = stop + 1
