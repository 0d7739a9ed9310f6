"""Control groups: the logic on folders that look like the kernel's, and one where it has them."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.inside import Inside, explore

from harness.doctor import examine as doctor
from harness.doctor.examine import State
from harness.records.result import Verdict
from harness.sandbox import cgroup
from harness.sandbox.cgroup import Group
from harness.session.channel import Channel

MIB = 1 << 20


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The group of this process, delegated, on a machine that has cgroup v2."""
    folder = tmp_path / "app.slice" / "run-1.scope"
    folder.mkdir(parents=True)
    (folder / "cgroup.controllers").write_text("cpu memory pids\n")
    (folder / "cgroup.procs").write_text(f"{os.getpid()}\n")
    own = tmp_path / "own"
    own.write_text("4:memory:/other\n0::/app.slice/run-1.scope\n")
    monkeypatch.setattr(cgroup, "_MOUNT", tmp_path)
    monkeypatch.setattr(cgroup, "_OWN", own)
    monkeypatch.setattr(cgroup, "_GONE_S", 0.1)
    monkeypatch.setattr(os, "getxattr", lambda path, _: b"1" if Path(path) == folder else b"0")
    cgroup._delegated.cache_clear()
    yield folder
    cgroup._delegated.cache_clear()


def test_the_judge_makes_room_in_a_group_of_its_own(base: Path) -> None:
    assert cgroup.delegated() == base
    assert (base / "harness-judge/cgroup.procs").read_text() == str(os.getpid())
    assert (base / "cgroup.subtree_control").read_text() == "+memory +pids"


def test_a_judge_below_a_judge_makes_groups_beside_it(base: Path, tmp_path: Path) -> None:
    (tmp_path / "own").write_text("0::/app.slice/run-1.scope/harness-judge\n")
    (base / "cgroup.procs").write_text("")
    assert cgroup.delegated() == base


def _not_delegated(base: Path, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(os, "getxattr", lambda *_: b"0")


def _no_attribute(base: Path, patch: pytest.MonkeyPatch) -> None:
    def missing(*_: Any) -> bytes:
        raise OSError(61, "No data available")

    patch.setattr(os, "getxattr", missing)


def _others_in_it(base: Path, patch: pytest.MonkeyPatch) -> None:
    (base / "cgroup.procs").write_text(f"{os.getppid()}\n{os.getpid()}\n")


def _no_memory_controller(base: Path, patch: pytest.MonkeyPatch) -> None:
    (base / "cgroup.controllers").write_text("cpu pids\n")


def _first_version_alone(base: Path, patch: pytest.MonkeyPatch) -> None:
    cgroup._OWN.write_text("4:memory:/other\n")


def _busy(base: Path, patch: pytest.MonkeyPatch) -> None:
    (base / "cgroup.subtree_control").mkdir()


@pytest.mark.parametrize(
    "change",
    [
        _not_delegated,
        _no_attribute,
        _others_in_it,
        _no_memory_controller,
        _first_version_alone,
        _busy,
    ],
)
def test_nothing_is_touched_that_is_not_delegated(
    change: Any, base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    change(base, monkeypatch)
    assert cgroup.new_group(MIB) is None
    assert not (base / "cgroup.subtree_control").is_file()
    assert change is _busy or not (base / "harness-judge").exists()
    finding = doctor._memory()
    assert finding.state is State.OK
    assert "systemd-run --user --scope -p Delegate=yes" in finding.remedy


def test_doctor_says_that_the_kernel_limits_memory(base: Path) -> None:
    assert "cgroup" in doctor._memory().detail
    assert doctor._memory().remedy == ""


def test_a_group_has_limits_and_tells_what_it_holds(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = cgroup.new_group(256 * MIB)
    assert group is not None
    folder = group.members.parent
    assert folder.parent == base
    limits = {"memory.max": 320 * MIB, "memory.swap.max": 0, "memory.oom.group": 1}
    limits["pids.max"] = 1024
    assert {name: int((folder / name).read_text()) for name in limits} == limits
    assert (group.memory(), group.out_of_memory()) == (0, False)
    (folder / "memory.current").write_text(f"{100 * MIB}\n")
    stat = {"anon": 60, "shmem": 10, "active_file": 10, "inactive_file": 20}
    (folder / "memory.stat").write_text("".join(f"{k} {v * MIB}\n" for k, v in stat.items()))
    (folder / "memory.events").write_text("low 0\nmax 7\noom 1\noom_kill 0\n")
    assert (group.memory(), group.out_of_memory()) == (70 * MIB, False)
    (folder / "memory.events").write_text("low 0\nmax 7\noom 1\noom_kill 3\n")
    assert group.out_of_memory()
    monkeypatch.setattr(Path, "rmdir", shutil.rmtree)
    group.close()
    assert not folder.exists()
    assert (group.memory(), group.out_of_memory()) == (0, False)
    group.close()


def test_a_group_that_cannot_be_removed_is_left(base: Path) -> None:
    group = Group(base, MIB)
    group.close()
    assert (group.members.parent / "cgroup.kill").read_text() == "1"


@pytest.mark.parametrize("forked", [False, True])
def test_a_sandbox_joins_its_group_before_anything_else(
    base: Path, forked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Inside("report(1)", forked=forked) as inside:
        inside.loaded()
        (folder,) = base.glob("sandbox-*")
        assert (folder / "cgroup.procs").read_text() == "0"
        (folder / "memory.current").write_text(str(900 * MIB))
        (folder / "memory.stat").write_text("active_file 0\ninactive_file 0\n")
        assert inside.sandbox.memory() == 900 * MIB
        monkeypatch.setattr(Path, "rmdir", shutil.rmtree)
    assert not list(base.glob("sandbox-*"))


def test_a_kill_by_the_kernel_for_memory_is_a_memory_limit(base: Path) -> None:
    with Inside("") as inside:
        inside.loaded()
        (folder,) = base.glob("sandbox-*")
        (folder / "memory.events").write_text("oom_kill 1\n")
        inside.sandbox.process.kill()
        inside.sandbox.process.wait()
        channel = Channel(inside.sandbox, host_bytes=1 << 30, sanitized=False)
        fault = channel.look(float("inf"), 1.0)
        assert fault is not None
        assert fault.verdict is Verdict.MEMORY_LIMIT


def test_the_kernel_limits_a_sandbox() -> None:
    """Skipped where no group is delegated to the tests."""
    cgroup._delegated.cache_clear()
    if cgroup.delegated() is None:
        pytest.skip(f"no control group is delegated: {cgroup.HOW}")
    code = "import os; fd = os.memfd_create('x'); os.posix_fallocate(fd, 0, 600 << 20)"
    with Inside(code, memory_bytes=1 << 30, host_bytes=256 * MIB) as inside:
        assert subprocess.run(["true"], check=False).returncode == 0
        inside.sandbox.process.wait()
        assert inside.sandbox.out_of_memory()
    assert explore("report(1)") == 1
