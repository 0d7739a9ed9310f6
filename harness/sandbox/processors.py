"""The processors that this process may use: those it is allowed, and how many it may keep busy."""

import math
import os
from pathlib import Path

from harness.sandbox.control_groups import own_groups


def usable_processors(system: Path = Path("/")) -> int:
    """How many processors this process may keep busy, at least one.

    Those that its affinity allows (with it cpusets), or fewer where a control group has a quota of
    processor time. ``system`` is where ``/proc`` and ``/sys`` are.
    """
    return max(1, math.floor(min(len(os.sched_getaffinity(0)), quota(system))))


def quota(system: Path = Path("/")) -> float:
    """Processors that our control groups' quotas are worth, the tightest; infinite without one."""
    groups = own_groups(system / "proc/self/cgroup", system / "sys/fs/cgroup", "cpu")
    return min(map(_quota, groups), default=math.inf)


def _quota(group: Path) -> float:
    try:
        if (second := group / "cpu.max").exists():
            limit, period = second.read_text().split()
        else:
            limit = (group / "cpu.cfs_quota_us").read_text().strip()
            period = (group / "cpu.cfs_period_us").read_text().strip()
        most = int(limit) / int(period)
    except (OSError, ValueError, ZeroDivisionError):  # "max" is no number
        return math.inf
    return most if most > 0 else math.inf
