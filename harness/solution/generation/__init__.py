"""Generations: submissions that are raw outputs of language models.

In goes the text of a dump. Out comes the code in it, or why there is none, with what the dump says
of itself: :func:`extract` reads the header (:mod:`.header`), cuts reasoning (:mod:`.reasoning`) and
chooses one of the blocks of the answer (:mod:`.blocks`), in time linear in the text's length,
without parsing or running it. The rules: ``docs/how-to/generations.md``.
"""

from dataclasses import dataclass

from harness.records.refs import Generation
from harness.records.result import Reason
from harness.solution.generation import blocks, header, reasoning

SUFFIXES = (".txt", ".md")
"""The suffixes of files that hold generations."""

_MESSAGES = {
    Reason.NO_CODE: "the generation holds no code of a supported language outside its reasoning",
    Reason.TRUNCATED_IN_REASONING: "the generation ends before there is any code",
}


@dataclass(frozen=True, slots=True)
class Extracted:
    """The code of a generation: its ``text`` starts in line ``generation.line`` of the file.

    ``suffix`` is that of a source file of its language.
    """

    text: str
    suffix: str
    generation: Generation


@dataclass(frozen=True, slots=True)
class NoCode:
    """A generation without code, and why."""

    reason: Reason
    message: str
    generation: Generation


def extract(text: str) -> Extracted | NoCode:
    """The code in ``text``, the whole of a dump."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    head = header.read_header(text)
    cut = reasoning.cut(text, head.end)
    about = Generation(
        model=head.model,
        problem=head.problem,
        generated=head.generated,
        tokens=head.tokens,
        token_limit=head.token_limit,
        finish=head.finish,
        reasoning_lines=cut.lines(text),
        reasoning_closed=cut.closed,
    )
    chosen = blocks.choose(blocks.find(text, cut.answer))
    if chosen is None:
        truncated = not cut.closed or head.truncated
        reason = Reason.TRUNCATED_IN_REASONING if truncated else Reason.NO_CODE
        return NoCode(reason, _explain(reason, head, closed=cut.closed), about)
    place = {
        "found": chosen.block.kind,
        "info": chosen.block.info,
        "block": chosen.number,
        "blocks": chosen.total,
        "line": text.count("\n", 0, chosen.block.start) + 1,
    }
    return Extracted(chosen.block.text, chosen.suffix, about.model_copy(update=place))


def _explain(reason: Reason, head: header.Header, *, closed: bool) -> str:
    message = _MESSAGES[reason]
    if not closed:
        message += ": its reasoning is never closed"
    if head.truncated:
        after = "" if head.tokens is None else f" after {head.tokens} tokens"
        message += f"{';' if not closed else ':'} it was cut off{after}"
    return message
