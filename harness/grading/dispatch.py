"""Which job goes to which card, and what becomes of those whose judge has failed.

Each card has a few jobs: one that is graded and some that are built meanwhile, fewer towards the
end, so that all cards end at about the same time. A job whose judge failed goes to another card,
if there is one, and after a second failure to none. A card on which two jobs fail with no grade
between them is left out; a job that failed on two cards counts against neither.
"""

import math
from collections import deque
from collections.abc import Callable, Sequence
from itertools import count
from typing import NamedTuple

TRIES = 2
"""Of a job; also the failures of a card that leave it out."""


class Failure(NamedTuple):
    """A judge's failure: on which card, and why."""

    card: int
    why: str


class Dispatch:
    """Jobs 0, 1, … ``total`` - 1 for some cards, of which each holds at most ``ahead``."""

    def __init__(self, total: int, cards: Sequence[int], ahead: int) -> None:
        self._total = total
        self._waiting = deque(range(total))
        self._ahead = ahead
        self._held: dict[int, list[int]] = {card: [] for card in cards}
        self._failed: dict[int, list[Failure]] = {}
        self._faults: dict[int, dict[int, str]] = {card: {} for card in cards}
        self._unnamed = count(-1, -1)
        self.left_out: dict[int, str] = {}
        """The cards that are, and why."""

    def add(self) -> int:
        """One more job, after all others; its number."""
        self._waiting.append(self._total)
        self._total += 1
        return self._total - 1

    @property
    def live(self) -> list[int]:
        """The cards that are not left out."""
        return [card for card in self._held if card not in self.left_out]

    @property
    def finished(self) -> bool:
        """No job is waiting, and none is held."""
        return not self._waiting and not any(self._held.values())

    @property
    def waiting(self) -> bool:
        """A job is held by no card."""
        return bool(self._waiting)

    def held(self, card: int) -> list[int]:
        """The jobs of a card, in the order in which they were given."""
        return list(self._held[card])

    def give(self, card: int, most: int | None = None) -> list[int]:
        """The further jobs that a card is to have now, ``most`` with those that it holds."""
        given: list[int] = []
        if card in self.left_out:
            return given
        held = self._held[card]
        while True:
            room = min(most or self._ahead, 1 + math.ceil(len(self._waiting) / len(self.live)))
            allowed = (job for job in self._waiting if self._may_have(card, job))
            if len(held) >= room or (job := next(allowed, None)) is None:
                return given
            self._waiting.remove(job)
            held.append(job)
            given.append(job)

    def _may_have(self, card: int, job: int) -> bool:
        """Whether a job has not failed there, or has nowhere else to go."""
        tried = {failure.card for failure in self._failed.get(job, ())}
        return card not in tried or tried.issuperset(self.live)

    def done(self, card: int, job: int) -> None:
        """A job has its outcome."""
        self._held[card].remove(job)
        self._faults[card].clear()

    def drop(self, unwanted: Callable[[int], bool]) -> list[int]:
        """Take out, and return, the waiting jobs that are not wanted any more."""
        dropped = [job for job in self._waiting if unwanted(job)]
        self._waiting = deque(job for job in self._waiting if not unwanted(job))
        return dropped

    def release(self, card: int) -> list[int]:
        """Take all jobs of a card from it, for good; which they were."""
        held, self._held[card] = self._held[card], []
        return held

    def again(self, job: int) -> None:
        """A job that was given up is asked for otherwise, before all others."""
        self._waiting.appendleft(job)

    def leave_out(self, card: int, why: str) -> None:
        """Give no more to ``card``, which holds nothing."""
        self.left_out[card] = why

    def fail(
        self, card: int, why: str, *, at_work: bool = True, lost: bool = False
    ) -> tuple[int, list[Failure]] | None:
        """The judge of ``card`` has failed; its jobs wait again.

        With ``at_work`` it is counted for the first that it held, and against the card unless it
        was ``lost``.

        Returns:
            The job that is not tried a third time, if there is one, and its failures.
        """
        held = self._held[card]
        job = held.pop(0) if at_work and held else None
        self._waiting.extendleft(reversed(held))
        held.clear()
        if not lost:
            self._faults[card][next(self._unnamed) if job is None else job] = why
        given_up = None
        if job is not None:
            failures = self._failed.setdefault(job, [])
            failures.append(Failure(card, why))
            if len(failures) >= TRIES:
                given_up = job, failures
                if len({failure.card for failure in failures}) > 1:
                    for failure in failures:
                        self._faults[failure.card].pop(job, None)
            else:
                self._waiting.appendleft(job)
        if len(self._faults[card]) >= TRIES:
            self.left_out[card] = why
        return given_up
