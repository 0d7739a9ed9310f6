"""Raw outputs of language models as submissions: what a dump says of itself, and the code in it.

:func:`extract` is the line from one to the other: the header (:mod:`.header`) comes off, reasoning
(:mod:`.reasoning`) is cut, what may be code (:mod:`.blocks`) is collected from the answer, and one
of it is chosen (:mod:`.choice`). Text alone is looked at, in time linear in its length; nothing is
parsed as a program and nothing is run. The rules in words: ``docs/how-to/generations.md``.
"""

from dataclasses import dataclass

from harness.records.refs import Generation
from harness.records.result import Reason
from harness.solution.generation import blocks, choice, header, reasoning

SUFFIXES = (".txt", ".md")
"""What files with generations are called."""

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
    """There is none, and why."""

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
    chosen = choice.choose(blocks.find(text, cut.answer))
    if chosen is None:
        truncated = not cut.closed or head.truncated
        reason = Reason.TRUNCATED_IN_REASONING if truncated else Reason.NO_CODE
        return NoCode(reason, _told(reason, head, closed=cut.closed), about)
    place = {
        "found": chosen.block.kind,
        "info": chosen.block.info,
        "block": chosen.number,
        "blocks": chosen.total,
        "line": text.count("\n", 0, chosen.block.start) + 1,
    }
    return Extracted(chosen.block.text, chosen.suffix, about.model_copy(update=place))


def _told(reason: Reason, head: header.Header, *, closed: bool) -> str:
    message = _MESSAGES[reason]
    if not closed:
        message += ": its reasoning is never closed"
    if head.truncated:
        after = "" if head.tokens is None else f" after {head.tokens} tokens"
        message += f"{';' if not closed else ':'} it was cut off{after}"
    return message
