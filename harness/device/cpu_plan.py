"""Which processors of a host are whose: made once, the same by every judge of the host.

Each card has a seat: a core for the runner that is timed, and one for its judge, which spins
meanwhile, both near the card, nobody else's, their other processors idle. What is left is for
everything else: compilers, cases, the judges while they take no time. Where too few are left,
builds may be anywhere, and stand still while anyone takes a time (:mod:`harness.device.quiet`).
Where there are not even two processors a card, cards share seats and take turns.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from harness.device import topology


class Seat(NamedTuple):
    """The processors that one card's times are taken with."""

    runner: int
    """The timed runner's."""
    judge: int
    """The judge's, while it looks at its clock."""
    cores: frozenset[int]
    """Both, and their neighbours on the same cores, which are left idle."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuPlan:
    """Seats and what is left of the processors that one may use."""

    seats: Mapping[str, Seat]
    """By the card's PCI address; none where there is one processor."""
    spare: tuple[Seat, ...]
    """Seats that can be made of what is left, for a judge that finds its own taken."""
    rest: frozenset[int]
    """For all work beside times: no seat's, if :attr:`apart`, else all."""
    apart: bool
    """Work beside times never meets a seat."""
    builders: int
    """Files that may be built side by side, of all judges together."""


def plan_cpus(
    cards: Sequence[str],
    allowed: Collection[int],
    visible: Collection[str] = (),
    *,
    quota: float = math.inf,
    system: Path = Path("/"),
) -> CpuPlan:
    """The plan for a host's ``cards`` and the processors that this process may use.

    ``cards`` are PCI addresses, all that there are; where processors do not suffice for all of
    them, those ``visible`` to this process alone are served: with a part of a host's cards goes a
    part of its processors. Slow cores, and the first of each node, which sees to interrupts, are
    seats only where there are no others. ``quota``: so many processors may be kept busy; who is
    over it stands still as a whole, so that builds may not use up what times need.
    """
    made = _plan(sorted(cards), frozenset(allowed), quota, system)
    if not made.apart and visible and set(visible) != set(cards):
        made = _plan(sorted(visible), frozenset(allowed), quota, system)
    return made


def _plan(cards: Sequence[str], allowed: frozenset[int], quota: float, system: Path) -> CpuPlan:
    most = math.floor(min(quota, len(allowed)))
    if len(allowed) < 2:
        return CpuPlan(seats={}, spare=(), rest=allowed, apart=False, builders=1)
    whole = topology.cores(allowed, allowed, system)
    timing = 2 * len(cards)
    apart = len(whole) > timing and most > timing
    # Where cores do not suffice their processors must, and where these do not, cards take turns.
    units = whole if len(whole) >= timing else [frozenset({cpu}) for cpu in sorted(allowed)]
    places = _Places(units, allowed, system)
    seats: dict[str, Seat] = {}
    for number, card in enumerate(cards):
        seat = places.take(card)
        seats[card] = seat or list(seats.values())[number % len(set(seats.values()))]
    taken = frozenset[int]().union(*(seat.cores for seat in seats.values()))
    rest = allowed - taken
    apart = apart and len(rest) >= len(cards)
    spare: list[Seat] = []
    while len(places) > 2 and (seat := places.take("")) is not None:
        spare.append(seat)
    return CpuPlan(
        seats=seats,
        spare=tuple(spare),
        rest=rest if apart else allowed,
        apart=apart,
        builders=min(len(rest), most - timing) if apart else max(1, most * 3 // 4),
    )


class _Places:
    """The cores that are nobody's yet, from which seats are taken."""

    def __init__(self, units: list[frozenset[int]], allowed: frozenset[int], system: Path) -> None:
        self._free = list(units)
        self._allowed = allowed
        self._system = system
        self._first = {min(units, key=min)}
        self._fast = topology.fast(allowed, system)

    def __len__(self) -> int:
        return len(self._free)

    def take(self, card: str) -> Seat | None:
        """Two cores, near ``card`` if there are such; None if there are no two."""
        if len(self._free) < 2:
            return None
        local = topology.near(card, self._allowed, self._system) if card else set()
        mine = sorted(self._free, key=lambda unit: self._rank(unit, local))[:2]
        for unit in mine:
            self._free.remove(unit)
        runner, judge = mine
        return Seat(max(runner), max(judge), runner | judge)

    def _rank(self, unit: frozenset[int], local: set[int]) -> tuple[bool, bool, bool, bool, int]:
        """The smaller the better: near, fast, not the first, all of it ours."""
        first = unit in self._first or (bool(local) and min(local) in unit)
        return (
            bool(local) and unit.isdisjoint(local),
            unit.isdisjoint(self._fast),
            first,
            not topology.siblings(min(unit), self._system) <= self._allowed,
            min(unit),
        )
