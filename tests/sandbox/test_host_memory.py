"""What the machine and its control groups leave for builds."""

from pathlib import Path

import pytest

from harness.sandbox import host_memory
from harness.sandbox.host_memory import affordable_builders, build_share, free_bytes

MIB = 1 << 20


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine of 16 GiB of which 9 are free, in no control group yet."""
    proc = tmp_path / "proc"
    (proc / "self").mkdir(parents=True)
    (proc / "meminfo").write_text(f"MemTotal: {16 << 20} kB\nMemAvailable: {9 << 20} kB\n")
    (proc / "vmstat").write_text("nr_free_pages 4\noom_kill 7\n")
    (proc / "self" / "cgroup").write_text("")
    monkeypatch.setattr(host_memory, "_PROC", proc)
    monkeypatch.setattr(host_memory, "_CGROUPS", tmp_path / "cgroup")
    return tmp_path


def _group(folder: Path, **texts: object) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name.replace("__", ".")).write_text(f"{text}\n")


def test_without_control_groups_the_machine_counts(machine: Path) -> None:
    assert machine.is_dir()
    assert free_bytes() == 9 << 30
    assert host_memory.reserve_bytes() == 1 << 30
    assert host_memory.oom_kills() == 7


@pytest.mark.parametrize("place", ["a/b", "a", "."])
def test_the_tightest_group_above_us_counts(machine: Path, place: str) -> None:
    (machine / "proc/self/cgroup").write_text("0::/a/b\n")
    top = machine / "cgroup"
    _group(top / "a/b", memory__max="max", memory__current=0, memory__stat="inactive_file 0")
    limits = {"memory__max": 1000 * MIB, "memory__current": 900 * MIB}
    _group(top / place, **limits, memory__stat=f"anon 5\ninactive_file {300 * MIB}")
    assert free_bytes() == 400 * MIB


def test_the_first_version_of_control_groups_counts_too(machine: Path) -> None:
    (machine / "proc/self/cgroup").write_text("5:cpu:/x\n4:memory:/docker/f00\n0::/\n")
    # As a container sees it: its own group is the top.
    limits = {"memory__limit_in_bytes": 800 * MIB, "memory__usage_in_bytes": 500 * MIB}
    _group(machine / "cgroup/memory", **limits, memory__stat="total_inactive_file 0")
    assert free_bytes() == 300 * MIB
    unlimited = {"memory__limit_in_bytes": 9223372036854771712}
    _group(machine / "cgroup/memory", **unlimited)
    host_memory._groups.cache_clear()
    assert free_bytes() == 9 << 30


def test_builders_share_what_is_free(machine: Path) -> None:
    assert machine.is_dir()
    assert build_share(2 << 30, 1) == 2 << 30
    assert build_share(8 << 30, 1) == 8 << 30
    assert build_share(8 << 30, 4) == 2 << 30
    assert build_share(8 << 30, 1000) == 256 * MIB
    assert affordable_builders(2) == 2
    assert affordable_builders(96) == 4


def test_a_machine_without_free_memory_still_builds_one_file_at_a_time(machine: Path) -> None:
    (machine / "proc/meminfo").write_text("MemTotal: 1000000 kB\nMemAvailable: 1000 kB\n")
    assert affordable_builders(96) == 1
    assert build_share(8 << 30, 1) == 256 * MIB


def test_this_machine_has_some(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    host_memory._groups.cache_clear()
    assert 0 < free_bytes() < 1 << 50
    assert 0 < host_memory.reserve_bytes() <= 1 << 30
