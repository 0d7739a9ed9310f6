"""How many processors a process may keep busy, on machines that are made up."""

import math
import os
from pathlib import Path

import pytest

from harness.sandbox.processors import quota, usable_processors


def _group(folder: Path, **texts: object) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name.replace("__", ".")).write_text(f"{text}\n")


def _in(system: Path, lines: str) -> Path:
    (system / "proc/self").mkdir(parents=True)
    (system / "proc/self/cgroup").write_text(lines)
    return system


def test_without_control_groups_there_is_no_quota(tmp_path: Path) -> None:
    assert quota(tmp_path) == math.inf
    assert usable_processors(tmp_path) == len(os.sched_getaffinity(0))


@pytest.mark.parametrize("place", ["a/b", "a", "."])
def test_the_tightest_quota_above_us_counts(tmp_path: Path, place: str) -> None:
    system = _in(tmp_path, "0::/a/b\n")
    top = system / "sys/fs/cgroup"
    for folder in ("a/b", "a", "."):
        _group(top / folder, cpu__max="max 100000")
    assert quota(system) == math.inf
    _group(top / place, cpu__max="350000 100000")
    assert quota(system) == 3.5


@pytest.mark.parametrize("mounted", ["cpu,cpuacct", "cpu"])
def test_the_first_version_counts_too(tmp_path: Path, mounted: str) -> None:
    system = _in(tmp_path, "9:memory:/x\n7:cpu,cpuacct:/docker/f00\n3:cpuset:/y\n0::/\n")
    group = system / "sys/fs/cgroup" / mounted  # as a container sees it: its own is the top
    _group(group, cpu__cfs_quota_us=150000, cpu__cfs_period_us=100000)
    assert quota(system) == 1.5
    assert usable_processors(system) == 1
    _group(group, cpu__cfs_quota_us=-1)
    assert quota(system) == math.inf


@pytest.mark.parametrize("text", ["", "x y", "100 0", "100", "0 100"])
def test_nonsense_is_no_quota(tmp_path: Path, text: str) -> None:
    system = _in(tmp_path, "0::/\n")
    _group(system / "sys/fs/cgroup", cpu__max=text)
    assert quota(system) == math.inf


def test_a_quota_below_one_leaves_one(tmp_path: Path) -> None:
    system = _in(tmp_path, "0::/\n")
    _group(system / "sys/fs/cgroup", cpu__max="20000 100000")
    assert usable_processors(system) == 1


def test_affinity_counts(tmp_path: Path) -> None:
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(before)})
        assert usable_processors(tmp_path) == 1
    finally:
        os.sched_setaffinity(0, before)
