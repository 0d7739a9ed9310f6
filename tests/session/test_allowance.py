"""What a submission may take over many runs, by a clock that is made up."""

import pytest

from harness.records.result import Verdict
from harness.session import allowance as module
from harness.session.allowance import Allowance


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
