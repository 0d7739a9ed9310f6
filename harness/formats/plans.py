"""How the memory of a device is used while a case of a foreign problem is checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from harness.problem.sampling.footprint import (
    CALLS,
    Answers,
    computed,
    footprint,
    of_others,
    rows_in,
    some_rows,
)

if TYPE_CHECKING:
    from harness.formats.description import FormatCase
    from harness.problem.terms import TensorSpec

WEIGHT = "self."
"""What the name of a module's weight begins with, as none of an argument can."""
_PIECE_BYTES = 1 << 30
"""What computing some rows may take, with temporaries: a small part of a small card, and enough
that asking for the next ones costs little."""


class Plan(NamedTuple):
    """How the memory of a device is used for a case."""

    label: str
    """What it adds to a case's spec."""
    answers: Answers
    calls: int
    """How many of its calls lie there at once."""

    def bytes(self, tensors: Sequence[TensorSpec]) -> int:
        """What checking a case with these tensors takes, the processes beside the judge counted."""
        beside = 0 if self.answers is Answers.HERE else of_others(tensors, self.answers)
        if self.answers is Answers.ROWS:
            weights = [spec for spec in tensors if spec.name.startswith(WEIGHT)]
            beside += some_rows(_of_rows(tensors), rows_at_once(tensors))
            beside += some_rows(weights, 1) if weights else 0
        return footprint(tensors, self.answers, self.calls) + beside


_EMULATED = Plan("", Answers.HERE, CALLS)
_HANDED = Plan("", Answers.HANDED, CALLS)
_SINGLY = Plan(",calls=1", Answers.HANDED, 1)
ROWS = Plan(",answers=rows", Answers.ROWS, 1)
STREAMED = Plan(",answers=host", Answers.STREAMED, 1)
_PART = 2
"""To compute an eighth of the rows, with temporaries, takes about half of what all outputs do."""
LABELLED = {each.label: each for each in (_SINGLY, ROWS, STREAMED)}
"""By what they add to a spec."""


def rows_at_once(tensors: Sequence[TensorSpec]) -> int:
    """How many rows of a case with these tensors, all but weights cut into them, make a piece."""
    return rows_in(_of_rows(tensors), _PIECE_BYTES)


def _of_rows(tensors: Sequence[TensorSpec]) -> list[TensorSpec]:
    return [spec for spec in tensors if not spec.name.startswith(WEIGHT)]


def plans(each: FormatCase, *, small: bool) -> Sequence[Plan]:
    """How a case may be checked, the better first; ``small`` ones are on the processor.

    What the format's own check decides is not compared piece by piece.
    """
    if small:
        return (_EMULATED,)
    if each.own:
        return (_HANDED, _SINGLY)
    return (_HANDED, _SINGLY, *in_pieces(each))


def in_pieces(each: FormatCase) -> Sequence[Plan]:
    """The plans by which a case's right answers come piece by piece, the better first."""
    return (ROWS, STREAMED) if each.by_rows else (STREAMED,)


def is_for(each: FormatCase, label: str) -> bool:
    """Whether a case that has this in its spec can be checked so."""
    return label != ROWS.label or (each.by_rows and not each.own)


def planned(each: FormatCase, label: str) -> FormatCase:
    """The case as it is checked where its spec has this label."""
    if each.own or not is_for(each, label):
        return each
    if label == ROWS.label:
        return replace(each, rows=rows_at_once(each.tensors))
    return replace(each, answers_on_host=label == STREAMED.label)


def chosen(each: FormatCase, room: int | None, *, small: bool) -> tuple[int, Plan] | None:
    """The best plan that goes into ``room`` bytes (None: all of them do), and what it takes.

    Where answers may come piece by piece, that is better than a card so full that a reference finds
    no room to compute even a part of the rows: the processor would have to, and takes minutes.
    """
    for plan in plans(each, small=small):
        needed = plan.bytes(each.tensors)
        own = computed(each.tensors) // _PART if plan is _SINGLY and not each.own else 0
        if room is None or needed + own <= room:
            return needed, plan
    return None
