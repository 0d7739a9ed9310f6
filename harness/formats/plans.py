"""How the memory of a device is used while a case of a foreign problem is checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from harness.problem.sampling.footprint import CALLS, Answers, computed, footprint, of_others

if TYPE_CHECKING:
    from harness.formats.description import FormatCase
    from harness.problem.terms import TensorSpec


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
        return footprint(tensors, self.answers, self.calls) + beside


_EMULATED = Plan("", Answers.HERE, CALLS)
_HANDED = Plan("", Answers.HANDED, CALLS)
_SINGLY = Plan(",calls=1", Answers.HANDED, 1)
STREAMED = Plan(",answers=host", Answers.STREAMED, 1)
_PART = 2
"""To compute an eighth of the rows, with temporaries, takes about half of what all outputs do."""
LABELLED = {each.label: each for each in (_SINGLY, STREAMED)}
"""By what they add to a spec."""


def plans(each: FormatCase, *, small: bool) -> Sequence[Plan]:
    """How a case may be checked, the better first; ``small`` ones are on the processor.

    What the format's own check decides is not compared piece by piece.
    """
    if small:
        return (_EMULATED,)
    return (_HANDED, _SINGLY) if each.own else (_HANDED, _SINGLY, STREAMED)


def chosen(each: FormatCase, room: int | None, *, small: bool) -> tuple[int, Plan] | None:
    """The best plan that goes into ``room`` bytes (None: all of them do), and what it takes.

    Where answers may stay on the host, that is better than a card so full that a reference finds no
    room to compute even a part of the rows: the processor would have to, and takes minutes.
    """
    for plan in plans(each, small=small):
        needed = plan.bytes(each.tensors)
        own = computed(each.tensors) // _PART if plan is _SINGLY and not each.own else 0
        if room is None or needed + own <= room:
            return needed, plan
    return None
