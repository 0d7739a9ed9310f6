"""Seats for cards on machines that are made up: nobody's core is somebody else's."""

import math
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.made_up_machine import buses, machine

from harness.device.cpu_plan import CpuPlan, plan_cpus
from harness.device.topology import cards, siblings


def two_nodes(cards_each: int, cores_each: int) -> tuple[list[list[int]], dict[str, list[int]]]:
    """Cores of two threads, numbered as Linux does, and cards near either node."""
    count = 2 * cores_each
    cores = [[core, core + count] for core in range(count)]
    near = [
        [cpu for core in cores[node * cores_each : (node + 1) * cores_each] for cpu in core]
        for node in range(2)
    ]
    names = buses(2 * cards_each)
    return cores, {bus: near[number // cards_each] for number, bus in enumerate(names)}


def all_of(cores: Sequence[Sequence[int]]) -> list[int]:
    return [cpu for core in cores for cpu in core]


def assert_nothing_is_shared(plan: CpuPlan, system: Path) -> None:
    for one, other in combinations([*plan.seats.values(), *plan.spare], 2):
        assert one.cores.isdisjoint(other.cores)
    for seat in plan.seats.values():
        assert seat.runner != seat.judge
        assert {seat.runner, seat.judge} <= seat.cores
        if plan.apart:
            assert seat.cores.isdisjoint(plan.rest)
            # Neighbours on the same core are left idle.
            assert not (siblings(seat.runner, system) | siblings(seat.judge, system)) & plan.rest
            assert seat.judge not in siblings(seat.runner, system)


@pytest.mark.parametrize("count", [1, 2, 4])
def test_each_card_has_two_cores_near_it_and_nobody_elses(tmp_path: Path, count: int) -> None:
    cores, near = two_nodes(count, 16)
    system = machine(tmp_path, cores=cores, cards=near)
    allowed = all_of(cores)
    plan = plan_cpus(cards(system), allowed, system=system)
    assert sorted(plan.seats) == sorted(near)
    assert_nothing_is_shared(plan, system)
    for bus, seat in plan.seats.items():
        assert seat.cores <= set(near[bus])
        assert len(seat.cores) == 4
        assert not seat.cores & {0, 16}  # the first of each node see to interrupts
    assert plan.apart
    assert len(plan.rest) == len(allowed) - 4 * 2 * count
    assert plan.builders == len(plan.rest)


def test_a_machine_that_lists_its_cards_in_sys_alone(tmp_path: Path) -> None:
    cores, near = two_nodes(2, 8)
    system = machine(tmp_path, cores=cores, cards=near, proc=False)
    other = system / "sys/bus/pci/devices/0000:00:02.0"
    other.mkdir()
    (other / "vendor").write_text("0x8086\n")
    (other / "class").write_text("0x030000\n")
    sound = system / "sys/bus/pci/devices/0000:10:00.1"
    sound.mkdir()
    (sound / "vendor").write_text("0x10de\n")
    (sound / "class").write_text("0x040300\n")
    assert cards(system) == sorted(near)


def test_a_full_node_gives_its_last_cards_cores_of_the_other(tmp_path: Path) -> None:
    cores = [[core] for core in range(12)]
    near = {bus: range(5) for bus in buses(3)}
    system = machine(tmp_path, cores=cores, cards=near)
    plan = plan_cpus(cards(system), range(12), system=system)
    assert_nothing_is_shared(plan, system)
    assert plan.apart
    first, second, third = plan.seats.values()
    assert first.cores | second.cores == {1, 2, 3, 4}
    assert third.cores & {5, 6, 7, 8, 9, 10, 11}


def test_slow_cores_are_left_to_builds(tmp_path: Path) -> None:
    khz = dict.fromkeys(range(4), 5_000_000) | dict.fromkeys(range(4, 12), 3_000_000)
    system = machine(tmp_path, cores=[[c] for c in range(12)], cards={buses(1)[0]: ()}, khz=khz)
    plan = plan_cpus(buses(1), range(12), system=system)
    assert plan.seats[buses(1)[0]].cores == {1, 2}


def test_only_allowed_processors_have_a_place(tmp_path: Path) -> None:
    cores, near = two_nodes(1, 8)
    system = machine(tmp_path, cores=cores, cards=near)
    allowed = {8, 9, 10, 11, 12, 24, 25, 26}  # of the second node, three whole cores of five
    plan = plan_cpus(cards(system), allowed, system=system)
    assert_nothing_is_shared(plan, system)
    assert all(seat.cores <= allowed for seat in plan.seats.values())
    assert plan.rest <= allowed


def test_whole_cores_are_taken_before_those_that_somebody_else_may_use(tmp_path: Path) -> None:
    system = machine(tmp_path, cores=[[c, c + 8] for c in range(8)], cards={buses(1)[0]: ()})
    plan = plan_cpus(buses(1), {0, 1, 2, 3, 4, 5, 12, 13}, system=system)
    assert plan.seats[buses(1)[0]].cores == {4, 5, 12, 13}


def test_with_a_part_of_the_cards_goes_a_part_of_the_processors(tmp_path: Path) -> None:
    """As Slurm gives them: eight cards, of which this job has one, with eight of 64 processors."""
    cores, near = two_nodes(4, 16)
    system = machine(tmp_path, cores=cores, cards=near)
    allowed = {4, 5, 6, 7, 36, 37, 38, 39}
    all_cards = plan_cpus(cards(system), allowed, system=system)
    assert not all_cards.apart
    mine = plan_cpus(cards(system), allowed, [buses(8)[1]], system=system)
    assert mine.apart
    assert list(mine.seats) == [buses(8)[1]]
    assert_nothing_is_shared(mine, system)


def test_one_of_several_judges_leaves_the_other_cards_seats_alone(tmp_path: Path) -> None:
    """Two commands that know nothing of each other, each with one card visible."""
    cores, near = two_nodes(1, 8)
    system = machine(tmp_path, cores=cores, cards=near)
    plans = [plan_cpus(cards(system), all_of(cores), [bus], system=system) for bus in sorted(near)]
    assert plans[0] == plans[1]


def test_few_cores_have_seats_but_builds_stand_still(tmp_path: Path) -> None:
    system = machine(tmp_path, cores=[[c] for c in range(4)], cards=dict.fromkeys(buses(2), ()))
    plan = plan_cpus(buses(2), range(4), system=system)
    assert_nothing_is_shared(plan, system)
    assert not plan.apart
    assert plan.rest == frozenset(range(4))
    assert plan.builders == 3


def test_where_cores_do_not_suffice_processors_are_seats(tmp_path: Path) -> None:
    system = machine(tmp_path, cores=[[0, 2], [1, 3]], cards=dict.fromkeys(buses(2), ()))
    plan = plan_cpus(buses(2), range(4), system=system)
    assert_nothing_is_shared(plan, system)
    assert not plan.apart


def test_where_processors_do_not_suffice_cards_share_seats(tmp_path: Path) -> None:
    system = machine(tmp_path, cores=[[c] for c in range(4)], cards=dict.fromkeys(buses(5), ()))
    plan = plan_cpus(buses(5), range(4), system=system)
    seats = [plan.seats[bus] for bus in buses(5)]
    assert len(set(seats)) == 2
    assert seats[0] != seats[1]
    assert not plan.apart


def test_one_processor_has_no_seats(tmp_path: Path) -> None:
    plan = plan_cpus(buses(2), {3}, system=tmp_path)
    assert (plan.seats, plan.rest, plan.apart, plan.builders) == ({}, {3}, False, 1)


def test_a_quota_leaves_times_what_they_need(tmp_path: Path) -> None:
    """Whoever is over it stands still as a whole, timed or not."""
    cores, near = two_nodes(1, 16)
    system = machine(tmp_path, cores=cores, cards=near)
    allowed = all_of(cores)
    roomy = plan_cpus(cards(system), allowed, quota=10.5, system=system)
    assert (roomy.apart, roomy.builders) == (True, 6)
    tight = plan_cpus(cards(system), allowed, quota=4.5, system=system)
    assert (tight.apart, tight.builders) == (False, 3)
    assert plan_cpus(cards(system), allowed, quota=0.5, system=system).builders == 1


def test_spare_seats_are_made_of_what_is_left(tmp_path: Path) -> None:
    system = machine(tmp_path, cores=[[c] for c in range(9)], cards={buses(1)[0]: ()})
    plan = plan_cpus(buses(1), range(9), system=system)
    assert_nothing_is_shared(plan, system)
    assert len(plan.spare) == 3
    assert all(seat.cores <= plan.rest for seat in plan.spare)


@given(
    threads=st.integers(1, 2),
    core_count=st.integers(1, 24),
    card_count=st.integers(1, 8),
    taken=st.sets(st.integers(0, 47)),
    near=st.lists(st.sets(st.integers(0, 60)), min_size=8, max_size=8),
    quota=st.sampled_from([math.inf, 0.3, 2.0, 7.5, 100.0]),
)
def test_plans_hold_on_any_machine(
    tmp_path_factory: pytest.TempPathFactory,
    threads: int,
    core_count: int,
    card_count: int,
    taken: set[int],
    near: list[set[int]],
    quota: float,
) -> None:
    cores = [
        [core + core_count * thread for thread in range(threads)] for core in range(core_count)
    ]
    allowed = set(all_of(cores)) - taken or {0}
    names = buses(card_count)
    system = machine(
        tmp_path_factory.mktemp("machine"),
        cores=cores,
        cards={bus: sorted(local) for bus, local in zip(names, near, strict=False)},
    )
    plan = plan_cpus(names, allowed, quota=quota, system=system)
    assert plan == plan_cpus(names[::-1], allowed, quota=quota, system=system)
    assert plan.rest <= allowed
    assert plan.rest
    assert 1 <= plan.builders <= max(1, len(allowed))
    assert set(plan.seats) == (set(names) if len(allowed) > 1 else set())
    assert all(seat.cores <= allowed for seat in plan.seats.values())
    if len(allowed) >= 2 * card_count > 0 and len(allowed) > 1:
        assert_nothing_is_shared(plan, system)
