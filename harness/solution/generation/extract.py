"""The code in a generation.

:func:`extract` reads the header (:mod:`.header`), cuts reasoning (:mod:`.reasoning`), chooses one
of the blocks of the answer (:mod:`.blocks`), in time linear in the text's length, and never parses
or runs it. The rules: ``docs/how-to/generations.md``.
"""

from dataclasses import dataclass

from harness.records.refs import Generation
from harness.records.result import Reason
from harness.solution.generation import blocks, header, reasoning

_SAID = ("model", "problem", "sample", "finish", "tokens")
"""What names and keys may say as a header does."""


@dataclass(frozen=True, slots=True)
class Extracted:
    """The code of a generation, from line ``generation.line`` on, and its source file's suffix."""

    text: str
    suffix: str
    generation: Generation


@dataclass(frozen=True, slots=True)
class NoCode:
    """A generation without code, and why."""

    reason: Reason
    message: str
    generation: Generation


def extract(text: str, said: Generation | None = None) -> Extracted | NoCode:
    """The code in ``text``, the whole of a dump; ``said`` has what its header does not say."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    head, end = header.read_header(text)
    if said is not None:
        known = {name: getattr(head, name) or getattr(said, name) for name in _SAID}
        head = head.model_copy(update=known)
    cut = reasoning.cut(text, end)
    lines = {"reasoning_lines": cut.lines(text), "reasoning_closed": cut.closed}
    about = head.model_copy(update=lines)
    found = blocks.find(text, cut.answer)
    chosen = blocks.choose(found)
    if chosen is None:
        return _no_code(about)
    block, suffix = chosen
    alike = [each for each in found if each.kind == block.kind]
    place = {
        "found": block.kind,
        "info": block.info,
        "block": alike.index(block) + 1,
        "blocks": len(alike),
        "line": text.count("\n", 0, block.start) + 1,
    }
    return Extracted(block.text, suffix, about.model_copy(update=place))


def _no_code(generation: Generation) -> NoCode:
    causes = [] if generation.reasoning_closed else ["its reasoning is never closed"]
    if header.truncated(generation):
        tokens = generation.tokens
        causes.append(
            "it was cut off" if tokens is None else f"it was cut off after {tokens} tokens"
        )
    if not causes:
        message = "the generation holds no code of a supported language outside its reasoning"
        return NoCode(Reason.NO_CODE, message, generation)
    message = f"the generation ends before there is any code: {'; '.join(causes)}"
    return NoCode(Reason.TRUNCATED_IN_REASONING, message, generation)
