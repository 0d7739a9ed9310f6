"""When a baseline that took longer than in other grades is noted, and when that is no news."""

from pathlib import Path
from typing import Any

import pytest
from support.samples import failed, interval, measurement, result, unranked

from harness.commands.grading import _with_baseline_notes
from harness.records.measurement import Clocks, Measurement
from harness.records.refs import DeviceRef, Environment
from harness.records.result import Result
from leaderboard.history import with_baseline_notes
from leaderboard.store import Store

CPU = DeviceRef(kind="cpu", name="AMD EPYC 9654")
LIBRARIES = {"harness": "0.1.0", "python": "3.11.9", "platform": "Linux", "torch": "2.11"}


def clocks(baseline_mhz: int) -> Clocks:
    return Clocks(
        sm_mhz=(1980, 1980),
        baseline_sm_mhz=(baseline_mhz, baseline_mhz),
        memory_mhz=(2619, 2619),
        baseline_memory_mhz=(2619, 2619),
        blocks=6,
        blocks_apart=0,
    )


def shape(
    baseline_s: float, relative: float = 0.002, spec: str = "n=1", clock: int = 0
) -> Measurement:
    return measurement(
        spec=spec,
        baseline_s=interval(baseline_s, relative),
        clocks=clocks(clock) if clock else None,
    )


def grade(*shapes: Measurement, **changes: Any) -> Result:
    return result(measurements=shapes, **changes)


def others(count: int = 5, clock: int = 0, **changes: Any) -> list[Result]:
    """Grades whose baseline takes a millisecond, give or take a tenth of a per cent."""
    times = [1e-3 * (1 + 1e-3 * (n % 3 - 1) + 1e-7 * n) for n in range(count)]
    return [grade(shape(time, clock=clock), **changes) for time in times]


def notes(mine: Result, recorded: list[Result]) -> tuple[str, ...]:
    found = with_baseline_notes(mine, lambda: recorded)
    assert found.model_copy(update={"notes": mine.notes}) == mine
    return found.notes


def test_a_slower_baseline_is_noted() -> None:
    mine = grade(shape(1.031e-3), notes=("one more",))
    assert notes(mine, others()) == (
        "one more",
        "n=1: the baseline took 3.1% longer than in the median of 5 other grades on such a card",
    )


@pytest.mark.parametrize(
    ("baseline_s", "relative", "noted"),
    [
        (0.9e-3, 0.002, False),
        (1.0e-3, 0.002, False),
        (1.019e-3, 0.001, False),
        (1.024e-3, 0.001, True),
        (1.024e-3, 0.01, False),  # its interval holds what is usual
    ],
)
def test_two_per_cent_beyond_its_interval_are_news(
    baseline_s: float, relative: float, *, noted: bool
) -> None:
    assert bool(notes(grade(shape(baseline_s, relative)), others())) is noted


@pytest.mark.parametrize(("mine", "noted"), [(1980, True), (1900, False), (1970, True), (0, True)])
def test_a_lower_clock_explains_a_longer_time(mine: int, *, noted: bool) -> None:
    slow = grade(shape(1.04e-3, clock=mine))
    assert bool(notes(slow, others(clock=1980))) is noted
    assert notes(slow, others()) != ()  # whose clocks are not known


def test_each_shape_is_held_against_its_own_time() -> None:
    mine = grade(shape(1.0e-3, spec="n=1"), shape(1.1e-3, spec="n=2"), shape(9.0, spec="n=3"))
    recorded = [
        grade(shape(1e-3 * (1 + 1e-6 * n), spec="n=1"), shape(1e-3 * (1 + 1e-6 * n), spec="n=2"))
        for n in range(4)
    ]
    (note,) = notes(mine, recorded)
    assert note.startswith("n=2: the baseline took 10.0% longer")


def test_a_few_grades_are_too_few() -> None:
    mine = grade(shape(2e-3))
    assert notes(mine, others(2)) == ()
    assert notes(mine, others(3)) != ()
    assert notes(mine, [mine, *others(2)]) == ()
    copies = [grade(shape(1e-3)) for _ in range(5)]  # of one measurement
    assert notes(mine, copies) == ()


@pytest.mark.parametrize(
    "different",
    [
        {"problem_hash": "p2"},
        {"dtype": "float16"},
        {"device": DeviceRef(kind="cuda", name="NVIDIA L4")},
        {"environment": Environment(**LIBRARIES | {"torch": "2.12"})},
        {"environment": Environment(**LIBRARIES, driver="590")},
        {"environment": Environment(**LIBRARIES, toolkit="13.1")},
        {"environment": Environment(**LIBRARIES | {"harness": "0.2.0"})},
    ],
    ids=lambda each: str(next(iter(each.values())))[-30:],
)
def test_grades_of_something_else_do_not_count(different: dict[str, Any]) -> None:
    same: dict[str, Any] = {"environment": Environment(**LIBRARIES)}
    assert notes(grade(shape(2e-3), **same), others(**same)) != ()
    assert notes(grade(shape(2e-3), **same), others(**same | different)) == ()


def test_without_a_gpu_or_a_time_there_is_nothing_to_say() -> None:
    assert notes(grade(shape(2e-3), device=CPU), others(device=CPU)) == ()
    assert notes(failed(), others()) == ()


def test_grades_that_are_not_ranked_have_a_baseline_too() -> None:
    recorded = [unranked(measurements=each.measurements) for each in others()]
    assert notes(grade(shape(2e-3)), recorded) != ()


def test_submit_asks_the_store(tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "results.sqlite")) as store:
        for each in [*others(), failed(), *others(problem="relu")]:
            store.add(each)
        noted = _with_baseline_notes(grade(shape(1.05e-3)), store)
        assert len(noted.notes) == 1
        assert "in the median of 5 other grades" in noted.notes[0]
        wrong = failed()
        assert _with_baseline_notes(wrong, store) is wrong


def test_rough_times_are_no_news_and_no_measure_of_any() -> None:
    slow = shape(1.031e-3)

    def never() -> list[Result]:
        raise AssertionError("records are read in vain")

    rough = grade(slow, effort="verdict")
    assert with_baseline_notes(rough, never) is rough
    assert notes(grade(slow), others(effort="verdict")) == ()
    assert len(notes(grade(slow, effort="quick"), others(effort="full"))) == 1
