"""Blocks of an answer that may be code (fenced, tagged, bare), and the choice of one of them."""

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness.records.refs import Found
from harness.solution.generation import fences
from harness.solution.generation.code import bare_code, defines_entry, suffix_of
from harness.solution.generation.reasoning import Span

_TAG = re.compile(r"<(/?)(code|answer|solution)\b[^<>\n]{0,200}>", re.IGNORECASE)
_ENTITY = re.compile(r"&(?:lt|gt|amp|quot|#39);")
_END_TOKEN = re.compile(r"(?:<[|｜][\w▁]{1,40}[|｜]>|</s>)\Z")
"""A mark of the end of an output, as some dumps keep them, several at times."""

_WRAPPERS = ("markdown", "md")

_ORDER: tuple[Found, ...] = ("fence", "unclosed fence", "tag", "bare")
"""Of blocks that are equally good the first kind goes first: it marks code most clearly."""


@dataclass(frozen=True, slots=True)
class Block:
    """Code at offset ``start``, less its indentation; ``info``: words on its fence, ``python``."""

    kind: Found
    info: str
    start: int
    text: str


def find(text: str, answer: Sequence[Span]) -> list[Block]:
    """The blocks of ``text`` within the parts ``answer``, each kind in the order of the text."""
    found: list[Block] = []
    parts = [Span(span.start, _end(text, span)) for span in answer]
    for way in (_fenced, _tagged, _bare):
        for part in parts:
            found += [block for block in way(text, part) if block.text.strip()]
    return found


def choose(found: Sequence[Block]) -> tuple[Block, str] | None:
    """The last block that defines an entry point, or is code at all, and its language's suffix."""
    coded = [(block, suffix) for block in found if (suffix := suffix_of(block.text, block.info))]
    entering = [(block, suffix) for block, suffix in coded if defines_entry(block.text, suffix)]
    last_first = reversed(entering or coded)
    return min(last_first, key=lambda each: _ORDER.index(each[0].kind), default=None)


def _end(text: str, span: Span) -> int:
    """The end of a part, less the tokens that mark the end of an output."""
    stop = span.stop
    start = max(span.start, stop - 200)
    tail = text[start:stop].rstrip()
    while (token := _END_TOKEN.search(tail)) is not None:
        tail = tail[: token.start()].rstrip()
        stop = start + len(tail)
    return stop


def _fenced(text: str, span: Span) -> Iterator[Block]:
    """The fenced blocks of a part, also those in fences that only wrap Markdown.

    One that is not closed goes on to the end of what it is in.
    """
    wrappers = fences.Nest()
    opened: _Open | None = None
    for start, stop in fences.lines(text, span.start, span.stop):
        line = fences.read(text[start:stop])
        if (end := wrappers.end(line)) is not None:
            if opened is not None:
                last = text[start:stop]
                yield opened.block(text, start, *_last(last, end, wrappers, opened.fence))
            wrappers.cut(end.depth)
            other = end.by
        elif opened is None:
            other = line.opens
        elif fences.closes(line, opened.fence):
            yield opened.block(text, start, line.stop, "fence")
            other = None
        elif fences.interrupts(line, opened.fence):
            yield opened.block(text, start, 0, "fence")
            other = line.opens
        else:
            continue
        opened = None
        if other is not None and other.info.lower() in _WRAPPERS:
            wrappers.open(other)
        elif other is not None:
            opened = _Open(other, stop + 1)
    if opened is not None:
        yield opened.block(text, span.stop, 0, "unclosed fence")


@dataclass(frozen=True, slots=True)
class _Open:
    """A fence whose block begins at offset ``start``."""

    fence: fences.Fence
    start: int

    def block(self, text: str, line: int, offset: int, kind: Found) -> Block:
        """The block up to ``offset`` of the line at ``line``.

        Each of its lines is less the white space that the fence has in front, at most.
        """
        code = text[self.start : line + offset]
        if self.fence.indent:
            indent = rf"^[ \t]{{0,{len(self.fence.indent)}}}"
            code = re.sub(indent, "", code, flags=re.MULTILINE)
        return Block(kind, self.fence.info, self.start, code)


def _last(
    text: str, end: fences.End | None, wrappers: fences.Nest, fence: fences.Fence
) -> tuple[int, Found]:
    """Where in a line, which ends a wrapper, the block of ``fence`` in it ends, and as what."""
    line = fences.read(text)
    while end is not None:
        if end.by is not None:
            return 0, "unclosed fence"
        # What closes a wrapper is no part of what is in it, the next wrapper for one.
        text = text[: line.stop]
        line = fences.read(text)
        end = wrappers.end(line, end.depth + 1)
    if fences.closes(line, fence):
        return line.stop, "fence"
    return (0, "fence") if fences.interrupts(line, fence) else (len(text), "unclosed fence")


def _tagged(text: str, span: Span) -> Iterator[Block]:
    """The text between tags; a tag that is not closed goes on to the end of the part."""
    opened: re.Match[str] | None = None
    for tag in _TAG.finditer(text, span.start, span.stop):
        if opened is None and not tag[1]:
            opened = tag
        elif opened is not None and tag[1] and tag[2].lower() == opened[2].lower():
            yield from _inside(text, opened, tag.start())
            opened = None
    if opened is not None:
        yield from _inside(text, opened, span.stop)


def _inside(text: str, tag: re.Match[str], stop: int) -> Iterator[Block]:
    start = tag.end() + (1 if text.startswith("\n", tag.end()) else 0)
    code = text[start:stop]
    if any(fences.opening(line) for line in code.split("\n")):
        return  # the fenced blocks in it are what is meant
    if "<" not in code and _ENTITY.search(code):
        code = html.unescape(code)
    language = re.search(r"language-([\w+-]+)", tag[0])
    yield Block("tag", language[1] if language else "", start, code)


def _bare(text: str, span: Span) -> Iterator[Block]:
    if found := bare_code(text[span.start : span.stop]):
        yield Block("bare", "", span.start + found[0], found[1])
