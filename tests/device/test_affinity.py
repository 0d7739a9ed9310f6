"""Runners share a processor near the card, and the judge keeps away from it."""

import os
import re
from pathlib import Path

import pytest
from harness.device.exclusive import exclusive_timing
from hypothesis import given
from hypothesis import strategies as st

from harness.device import affinity as seats
from harness.device.affinity import CpuAssignment, assign_cpus, pinned
from harness.device.choose import open_device
from harness.device.cuda import CudaDevice
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


def test_one_processor_is_all_there_is() -> None:
    assert assign_cpus({3}, BUS) is None


def test_nothing_is_known_of_the_machine(tmp_path: Path) -> None:
    assert assign_cpus(range(4), BUS, tmp_path) == CpuAssignment(1, frozenset({0, 2, 3}))


def test_a_core_is_not_shared_with_the_judge(tmp_path: Path) -> None:
    system = machine(tmp_path, cores=[[0, 4], [1, 5], [2, 6], [3, 7]])
    assert assign_cpus(range(8), BUS, system) == CpuAssignment(5, frozenset({0, 2, 3, 4, 6, 7}))


def test_a_single_core_is_shared_if_it_must_be(tmp_path: Path) -> None:
    system = machine(tmp_path, cores=[[0, 1]])
    assert assign_cpus({0, 1}, BUS, system) == CpuAssignment(1, frozenset({0}))


def test_only_what_is_allowed_is_taken(tmp_path: Path) -> None:
    system = machine(tmp_path, cores=[[0, 4], [1, 5], [2, 6], [3, 7]])
    assert assign_cpus({4, 5, 7}, BUS, system) == CpuAssignment(5, frozenset({4, 7}))


def test_processors_near_the_card_come_first(tmp_path: Path) -> None:
    system = machine(tmp_path, cores=[[cpu] for cpu in range(8)], near="4-5,7")
    assert assign_cpus(range(8), BUS, system) == CpuAssignment(5, frozenset(range(8)) - {5})


def test_those_near_the_card_may_not_be_allowed(tmp_path: Path) -> None:
    system = machine(tmp_path, cores=[[cpu] for cpu in range(8)], near="4-7")
    assert assign_cpus({0, 1, 2}, BUS, system) == CpuAssignment(1, frozenset({0, 2}))


def test_slow_cores_are_left_to_the_judge(tmp_path: Path) -> None:
    khz = {0: 3_900_000, 1: 3_900_000, 2: 5_100_000, 3: 5_000_000}
    system = machine(tmp_path, cores=[[0], [1], [2], [3]], khz=khz)
    assert assign_cpus(range(4), BUS, system) == CpuAssignment(3, frozenset({0, 1, 2}))


def test_each_card_has_a_processor_of_its_own(tmp_path: Path) -> None:
    cards = ("0000:0a:00.0", BUS, "0000:2c:00.0")
    system = machine(tmp_path, cores=[[cpu] for cpu in range(4)], cards=cards)
    taken = [assign_cpus(range(4), card, system) for card in cards]
    assert [each.runner for each in taken if each] == [1, 2, 3]


@given(
    st.sets(st.integers(0, 200), min_size=2),
    st.sets(st.integers(0, 200)),
    st.text("0123456789,-x\n", max_size=12),
)
def test_whatever_the_machine_says(
    tmp_path_factory: pytest.TempPathFactory, allowed: set[int], near: set[int], odd: str
) -> None:
    system = tmp_path_factory.mktemp("system")
    machine(system, cores=[[cpu] for cpu in sorted(allowed)[::2]], near=",".join(map(str, near)))
    cpu = min(allowed)
    (system / f"sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list").write_text(odd)
    taken = assign_cpus(allowed, BUS, system)
    assert taken is not None
    assert taken.runner in allowed
    assert taken.judge
    assert taken.judge < allowed
    assert taken.runner not in taken.judge
    assert taken == assign_cpus(allowed, BUS, system)


def test_this_thread_keeps_away_and_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    card = object.__new__(CudaDevice)
    card.bus = BUS
    before = os.sched_getaffinity(0)
    monkeypatch.setattr(
        seats, "take_seats", lambda *_: CpuAssignment(1000, frozenset({min(before)}))
    )
    with pinned(card):
        assert card.pinned_cpu == 1000
        assert os.sched_getaffinity(0) == {min(before)}
        with pinned(card):
            assert card.pinned_cpu == 1000
        assert card.pinned_cpu == 1000
    assert card.pinned_cpu is None
    assert os.sched_getaffinity(0) == before


def test_a_system_that_does_not_let_us_choose(monkeypatch: pytest.MonkeyPatch) -> None:
    card = object.__new__(CudaDevice)
    card.bus = BUS
    before = os.sched_getaffinity(0)
    monkeypatch.setattr(seats, "take_seats", lambda *_: CpuAssignment(0, frozenset({100_000})))
    with pinned(card):
        assert card.pinned_cpu is None
        assert os.sched_getaffinity(0) == before
    assert os.sched_getaffinity(0) == before


def test_one_processor_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    card = object.__new__(CudaDevice)
    card.bus = BUS
    monkeypatch.setattr(seats, "take_seats", lambda *_: None)
    with pinned(card):
        assert card.pinned_cpu is None


@pytest.mark.gpu
def test_a_runner_of_recorded_calls_goes_there() -> None:
    card = open_device("cuda")
    trusted = TrustedRunners(card)
    try:
        blank = trusted.blank()
        assert blank is not None
        with exclusive_timing(card, lambda _: None):
            blank.settle("here")
            allowed = [_allowed(pid) for pid in processes.descendants(os.getpid())]
            assert str(card.pinned_cpu) in allowed
    finally:
        trusted.close()


def _allowed(pid: int) -> str:
    status = Path(f"/proc/{pid}/status").read_text()
    return re.findall(r"^Cpus_allowed_list:\s*(\S+)$", status, re.MULTILINE)[0]
