"""Cut a model's reasoning from its answer.

Nothing that is cut here is ever taken for code. Of two ways to read a dump the one with more
reasoning is taken.
"""

import re
from dataclasses import dataclass
from typing import NamedTuple

from harness.solution.generation import fences

_TAG = re.compile(
    r"<(?P<slash>/?)(?P<name>think(?:ing)?|reasoning|thoughts?|reflection|scratchpad)"
    r"(?:\s[^<>\n]{0,200})?>"
    r"|\[(?P<brackets>/?)THINK\]"
    r"|◁(?P<triangles>/?)think▷"
    r"|<\|(?P<of_thought>begin|end)_of_thought\|>"
    r"|<details\s[^<>\n]{0,200}type=\"reasoning\"[^<>\n]{0,200}>|(?P<details></details>)"
    r"|<\|channel\|>(?P<channel>analysis|commentary|final)\b[^<\n]{0,200}<\|message\|>"
    r"|(?P<harmony><\|end\|>|<\|return\|>)",
    re.IGNORECASE,
)
_OPENING = {"", "begin", "analysis", "commentary"}
"""What the group of an opening tag holds that has one."""
_CLOSES_OTHERS = {"details", "harmony"}
"""Kinds whose closing tags end other things, too."""


class Span(NamedTuple):
    """A stretch of the text, from offset ``start`` to before ``stop``."""

    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Cut:
    """The answer and the reasoning of a text, in order; ``closed`` unless reasoning never ends."""

    answer: tuple[Span, ...]
    reasoning: tuple[Span, ...]
    closed: bool

    def lines(self, text: str) -> int:
        """Lines of reasoning that are not empty."""
        lines = (line for part in self.reasoning for line in text[slice(*part)].split("\n"))
        return sum(1 for line in lines if line.strip())


def cut(text: str, start: int = 0) -> Cut:
    """Cut reasoning out of ``text`` from offset ``start`` on.

    It goes from an opening tag to the next closing one of its kind, or to the end. A closing tag
    that was never opened ends reasoning that began in the prompt: all before it is reasoning. Tags
    inside a fenced block of the answer are code, but for a closing one at the start of a line.
    """
    answer: list[Span] = []
    reasoning: list[Span] = []
    opened: tuple[int, str] | None = None  # offset and family of the tag
    inner: set[str] = set()
    position = start
    fence = fences.Tracker(text, start)
    for tag in _TAG.finditer(text, start):
        family, opens = _kind(tag)
        if opened is not None:
            if family == opened[1] and not opens:
                reasoning.append(Span(opened[0], tag.end()))
                opened, position = None, tag.end()
                fence = fences.Tracker(text, position)
            elif opens:
                inner.add(family)
            elif family not in inner | _CLOSES_OTHERS and opened[0] > start:
                # It ends reasoning that began in the prompt: all before is reasoning, too.
                answer.clear()
                reasoning = [Span(start, opened[0])]
            continue
        inside = fence.inside_at(tag.start())
        if opens:
            if not inside and text[max(tag.start() - 1, start) : tag.start()] != "`":
                answer.append(Span(position, tag.start()))
                opened = tag.start(), family
                inner.clear()
        elif family not in _CLOSES_OTHERS and (not inside or _leads_its_line(text, tag.start())):
            answer.clear()
            reasoning = [Span(start, tag.end())]
            position = tag.end()
            fence = fences.Tracker(text, position)
    if opened is None:
        answer.append(Span(position, len(text)))
    else:
        reasoning.append(Span(opened[0], len(text)))
    return Cut(tuple(answer), tuple(reasoning), opened is None)


def _kind(tag: re.Match[str]) -> tuple[str, bool]:
    """The family of a tag, and whether it opens."""
    if tag["name"] is not None:
        # Thinking and thoughts are the same as think and thought.
        return tag["name"].lower().removesuffix("ing").removesuffix("s"), not tag["slash"]
    if tag.lastgroup is None:
        return "details", True
    family = "harmony" if tag.lastgroup == "channel" else tag.lastgroup
    return family, tag[tag.lastgroup].lower() in _OPENING


def _leads_its_line(text: str, position: int) -> bool:
    line = text.rfind("\n", max(0, position - 80), position) + 1
    return text[line:position].strip() == "" and (line > 0 or position < 80)
