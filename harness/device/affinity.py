"""One processor for all runners that are timed, and none of the judge's own work on it.

What a batch costs beyond its calls depends on the processor that its runner is on: isolated calls
of two processes with the same kernel were up to 24 µs apart for as long as both lived, 7 in the
median, and on the same processor 1 (docs/explanation/measurement.md). They never run at once, so
they can share it; the judge, which spins meanwhile, must be elsewhere. Which processors these are
says the judge's :mod:`harness.device.workplace`; in a process that has none, :func:`assign_cpus`.
"""

import contextlib
import os
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from pathlib import Path
from typing import NamedTuple

from harness.device import topology


class CpuAssignment(NamedTuple):
    """Numbers of processors: the ``runner``'s, and those that are left for the ``judge``."""

    runner: int
    judge: frozenset[int]


Taking = Callable[[], AbstractContextManager[CpuAssignment | None]]
"""Takes processors for a block; None where there is one only."""

_held: ContextVar[tuple[int | None] | None] = ContextVar("held", default=None)
"""The runners' processor while this thread keeps away from it, for a timing inside a timing."""


@contextmanager
def pinned(bus: str, take: Taking | None = None) -> Iterator[int | None]:
    """Keep this thread off one processor near the card at ``bus``; the value is that processor.

    Timed runners are asked to pin themselves to it; one that does not loses a few µs of accuracy.
    ``take`` says which, and where this thread goes. None, and nothing changes, where this process
    may use one processor only or the system does not let it choose.
    """
    if (held := _held.get()) is not None:
        yield held[0]
        return
    allowed = os.sched_getaffinity(0)
    with nullcontext(assign_cpus(allowed, bus)) if take is None else take() as assigned:
        if assigned is not None and not move_thread(assigned.judge):
            assigned = None
        runner = None if assigned is None else assigned.runner
        before = _held.set((runner,))
        try:
            yield runner
        finally:
            _held.reset(before)
            if assigned is not None:
                os.sched_setaffinity(0, allowed)


def move_thread(cpus: Collection[int]) -> bool:
    """Let this thread, and what it starts, run on ``cpus`` alone; whether the system allows it."""
    with contextlib.suppress(OSError):
        os.sched_setaffinity(0, cpus)
        return True
    return False


def assign_cpus(
    allowed: Collection[int], bus: str, system: Path = Path("/")
) -> CpuAssignment | None:
    """The runners' and the judge's of the ``allowed`` processors; None if there is only one.

    Runners get one near the card at ``bus``, on a fast core; not on the first such core, which sees
    to most interrupts, if there is another. Judges at several cards of a machine get different ones
    as far as there are. ``system`` is where ``/proc`` and ``/sys`` are.
    """
    if len(allowed) < 2:
        return None
    local = topology.near(bus, allowed, system) or allowed
    cores = topology.cores(topology.fast(local, system), allowed, system)
    rest = cores[1:] or cores
    cards = topology.cards(system)
    core = rest[(cards.index(bus) if bus in cards else 0) % len(rest)]
    runner = max(core)
    return CpuAssignment(runner, frozenset(allowed) - core or frozenset(allowed) - {runner})
