"""One processor for all runners that are timed, and none of the judge's own work on it.

What a batch costs beyond its calls depends on the processor that its runner happens to be on: lone
calls of two processes with the same kernel were up to 24 µs apart for as long as both lived, 7 in
the median, and on the same processor 1 (docs/explanation/measurement.md). They never run at once,
so they can share it; the judge, which spins meanwhile, must be elsewhere.
"""

import contextlib
import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import NamedTuple

_SLOWEST = 0.9
"""Some machines have fast cores and slow ones: the fast ones are within so much of the fastest."""


class CpuAssignment(NamedTuple):
    """Numbers of processors: the ``runner``'s, and those that are left for the ``judge``."""

    runner: int
    judge: frozenset[int]


_runner_cpu: ContextVar[int | None] = ContextVar("runner_cpu", default=None)
"""The runners' processor while this thread keeps away from it, for a timing inside a timing."""


@contextmanager
def pinned(bus: str) -> Iterator[int | None]:
    """Keep this thread off one processor near the card at ``bus``; the value is that processor.

    Timed runners pin themselves to it when they are told to; one that does not loses a few µs of
    accuracy. None, and nothing changes, where this process may use one processor only or the
    system does not let it choose.
    """
    if (held := _runner_cpu.get()) is not None:
        yield held
        return
    allowed = os.sched_getaffinity(0)
    assigned = assign_cpus(allowed, bus)
    if assigned is None or not _moved(assigned.judge):
        yield None
        return
    before = _runner_cpu.set(assigned.runner)
    try:
        yield assigned.runner
    finally:
        _runner_cpu.reset(before)
        os.sched_setaffinity(0, allowed)


def _moved(cpus: Collection[int]) -> bool:
    """Whether this thread is on one of ``cpus`` from now on; the system may not let it."""
    try:
        os.sched_setaffinity(0, cpus)
    except OSError:
        return False
    return True


def assign_cpus(
    allowed: Collection[int], bus: str, system: Path = Path("/")
) -> CpuAssignment | None:
    """Which of the ``allowed`` processors are whose, beside the card at ``bus``; None if only one.

    Runners get one near the card, on a fast core; not on the first such core, which sees to most
    interrupts, if there is another. Judges that work at several cards of a machine get different
    ones as far as there are. ``system`` is where ``/proc`` and ``/sys`` are.
    """
    if len(allowed) < 2:
        return None
    near = _among(allowed, system / f"sys/bus/pci/devices/{bus}/local_cpulist")
    cores = _cores(_fast(near or allowed, system), allowed, system)
    rest = cores[1:] or cores
    core = rest[_place(bus, system) % len(rest)]
    runner = max(core)
    elsewhere = frozenset(allowed) - core
    return CpuAssignment(runner, elsewhere or frozenset(allowed) - {runner})


def _cores(cpus: Collection[int], allowed: Collection[int], system: Path) -> list[frozenset[int]]:
    """The cores that ``cpus`` belong to, each with all ``allowed`` processors of it, in order."""
    found = set()
    for cpu in cpus:
        siblings = _among(allowed, _about(cpu, system) / "topology/thread_siblings_list")
        found.add(frozenset({cpu, *siblings}))
    return sorted(found, key=min)


def _fast(cpus: Collection[int], system: Path) -> set[int]:
    """Those of ``cpus`` that are about as fast as the fastest."""
    speeds = {cpu: _speed(_about(cpu, system) / "cpufreq/cpuinfo_max_freq") for cpu in cpus}
    least = _SLOWEST * max(speeds.values())
    return {cpu for cpu, speed in speeds.items() if speed >= least}


def _speed(file: Path) -> int:
    """A clock rate in kHz; 0 if it is not told."""
    with contextlib.suppress(OSError, ValueError):
        return int(file.read_text(encoding="ascii"))
    return 0


def _place(bus: str, system: Path) -> int:
    """Which of the machine's cards it is, from 0."""
    with contextlib.suppress(OSError, ValueError):
        cards = sorted(each.name for each in (system / "proc/driver/nvidia/gpus").iterdir())
        return cards.index(bus)
    return 0


def _about(cpu: int, system: Path) -> Path:
    return system / f"sys/devices/system/cpu/cpu{cpu}"


def _among(allowed: Collection[int], file: Path) -> set[int]:
    """Those of the ``allowed`` processors that a list such as ``0-3,8`` has; none without one."""
    found: set[int] = set()
    with contextlib.suppress(OSError, ValueError):
        for part in file.read_text(encoding="ascii").strip().split(","):
            first, _, last = part.partition("-")
            bounds = int(first), int(last or first)
            found.update(cpu for cpu in allowed if bounds[0] <= cpu <= bounds[1])
    return found
