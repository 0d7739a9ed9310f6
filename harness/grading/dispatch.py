"""Which job goes to which card, and what becomes of those whose judge has failed.

Each card has a few jobs: one that is graded and some that are built meanwhile, fewer towards the
end, so that all cards end at about the same time; what waits is built then, too, by cards that will
most likely grade it.

A job whose judge failed goes to another card, if there is one, and after a second failure to none;
one that its judge had not begun counts half. What that other card says settles whose fault the
first failure was: a job that fails there, too, counts against neither card, and one that is graded
there counts against the first. Two of those with no grade between them, and a card is left out.
Until they are settled such a card gets only what failed elsewhere: else two bad jobs in a row,
while the other cards are busy, would cost a good card. A card alone has nobody to be compared with;
there two failures are enough.
"""

import math
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from itertools import count, islice
from typing import NamedTuple

TRIES = 2
"""Of a job; also the failures of a card that leave it out."""


class Failure(NamedTuple):
    """A judge's failure: on which card, why, and whether the job may have been at work."""

    card: int
    why: str
    begun: bool = True


class Fault(NamedTuple):
    """A failure that may be its card's: it is ``proven`` once the job was graded elsewhere."""

    why: str
    proven: bool


class Dispatch:
    """Jobs 0, 1, … ``total`` - 1 for some cards, of which each holds at most ``ahead``."""

    def __init__(self, total: int, cards: Sequence[int], ahead: int) -> None:
        self._total = total
        self._waiting = deque(range(total))
        self._ahead = ahead
        self._held: dict[int, list[int]] = {card: [] for card in cards}
        self._at: dict[int, int] = {}  # the job that a card grades, as far as it has said so
        self._built_by: dict[int, int] = {}  # of those that wait
        self._failed: dict[int, list[Failure]] = {}
        self._faults: dict[int, dict[int, Fault]] = {card: {} for card in cards}
        self._unnamed = count(-1, -1)
        self.left_out: dict[int, str] = {}
        """The cards that are, and why."""
        self.away: set[int] = set()
        """Cards that may never come: no job waits for one of them."""

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
    def _there(self) -> list[int]:
        """The cards that jobs can go to."""
        return [card for card in self.live if card not in self.away]

    @property
    def finished(self) -> bool:
        """No job is waiting, and none is held."""
        return not self._waiting and not any(self._held.values())

    @property
    def waiting(self) -> bool:
        """A job is held by no card."""
        return bool(self._waiting)

    def held(self, card: int) -> list[int]:
        """The jobs of a card, in the order in which they were given, but for what it is at."""
        return list(self._held[card])

    def give(self, card: int, most: int | None = None) -> list[int]:
        """The further jobs that a card is to have now, ``most`` with those that it holds."""
        given: list[int] = []
        if card not in self._there:
            return given
        held = self._held[card]
        while True:
            room = min(most or self._ahead, 1 + math.ceil(len(self._waiting) / len(self._there)))
            if len(held) >= room or (job := self._next(card)) is None:
                return given
            self._waiting.remove(job)
            self._built_by.pop(job, None)
            held.append(job)
            given.append(job)

    def _next(self, card: int) -> int | None:
        """The first job that a card may have, and that no other card builds, if there is one."""
        first = None
        for job in self._waiting:
            if self._may_have(card, job):
                if self._built_by.get(job, card) == card:
                    return job
                first = job if first is None else first
        return first

    def build_ahead(self, cards: Iterable[int]) -> list[tuple[int, int]]:
        """The cards and the waiting jobs that they are to build now, whoever is given them then.

        With those that it holds each of ``cards`` has ``ahead`` at most, and all have alike.
        """
        building = Counter(self._built_by.values())
        count = {c: len(self._held[c]) + building[c] for c in cards if c in self._there}
        given: list[tuple[int, int]] = []
        for job in list(islice(self._waiting, self._ahead * len(self._held))):
            able = [c for c in count if count[c] < self._ahead and self._may_have(c, job)]
            if job not in self._built_by and able:
                card = min(able, key=count.__getitem__)
                count[card] += 1
                self._built_by[job] = card
                given.append((card, job))
        return given

    def begun(self, card: int, job: int) -> None:
        """A card grades ``job`` now, of those that it holds."""
        self._at[card] = job
        held = self._held[card]
        held.remove(job)
        held.insert(0, job)

    def _may_have(self, card: int, job: int) -> bool:
        """Whether a job has not failed there, or has nowhere else to go."""
        tried = {failure.card for failure in self._failed.get(job, ())}
        if len(self._faults[card]) >= TRIES and len(self._there) > 1:
            return bool(tried) and card not in tried
        return card not in tried or tried.issuperset(self._there)

    def done(self, card: int, job: int) -> list[int]:
        """A job has its outcome; returns the cards that are left out by it, where it failed."""
        self._held[card].remove(job)
        if self._at.get(card) == job:
            del self._at[card]
        self._faults[card].clear()
        before = set(self.left_out)
        for other, why, _ in self._failed.get(job, ()):
            if job in self._faults[other]:
                self._faults[other][job] = Fault(why, proven=True)
                self._judge(other)
        return sorted(self.left_out.keys() - before)

    def drop(self, unwanted: Callable[[int], bool]) -> list[int]:
        """Take out, and return, the waiting jobs that are not wanted any more."""
        dropped = [job for job in self._waiting if unwanted(job)]
        gone = set(dropped)
        self._waiting = deque(job for job in self._waiting if job not in gone)
        self._built_by = {job: by for job, by in self._built_by.items() if job not in gone}
        return dropped

    def release(self, card: int) -> list[int]:
        """Take all jobs of a card from it, for good; which they were."""
        held, self._held[card] = self._held[card], []
        self._at.pop(card, None)
        # Its judge is gone: what it was to build others may.
        self._built_by = {job: by for job, by in self._built_by.items() if by != card}
        return held

    def again(self, job: int) -> None:
        """A job that was given up is asked for otherwise, before all others."""
        self._waiting.appendleft(job)

    def leave_out(self, card: int, why: str) -> None:
        """Give no more to ``card``; what it holds waits again."""
        self.left_out[card] = why
        self._waiting.extendleft(reversed(self.release(card)))

    def fail(
        self, card: int, why: str, *, at_work: bool = True, lost: bool = False
    ) -> tuple[int, list[Failure]] | None:
        """The judge of ``card`` has failed; its jobs wait again.

        With ``at_work`` it is counted for the one that it was at, and may be the card's fault
        unless it was ``lost``. If it had begun none it is counted for the first, half: most likely
        its build was waited for. What a judge that was ``lost`` had begun is not known.

        Returns:
            The job that is not tried a third time, if there is one, and its failures.
        """
        begun = lost or card in self._at
        held = self.release(card)
        job = held.pop(0) if at_work and held else None
        self._waiting.extendleft(reversed(held))
        if not lost:
            fault = Fault(why, proven=job is None)
            self._faults[card][next(self._unnamed) if job is None else job] = fault
        given_up = None
        if job is not None:
            failures = self._failed.setdefault(job, [])
            failures.append(Failure(card, why, begun))
            if sum(1.0 if failure.begun else 0.5 for failure in failures) >= TRIES:
                given_up = job, failures
                if len({failure.card for failure in failures}) > 1:
                    for failure in failures:
                        self._faults[failure.card].pop(job, None)
            else:
                self._waiting.appendleft(job)
        self._judge(card)
        return given_up

    def _judge(self, card: int) -> None:
        """Leave a card out if enough of its failures were its own."""
        faults = list(self._faults[card].values())
        if self._there != [card]:
            faults = [fault for fault in faults if fault.proven]
        if card in self.live and len(faults) >= TRIES:
            self.leave_out(card, faults[-1].why)
