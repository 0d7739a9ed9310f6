"""Which of several blocks is the submission."""

from collections.abc import Sequence
from dataclasses import dataclass

from harness.records.refs import Found
from harness.solution.generation.blocks import Block
from harness.solution.generation.code import defines_entry, suffix_of

_ORDER: tuple[Found, ...] = ("fence", "unclosed fence", "tag", "bare")
"""Where two blocks are as good, the kind that says more clearly that it is code goes first."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The block, the suffix of its language, and that it is number ``number`` of ``total``."""

    block: Block
    suffix: str
    number: int
    total: int


def choose(found: Sequence[Block]) -> Choice | None:
    """The last block that defines an entry point, else the last that is code, else None."""
    coded = [(block, suffix) for block in found if (suffix := suffix_of(block.text, block.info))]
    entering = [(block, suffix) for block, suffix in coded if defines_entry(block.text, suffix)]
    for among in (entering, coded):
        for kind in _ORDER:
            of_kind = [each for each in among if each[0].kind == kind]
            if of_kind:
                block, suffix = of_kind[-1]
                same = [each for each in found if each.kind == kind]
                return Choice(block, suffix, same.index(block) + 1, len(same))
    return None
