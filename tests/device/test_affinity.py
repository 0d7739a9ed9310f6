"""Runners share a processor near the card, and the judge keeps away from it."""

import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.device import affinity
from harness.device.affinity import CpuAssignment, assign_cpus, pinned
from harness.device.choose import open_device
from harness.sandbox import processes
from harness.timing.trusted import TrustedRunners

BUS = "0000:1b:00.0"


def machine(
    root: Path,
    *,
    cores: list[list[int]],
    near: str = "",
    khz: dict[int, int] | None = None,
    cards: tuple[str, ...] = (BUS,),
) -> Path:
    """What a machine with such ``cores`` says of itself under ``root``."""
    for core in cores:
        for cpu in core:
            folder = root / f"sys/devices/system/cpu/cpu{cpu}"
            (folder / "topology").mkdir(parents=True)
            siblings = ",".join(map(str, core))
            (folder / "topology/thread_siblings_list").write_text(f"{siblings}\n")
            if khz:
                (folder / "cpufreq").mkdir()
                (folder / "cpufreq/cpuinfo_max_freq").write_text(f"{khz[cpu]}\n")
    for card in cards:
        (root / "proc/driver/nvidia/gpus" / card).mkdir(parents=True)
    if near:
        place = root / "sys/bus/pci/devices" / BUS
        place.mkdir(parents=True)
        (place / "local_cpulist").write_text(f"{near}\n")
    return root


def test_assign_cpus_gives_none_for_a_single_processor() -> None:
    assert assign_cpus({3}, BUS) is None


def test_assign_cpus_works_without_facts_of_the_machine(tmp_path: Path) -> None:
    assert assign_cpus(range(4), BUS, tmp_path) == CpuAssignment(1, frozenset({0, 2, 3}))


def test_a_core_is_not_shared_with_the_judge(tmp_path: Path) -> None:
    system = machine(tmp_path, cores=[[0, 4], [1, 5], [2, 6], [3, 7]])
    assert assign_cpus(range(8), BUS, system) == CpuAssignment(5, frozenset({0, 2, 3, 4, 6, 7}))


def test_a_single_core_is_shared_if_it_must_be(tmp_path: Path) -> None:
    system = machine(tmp_path, cores=[[0, 1]])
    assert assign_cpus({0, 1}, BUS, system) == CpuAssignment(1, frozenset({0}))


def test_only_allowed_processors_are_assigned(tmp_path: Path) -> None:
    system = machine(tmp_path, cores=[[0, 4], [1, 5], [2, 6], [3, 7]])
    assert assign_cpus({4, 5, 7}, BUS, system) == CpuAssignment(5, frozenset({4, 7}))


def test_processors_near_the_card_come_first(tmp_path: Path) -> None:
    system = machine(tmp_path, cores=[[cpu] for cpu in range(8)], near="4-5,7")
    assert assign_cpus(range(8), BUS, system) == CpuAssignment(5, frozenset(range(8)) - {5})


def test_near_processors_that_are_not_allowed_are_ignored(tmp_path: Path) -> None:
    system = machine(tmp_path, cores=[[cpu] for cpu in range(8)], near="4-7")
    assert assign_cpus({0, 1, 2}, BUS, system) == CpuAssignment(1, frozenset({0, 2}))


def test_slow_cores_are_left_to_the_judge(tmp_path: Path) -> None:
    khz = {0: 3_900_000, 1: 3_900_000, 2: 5_100_000, 3: 5_000_000}
    system = machine(tmp_path, cores=[[0], [1], [2], [3]], khz=khz)
    assert assign_cpus(range(4), BUS, system) == CpuAssignment(3, frozenset({0, 1, 2}))


def test_each_card_has_a_processor_of_its_own(tmp_path: Path) -> None:
    cards = ("0000:0a:00.0", BUS, "0000:2c:00.0")
    system = machine(tmp_path, cores=[[cpu] for cpu in range(4)], cards=cards)
    assigned = [assign_cpus(range(4), card, system) for card in cards]
    assert [each.runner for each in assigned if each] == [1, 2, 3]


@given(
    st.sets(st.integers(0, 200), min_size=2),
    st.sets(st.integers(0, 200)),
    st.text("0123456789,-x\n", max_size=12),
)
def test_assign_cpus_copes_with_any_facts_of_the_machine(
    tmp_path_factory: pytest.TempPathFactory, allowed: set[int], near: set[int], odd: str
) -> None:
    system = tmp_path_factory.mktemp("system")
    machine(system, cores=[[cpu] for cpu in sorted(allowed)[::2]], near=",".join(map(str, near)))
    cpu = min(allowed)
    (system / f"sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list").write_text(odd)
    assigned = assign_cpus(allowed, BUS, system)
    assert assigned is not None
    assert assigned.runner in allowed
    assert assigned.judge
    assert assigned.judge < allowed
    assert assigned.runner not in assigned.judge
    assert assigned == assign_cpus(allowed, BUS, system)


def test_pinned_keeps_this_thread_away_until_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    before = os.sched_getaffinity(0)
    assigned = CpuAssignment(1000, frozenset({min(before)}))
    monkeypatch.setattr(affinity, "assign_cpus", lambda *_: assigned)
    with pinned(BUS) as cpu:
        assert cpu == 1000
        assert os.sched_getaffinity(0) == {min(before)}
        with pinned(BUS) as again:
            assert again == 1000
        assert os.sched_getaffinity(0) == {min(before)}
    assert os.sched_getaffinity(0) == before
    monkeypatch.setattr(affinity, "assign_cpus", lambda *_: None)
    with pinned(BUS) as later:
        assert later is None  # nothing of the first is left


def test_pinned_changes_nothing_where_the_system_does_not_allow_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = os.sched_getaffinity(0)
    assigned = CpuAssignment(0, frozenset({100_000}))
    monkeypatch.setattr(affinity, "assign_cpus", lambda *_: assigned)
    with pinned(BUS) as cpu:
        assert cpu is None
        assert os.sched_getaffinity(0) == before
    assert os.sched_getaffinity(0) == before


def test_pinned_changes_nothing_on_a_single_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    before = os.sched_getaffinity(0)
    monkeypatch.setattr(affinity, "assign_cpus", lambda *_: None)
    with pinned(BUS) as cpu:
        assert cpu is None
        assert os.sched_getaffinity(0) == before


@pytest.mark.gpu
def test_runners_of_recorded_calls_go_to_the_pinned_processor() -> None:
    card = open_device("cuda")
    trusted = TrustedRunners(card)
    try:
        with card.exclusive(lambda _: None) as held:
            overhead = trusted.overhead(held.runner_cpu)
            assert overhead is not None
            overhead.warm_up("here", held.runner_cpu)
            allowed = [_allowed(pid) for pid in processes.descendants(os.getpid())]
            assert str(held.runner_cpu) in allowed
    finally:
        trusted.close()


def _allowed(pid: int) -> str:
    status = Path(f"/proc/{pid}/status").read_text()
    return re.findall(r"^Cpus_allowed_list:\s*(\S+)$", status, re.MULTILINE)[0]
