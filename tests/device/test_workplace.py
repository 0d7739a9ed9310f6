"""Judges of one host, who know nothing of each other, never time on one processor."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from support.made_up_machine import buses, machine

from harness.device.affinity import CpuAssignment, pinned
from harness.device.awake import KeptAwake
from harness.device.cpu_plan import CpuPlan, plan_cpus
from harness.device.file_locks import HostLock
from harness.device.workplace import Workplace, host_plan, keep_to

pytestmark = pytest.mark.usefixtures("places")

HOLDER = """
import sys
from harness.device.cpu_plan import CpuPlan, Seat
from harness.device.workplace import Workplace
seat = Seat(1, 2, frozenset({1, 2}))
plan = CpuPlan(seats={"a": seat}, spare=(), rest=frozenset({0, 3}), apart=True, builders=1)
place = Workplace("a", plan)
with place.timed(lambda _: None):
    print("timing", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def plan(tmp_path: Path) -> CpuPlan:
    """Two cards and twelve cores: two seats, three spare ones."""
    cores = [[c] for c in range(12)]
    system = machine(tmp_path / "m", cores=cores, cards=dict.fromkeys(buses(2), ()))
    return plan_cpus(buses(2), range(12), system=system)


@pytest.fixture
def crowded(tmp_path: Path) -> CpuPlan:
    """Four cards and four processors."""
    system = machine(
        tmp_path / "crowded", cores=[[c] for c in range(4)], cards=dict.fromkeys(buses(4), ())
    )
    return plan_cpus(buses(4), range(4), system=system)


def never(_: float) -> None:
    raise AssertionError("it waited")


class Waited(Exception):
    pass


def give_up(_: float) -> None:
    raise Waited


def test_a_runners_processor_stays_awake_where_there_are_others_for_all_else(
    plan: CpuPlan, crowded: CpuPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[tuple[int, bool]] = []

    class Noted(KeptAwake):
        @contextmanager
        def awake(self) -> Iterator[None]:
            kept.append((self._cpu, True))
            yield
            kept.append((self._cpu, False))

    monkeypatch.setattr("harness.device.workplace.KeptAwake", Noted)
    with closing(Workplace(buses(2)[0], plan)) as place, place.timed(never) as mine:
        assert mine is not None
        assert kept == [(mine.runner, True)]
    assert kept == [(mine.runner, True), (mine.runner, False)]
    with closing(Workplace(buses(4)[0], crowded)) as place, place.timed(never):
        assert len(kept) == 2


def test_each_card_has_the_seat_that_was_planned(plan: CpuPlan) -> None:
    one, other = (Workplace(bus, plan) for bus in buses(2))
    assert [one.seat, other.seat] == list(plan.seats.values())
    with one.timed(never) as mine, other.timed(never) as its:
        assert mine and its
        assert {mine.runner} | mine.judge | {its.runner} | its.judge == (
            plan.seats[buses(2)[0]].cores | plan.seats[buses(2)[1]].cores
        )
    one.close()
    other.close()


def test_a_seat_that_another_card_holds_by_another_plan_is_left_to_it(plan: CpuPlan) -> None:
    """As where one judge was given fewer processors, so that its seat is elsewhere."""
    first, second = buses(2)
    stranger = Workplace("x", CpuPlan(
        seats={"x": plan.seats[first]}, spare=(), rest=plan.rest, apart=True, builders=1
    ))  # fmt: skip
    mine = Workplace(first, plan)
    assert mine.seat == plan.spare[0]
    with stranger.timed(never), mine.timed(never):
        pass
    assert mine.seat is not None and stranger.seat is not None
    assert mine.beside() == plan.rest - mine.seat.cores
    # Builds of the second card keep off what the first has taken of the rest.
    assert Workplace(second, plan).beside() == plan.rest - mine.seat.cores
    mine.close()
    assert Workplace(second, plan).beside() == plan.rest
    stranger.close()
    assert Workplace(first, plan).seat == plan.seats[first]


def test_judges_of_one_card_share_its_seat_and_take_turns(plan: CpuPlan) -> None:
    one, again = (Workplace(buses(2)[0], plan) for _ in range(2))
    assert one.seat == again.seat
    with one.timed(never), pytest.raises(Waited), again.timed(give_up):
        pass
    with again.timed(never):
        pass


def test_cards_that_share_a_seat_take_turns(crowded: CpuPlan) -> None:
    places = [Workplace(bus, crowded) for bus in buses(4)]
    for number, place in enumerate(places):
        with place.timed(never):
            for other_number, other in enumerate(places):
                assert place.seat is not None and other.seat is not None
                meets = bool(place.seat.cores & other.seat.cores)
                if other_number != number and meets:
                    with pytest.raises(Waited), other.timed(give_up):
                        pass


def test_one_processor_is_taken_in_turns() -> None:
    plan = plan_cpus(["a", "b"], {0}, system=Path("/nowhere"))
    one, other = Workplace("a", plan), Workplace("b", plan)
    with one.timed(never) as seat:
        assert seat is None
        with pytest.raises(Waited), other.timed(give_up):
            pass


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_killed_judge_lets_go_of_seat_and_processors(number: signal.Signals) -> None:
    seats = {"a": (1, 2)}
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"timing\n"
    names = [f"cpu-{cpu}-{what}" for cpu in seats["a"] for what in ("seat", "timed")]
    held = [HostLock(name) for name in names]
    assert [lock.take() for lock in held] == [False] * 4
    process.send_signal(number)
    process.wait()
    assert [lock.take() for lock in held] == [True] * 4
    process.stdout.close()
    if process.stdin:
        process.stdin.close()


def test_runners_keep_off_the_judges_core_and_everybody_elses(tmp_path: Path) -> None:
    cores = [[c, c + 12] for c in range(12)]
    names = buses(2)
    system = machine(tmp_path / "m", cores=cores, cards=dict.fromkeys(names, ()))
    plan = plan_cpus(names, range(24), system=system)
    place = Workplace(names[0], plan)
    assert place.seat is not None
    assert place.seat.judge not in place.runners()
    assert place.seat.runner in place.runners()
    assert not place.runners() & plan.seats[names[1]].cores
    assert not place.beside() & (plan.seats[names[0]].cores | plan.seats[names[1]].cores)


def test_builders_are_divided_among_judges(plan: CpuPlan) -> None:
    assert plan.builders == 8
    assert Workplace(buses(2)[0], plan, judges=2).builders == 4
    assert Workplace(buses(2)[0], plan, judges=100).builders == 1


def test_builds_have_turns_only_where_cores_are_too_few(plan: CpuPlan, crowded: CpuPlan) -> None:
    assert Workplace(buses(2)[0], plan).quiet is None
    assert Workplace(buses(4)[0], crowded).quiet is not None


def test_the_plan_of_a_judge_alone_is_that_of_all_cards(tmp_path: Path) -> None:
    names = buses(2)
    system = machine(tmp_path / "m", cores=[[0], [1]], cards=dict.fromkeys(names, ()))
    assert host_plan(names[0], names, system) == host_plan(names[1], names, system)
    empty = tmp_path / "empty"  # neither /proc nor /sys knows a card: those that CUDA shows
    assert set(host_plan("x", ["y"], empty).seats) in ({"x", "y"}, set())


@pytest.fixture
def affinity() -> Iterator[set[int]]:
    before = os.sched_getaffinity(0)
    yield before
    keep_to(frozenset(before))


def test_a_timing_inside_a_timing_is_the_same(affinity: set[int]) -> None:
    """A lock is not waited for by whoever holds it."""
    for seat in (CpuAssignment(min(affinity), frozenset({max(affinity)})), None):
        plan = plan_cpus(["a"], affinity if seat else {min(affinity)}, system=Path("/nowhere"))
        place = Workplace("a", plan)
        with pinned("a", lambda place=place: place.timed(never)) as outer:
            with pinned("a", lambda place=place: place.timed(never)) as inner:
                assert inner == outer
            assert (outer is None) == (seat is None or len(affinity) == 1)
        assert os.sched_getaffinity(0) == affinity


def test_a_judges_threads_keep_off_the_seats_of_others(affinity: set[int]) -> None:
    place = Workplace("none", plan_cpus(["b"], affinity, system=Path("/nowhere")))
    place.settle()
    assert os.sched_getaffinity(0) <= affinity
    assert os.sched_getaffinity(0)
