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
_END_TOKENS = re.compile(r"(?:\s*(?:<[|｜][\w▁]{1,40}[|｜]>|</s>))+\s*\Z")
"""Marks of the end of an output that some dumps keep."""

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
    tail = text[max(span.start, span.stop - 200) : span.stop]
    tokens = _END_TOKENS.search(tail)
    return span.stop - len(tokens[0]) if tokens else span.stop


def _fenced(text: str, span: Span) -> Iterator[Block]:
    """The fenced blocks of a part; one that is not closed goes on to its end."""
    opened: fences.Fence | None = None
    start = position = span.start
    while position < span.stop:
        newline = text.find("\n", position, span.stop)
        stop = span.stop if newline < 0 else newline
        line, following = text[position:stop], stop + 1
        if opened is None:
            opened, start = fences.opening(line), following
        elif (end := fences.closing(line, opened)) is not None:
            yield from _block(text, opened, Span(start, position + end), "fence")
            opened = None
        elif (other := fences.interrupts(line, opened)) is not None:
            yield from _block(text, opened, Span(start, position), "fence")
            opened, start = other, following
        position = following
    if opened is not None and start < span.stop:
        yield from _block(text, opened, Span(start, span.stop), "unclosed fence")


def _block(text: str, fence: fences.Fence, span: Span, kind: Found) -> Iterator[Block]:
    """The block itself, or those in it if it only wraps Markdown."""
    if fence.info.lower() in _WRAPPERS:
        yield from _fenced(text, span)
        return
    # Each line less the white space that its fence has in front, at most.
    indent = re.compile(rf"^[ \t]{{0,{len(fence.indent)}}}", re.MULTILINE)
    yield Block(kind, fence.info, span.start, indent.sub("", text[span.start : span.stop]))


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
