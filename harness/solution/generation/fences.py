"""Fences as models write them: lines of backticks or tildes around code, with their faults.

Beyond CommonMark, a fence may be indented by anything and follow other words on its line; a second
opening fence as long as the first ends a block that was not closed; a closing fence may stand at
the end of a line of code.
"""

import re
from dataclasses import dataclass

from harness.solution.generation.code import NAMES

_TOO_DEEP = 4
"""A fence so many columns to the right of the opening one is content: CommonMark's rule."""

_FENCE = re.compile(r"(`{3,}|~{3,})")
_KNOWN = {"h", "hpp"}.union(*NAMES.values())
"""Words that name a language after a fence in the middle of a line."""


@dataclass(frozen=True, slots=True)
class Fence:
    """An opening fence: its character, length, indentation, and words."""

    mark: str
    length: int
    indent: str
    info: str


def opening(line: str) -> Fence | None:
    """The fence that ``line`` opens, if it does."""
    found = _FENCE.search(line)
    if found is None:
        return None
    before, info, mark = line[: found.start()], line[found.end() :].strip(), found[1][0]
    words = before.strip(" \t")
    if mark in info or (words and (mark == "~" or info.lower() not in _KNOWN)):
        return None
    return Fence(mark, len(found[1]), "" if words else before, info)


def closing(line: str, fence: Fence) -> int | None:
    """The offset in ``line`` before which the block of ``fence`` ends; None if it does not."""
    bare = line.rstrip()
    rest = bare.rstrip(fence.mark)
    if len(bare) - len(rest) < fence.length:
        return None
    # Content: part of a comment, say, that shows how to call something.
    deep = not rest.strip() and _width(rest) >= _width(fence.indent) + _TOO_DEEP
    return None if deep else len(rest)


def interrupts(line: str, fence: Fence) -> Fence | None:
    """The fence that ``line`` opens although that of the block it is in was never closed."""
    other = opening(line)
    if other is None or other.mark != fence.mark or other.length < fence.length:
        return None
    leads = line.startswith(other.indent + other.mark * other.length)
    beside = leads and _width(other.indent) < _width(fence.indent) + _TOO_DEEP
    return other if other.info and beside else None


def _width(indent: str) -> int:
    return len(indent.expandtabs(_TOO_DEEP))


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
            elif closing(line, self._open) is not None:
                self._open = None
            else:
                self._open = interrupts(line, self._open) or self._open
            self._line = self._seen = stop + 1
