"""What a submission may take over many runs, by a clock that is made up."""

import pytest

from harness.records.result import Verdict
from harness.session import own_time as module
from harness.session.allowance import Allowance
from harness.session.own_time import OwnTime


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, which a test sets."""
    now = [1000.0]
    monkeypatch.setattr(module, "clock", lambda: now[0])
    return now


def _run(allowance: Allowance, at: list[float], seconds: float, *, computes: bool) -> str:
    """Wait ``seconds`` with ten looks; the message of the fault, if there was one."""
    with allowance.used():
        for _ in range(10):
            at[0] += seconds / 10
            if (fault := allowance.look(lambda: computes)) is not None:
                assert fault.verdict is Verdict.TIME_LIMIT
                return fault.message
    return ""


def test_runs_add_up_and_what_is_between_them_does_not_count(at: list[float]) -> None:
    allowance = Allowance(30.0, 10.0)
    allowance.what = "its cases 1 to 4 of 9"
    for _ in range(3):
        assert _run(allowance, at, 9.9, computes=True) == ""
        at[0] += 1000
    message = _run(allowance, at, 9.9, computes=True)
    assert message == "its cases 1 to 4 of 9 took 30.7 s together; the limit is 30 s"


def test_time_without_computing_has_a_limit_of_its_own(at: list[float]) -> None:
    allowance = Allowance(100.0, 10.0)
    for _ in range(2):
        assert _run(allowance, at, 20, computes=True) == ""
        assert _run(allowance, at, 4, computes=False) == ""
    assert "without computing (asleep, or waiting); the limit is 10 s" in _run(
        allowance, at, 4, computes=False
    )


def test_without_that_limit_only_the_whole_counts(at: list[float]) -> None:
    allowance = Allowance(20.0)
    assert _run(allowance, at, 19, computes=False) == ""
    assert "the limit is 20 s" in _run(allowance, at, 19, computes=False)


class Load:
    """A submission on a machine that others use: what it has of a processor is set by a test."""

    def __init__(self) -> None:
        self.state = "R"
        self.seconds = 0.0

    def computes(self) -> bool:
        return self.state == "R"

    def processor_seconds(self) -> float:
        return self.seconds


def test_waiting_for_a_processor_is_not_its_own_time(at: list[float]) -> None:
    load = Load()
    own = OwnTime(load)
    start = own()
    for _ in range(100):  # one sixth of a processor
        at[0] += 0.06
        load.seconds += 0.01
        own()
    assert own() - start == pytest.approx(1.0)


def test_sleeping_is_its_own_time(at: list[float]) -> None:
    load = Load()
    own = OwnTime(load)
    load.state = "S"
    start = own()
    for _ in range(100):  # and what it computes between two looks counts once
        at[0] += 0.05
        load.seconds += 0.01
        own()
    assert own() - start == pytest.approx(5.0)


def test_the_count_of_a_process_that_ends_is_kept_and_counted_once(at: list[float]) -> None:
    load = Load()
    own = OwnTime(load)
    start = own()
    for seconds in (3.0, 1.0, 3.0, 3.5):
        load.seconds = seconds
        own()
    assert own() - start == pytest.approx(3.5)


def test_whoever_hides_its_time_gets_ten_times_the_limit(at: list[float]) -> None:
    own = OwnTime(Load())
    start = own()
    at[0] += 100
    assert own() - start == pytest.approx(10)


def test_limits_in_own_time_say_so(at: list[float]) -> None:
    load = Load()
    own = OwnTime(load)
    allowance = Allowance(30.0, 10.0)
    with allowance.used(own):
        at[0] += 250
        assert allowance.look(load.computes) is None
        load.seconds = 31
        fault = allowance.look(load.computes)
    assert fault is not None
    assert fault.message == "it took 31 s of computing or sleeping together; the limit is 30 s"
