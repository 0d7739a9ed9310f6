"""The memory that this machine has to give: what is free, and the part of it for one build."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from harness.sandbox.control_groups import own_groups

_PROC, _CGROUPS = Path("/proc"), Path("/sys/fs/cgroup")
_LEAST_BYTES = 256 << 20
"""The least that a build is given: nvcc needs 0.2 GB for a small file."""
BUILD_BYTES = 2 << 30
"""What a build should have: fewer are at work at once where there is less for each."""
GUARANTEED = 0.25
"""The part of its limit that a build may hold even where the machine has no more to give."""
_NEAR = 0.75
"""Who was killed when it held more than this part of its limit has run into it."""
_UNLIMITED = 1 << 60
"""Limits of control groups above this are none."""


def free_bytes() -> int:
    """Bytes that can be had without swapping: of the machine, and of our control groups."""
    free = _number(_PROC / "meminfo", "MemAvailable:") << 10 or _UNLIMITED
    return min([free, *map(_headroom, _groups(_PROC / "self" / "cgroup", _CGROUPS))])


def reserve_bytes() -> int:
    """Bytes that builds leave free: an eighth of the machine, at most 1 GiB."""
    return min(1 << 30, (_number(_PROC / "meminfo", "MemTotal:") << 10) // 8)


def build_share(most: int, builders: int) -> int:
    """The memory limit for each of ``builders`` that work side by side from now on, in bytes.

    What is free, less the reserve, in equal parts; at most ``most``.
    """
    part = (free_bytes() - reserve_bytes()) // max(1, builders)
    return min(most, max(_LEAST_BYTES, part))


def affordable_builders(most: int) -> int:
    """How many of ``most`` builders have :data:`BUILD_BYTES` each; at least one."""
    return max(1, min(most, (free_bytes() - reserve_bytes()) // BUILD_BYTES))


def oom_kills() -> int:
    """How many processes of this machine the kernel has killed for want of memory."""
    return _number(_PROC / "vmstat", "oom_kill")


def is_near(limit: int, held: int, kills_before: int) -> bool:
    """Whether one that was killed, and ``held`` so many bytes, has run into its ``limit``.

    So it has with more than its guaranteed part, where the kernel killed for want of memory since
    there were ``kills_before``.
    """
    return held > (GUARANTEED if oom_kills() > kills_before else _NEAR) * limit


@cache
def _groups(listed: Path, root: Path) -> tuple[Path, ...]:
    """Our control groups with a limit of memory, and those above them, which limit us too."""
    found = own_groups(listed, root, "memory")
    return tuple(group for group in found if _limit(group) < _UNLIMITED)


def _limit(group: Path) -> int:
    limits = _texts(group / "memory.max", group / "memory.limit_in_bytes")
    return min((int(text) for text in limits if text.isdigit()), default=_UNLIMITED)


def _headroom(group: Path) -> int:
    """Bytes that a control group may still take; files that it only caches do not count."""
    used = _texts(group / "memory.current", group / "memory.usage_in_bytes")
    statistics = group / "memory.stat"
    cached = _number(statistics, "total_inactive_file") or _number(statistics, "inactive_file")
    return max(0, _limit(group) - max(map(int, used), default=0) + cached)


def _texts(*paths: Path) -> Iterator[str]:
    """The texts of those that can be read."""
    for path in paths:
        try:
            yield path.read_text().strip()
        except OSError:
            continue


def _number(path: Path, name: str) -> int:
    """The number behind ``name`` in a file of names and numbers; 0 if it is not there."""
    for text in _texts(path):
        for line in text.splitlines():
            words = line.split()
            if words and words[0] == name:
                return int(words[1])
    return 0
