"""One processor for all runners that are timed, and none of the judge's own work on it.

What a batch costs beyond its calls depends on the processor that its runner is on: isolated calls
of two processes with the same kernel were up to 24 µs apart for as long as both lived, 7 in the
median, and on the same processor 1 (docs/explanation/measurement.md). They never run at once, so
they can share it; the judge, which spins meanwhile, must be elsewhere.
"""

import contextlib
import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import NamedTuple

_SLOWEST = 0.9
"""A fast core's clock rate, in parts of the fastest: some machines have slow cores, too."""


class CpuAssignment(NamedTuple):
    """Numbers of processors: the ``runner``'s, and those that are left for the ``judge``."""

    runner: int
    judge: frozenset[int]


_runner_cpu: ContextVar[int | None] = ContextVar("runner_cpu", default=None)
"""The runners' processor while this thread keeps away from it, for a timing inside a timing."""


@contextmanager
def pinned(bus: str) -> Iterator[int | None]:
    """Keep this thread off one processor near the card at ``bus``; the value is that processor.

    Timed runners are asked to pin themselves to it; one that does not loses a few µs of accuracy.
    None, and nothing changes, where this process may use one processor only or the system does not
    let it choose.
    """
    if (held := _runner_cpu.get()) is not None:
        yield held
        return
    allowed = os.sched_getaffinity(0)
    assigned = assign_cpus(allowed, bus)
    if assigned is not None:
        try:
            os.sched_setaffinity(0, assigned.judge)
        except OSError:
            assigned = None
    if assigned is None:
        yield None
        return
    before = _runner_cpu.set(assigned.runner)
    try:
        yield assigned.runner
    finally:
        _runner_cpu.reset(before)
        os.sched_setaffinity(0, allowed)


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
    near = _among(allowed, system / f"sys/bus/pci/devices/{bus}/local_cpulist")
    cores = _cores(_fast(near or allowed, system), allowed, system)
    rest = cores[1:] or cores
    core = rest[_place(bus, system) % len(rest)]
    runner = max(core)
    return CpuAssignment(runner, frozenset(allowed) - core or frozenset(allowed) - {runner})


def _cores(cpus: Collection[int], allowed: Collection[int], system: Path) -> list[frozenset[int]]:
    """The cores that ``cpus`` belong to, each with all ``allowed`` processors of it, in order."""
    folder = system / "sys/devices/system/cpu"
    siblings = {cpu: folder / f"cpu{cpu}/topology/thread_siblings_list" for cpu in cpus}
    found = {frozenset({cpu, *_among(allowed, file)}) for cpu, file in siblings.items()}
    return sorted(found, key=min)


def _fast(cpus: Collection[int], system: Path) -> set[int]:
    """Those of ``cpus`` that are about as fast as the fastest."""
    speeds = dict.fromkeys(cpus, 0)  # maximum clock rates in kHz; 0 where unknown
    for cpu in cpus:
        file = system / f"sys/devices/system/cpu/cpu{cpu}/cpufreq/cpuinfo_max_freq"
        with contextlib.suppress(OSError, ValueError):
            speeds[cpu] = int(file.read_text(encoding="ascii"))
    return {cpu for cpu in cpus if speeds[cpu] >= _SLOWEST * max(speeds.values())}


def _place(bus: str, system: Path) -> int:
    """Which of the machine's cards it is, from 0."""
    with contextlib.suppress(OSError, ValueError):
        cards = sorted(each.name for each in (system / "proc/driver/nvidia/gpus").iterdir())
        return cards.index(bus)
    return 0


def _among(allowed: Collection[int], file: Path) -> set[int]:
    """Those of the ``allowed`` processors that a list such as ``0-3,8`` has; none without one."""
    found: set[int] = set()
    with contextlib.suppress(OSError, ValueError):
        for part in file.read_text(encoding="ascii").strip().split(","):
            first, _, last = part.partition("-")
            bounds = int(first), int(last or first)
            found.update(cpu for cpu in allowed if bounds[0] <= cpu <= bounds[1])
    return found
