"""The processors of one judge: its seat, held while it lives, and those for all its other work."""

import contextlib
import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from harness.device import topology
from harness.device.affinity import CpuAssignment
from harness.device.awake import KeptAwake
from harness.device.cpu_plan import CpuPlan, Seat, plan_cpus
from harness.device.file_locks import HostLock, holding, take_all
from harness.device.quiet import Quiet
from harness.sandbox.processors import quota

_TRIES, _AGAIN_S = 5, 0.002
"""Looking whether a seat is held holds it for a moment; so it is tried again."""
_LOOK_S = 1.0
"""What others hold is looked for so often."""


class Workplace:
    """What a host's plan gives to the judge of one card.

    The seat is the card's by the plan; if a judge of another card holds it, by another plan, a
    spare one; if there is none, the card's, in turns. Of a seat's processors each is locked while
    times are taken, so that no two judges ever time on one, whatever they planned. All locks are
    let go of when the process ends.

    Args:
        card: its PCI address.
        plan: the host's.
        judges: among how many the plan's builders are divided.

    Raises:
        MachineError: there is no place for locks.
    """

    def __init__(self, card: str, plan: CpuPlan, *, judges: int = 1) -> None:
        self._plan = plan
        self._claims: list[HostLock] = []
        self._beside, self._looked = plan.rest, -math.inf
        self.seat = self._claim(card)
        """None where there is one processor."""
        self._runner: KeptAwake | None = None
        if self.seat is not None and plan.apart:  # else others need its processor time
            self._runner = KeptAwake(self.seat.runner)
        self.builders = max(1, plan.builders // judges)
        """Files that this judge may build side by side."""
        self.quiet = None if plan.apart else Quiet()
        """The turns of builds and times; None where builds keep off all seats."""

    def _claim(self, card: str) -> Seat | None:
        planned = self._plan.seats.get(card)
        if planned is None:
            return None
        for seat in (planned, *self._plan.spare):
            claims = [HostLock(_claim_name(cpu)) for cpu in sorted(seat.cores)]
            for _ in range(_TRIES):
                if take_all(claims):
                    for claim in claims:
                        claim.note(card)
                    self._claims = claims
                    return seat
                time.sleep(_AGAIN_S)
            same = {claim.noted() for claim in claims} == {card}
            for claim in claims:
                claim.close()
            if seat == planned and same:
                return seat  # of a judge of the same card: they take turns anyway
        return planned

    def beside(self) -> frozenset[int]:
        """The processors for work beside times: those of no seat, where that can be."""
        if not self._plan.apart:
            return self._plan.rest
        if time.monotonic() - self._looked >= _LOOK_S:
            mine = self.seat.cores if self.seat is not None else frozenset()
            free = frozenset(cpu for cpu in self._plan.rest - mine if not _claimed(cpu))
            self._beside, self._looked = free or self._plan.rest, time.monotonic()
        return self._beside

    def runners(self) -> frozenset[int]:
        """The processors for submissions, as long as they are not pinned: not the judge's."""
        if self.seat is None:
            return self._plan.rest
        mine = self.seat.cores - topology.siblings(self.seat.judge) | {self.seat.runner}
        return (self.beside() | mine) - {self.seat.judge}

    def settle(self) -> None:
        """Keep all threads of this process, and what they start, off the seats of others."""
        mine = self.seat.cores if self.seat is not None else frozenset[int]()
        keep_to(self.beside() | mine)

    @contextmanager
    def timed(self, waiting: Callable[[float], None]) -> Iterator[CpuAssignment | None]:
        """Take times in this block: on the seat, with nobody else on its processors.

        The runner's stays awake meanwhile, where there are processors for all else.

        ``waiting`` is called now and then with the seconds so far while somebody else is.
        """
        cpus = self.seat.cores if self.seat is not None else self._plan.rest
        with contextlib.ExitStack() as held:
            locks = [HostLock(f"cpu-{cpu}-timed") for cpu in sorted(cpus)]
            for lock in locks:
                held.callback(lock.close)
            held.enter_context(holding(locks, waiting))
            if self.quiet is not None:
                held.enter_context(self.quiet.timing(waiting))
            if self._runner is not None:
                held.enter_context(self._runner.awake())
            seat = self.seat
            yield None if seat is None else CpuAssignment(seat.runner, frozenset({seat.judge}))

    def close(self) -> None:
        """Let go of the seat."""
        if self._runner is not None:
            self._runner.close()
        for claim in self._claims:
            claim.close()
        self._claims = []


def host_plan(card: str, visible: Sequence[str], system: Path = Path("/")) -> CpuPlan:
    """The plan that the judge of ``card`` makes by itself: the same at all cards of the host.

    ``visible`` are the PCI addresses of the cards that it might use, ``system`` is where ``/proc``
    and ``/sys`` are.
    """
    cards, mine = topology.cards(system), {card, *visible}
    if not mine <= set(cards):
        cards = sorted(mine)
    allowed = os.sched_getaffinity(0)
    return plan_cpus(cards, allowed, mine, quota=quota(system), system=system)


def keep_to(cpus: frozenset[int]) -> None:
    """Let all threads of this process run on ``cpus`` alone, as far as the system allows it."""
    for thread in os.listdir("/proc/self/task"):
        with contextlib.suppress(OSError):
            os.sched_setaffinity(int(thread), cpus)


def _claim_name(cpu: int) -> str:
    return f"cpu-{cpu}-seat"


def _claimed(cpu: int) -> bool:
    """Whether a judge holds a seat with this processor."""
    with contextlib.closing(HostLock(_claim_name(cpu))) as claim:
        return not claim.take()
