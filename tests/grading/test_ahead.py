"""Sessions that are started ahead: taken by whom they were started for, ended else."""

import threading
from typing import Any, cast

import pytest

from harness.device.base import Device
from harness.errors import MachineError
from harness.grading.ahead import StartedAhead, Wanted
from harness.problem.terms import Limits
from harness.session.programs import RunnerProgram, source_program

LIMITS = Limits()
ONE, OTHER, THIRD = (Wanted(source_program(text), LIMITS) for text in (b"one", b"other", b"third"))


class Opened:
    """A session that notes where it was started, and whether it was closed."""

    def __init__(self, program: RunnerProgram, *, fails: bool = False) -> None:
        self.program, self.fails = program, fails
        self.thread = ""
        self.closed = False

    def start(self) -> None:
        self.thread = threading.current_thread().name
        if self.fails:
            raise MachineError("no sandbox")

    def close(self) -> None:
        self.closed = True


class Opener:
    """Opens sessions, and remembers them."""

    def __init__(self, *, fails: bool = False) -> None:
        self.fails = fails
        self.opened: list[Opened] = []

    def __call__(self, program: RunnerProgram, _: Device, __: Limits) -> Any:
        self.opened.append(Opened(program, fails=self.fails))
        return self.opened[-1]


def ahead_of(opener: Opener) -> StartedAhead:
    return StartedAhead(opener, cast(Device, None))


def test_it_is_started_elsewhere_and_taken_once() -> None:
    opener = Opener()
    ahead = ahead_of(opener)
    ahead.begin([ONE])
    ahead.begin([Wanted(source_program(b"one"), LIMITS)])
    ahead.settle()
    assert ahead.take(ONE) is cast(Any, opener.opened[0])
    assert opener.opened[0].thread.startswith("start-ahead")
    assert ahead.take(ONE) is cast(Any, opener.opened[1])
    assert opener.opened[1].thread == ""
    ahead.close()
    assert [each.closed for each in opener.opened] == [False, False]


@pytest.mark.parametrize("other", [OTHER, Wanted(ONE.program, Limits(call_s=1.0))])
def test_it_is_for_nobody_else(other: Wanted) -> None:
    opener = Opener()
    ahead = ahead_of(opener)
    ahead.begin([ONE])
    taken = ahead.take(other)
    assert taken.program is other.program  # type: ignore[attr-defined]
    ahead.begin([OTHER])
    assert opener.opened[0].closed
    ahead.close()
    assert [each.closed for each in opener.opened] == [True, False, True]


def test_a_few_are_started_and_stay_whatever_comes_before_them() -> None:
    opener = Opener()
    ahead = ahead_of(opener)
    ahead.begin([OTHER, THIRD])  # what comes first is not built yet
    ahead.begin([ONE, OTHER, THIRD])
    ahead.settle()
    assert [each.program for each in opener.opened] == [OTHER.program, THIRD.program]
    assert ahead.take(ONE) is cast(Any, opener.opened[2])
    assert ahead.take(OTHER) is cast(Any, opener.opened[0])
    ahead.begin([THIRD, ONE])
    ahead.settle()
    assert [each.program for each in opener.opened[3:]] == [ONE.program]
    ahead.close()
    assert [each.closed for each in opener.opened] == [False, True, False, True]


def test_what_does_not_start_is_an_error_of_its_own_turn() -> None:
    opener = Opener(fails=True)
    ahead = ahead_of(opener)
    ahead.begin([ONE])
    ahead.settle()
    with pytest.raises(MachineError, match="no sandbox"):
        ahead.take(ONE)
    ahead.begin([ONE])
    ahead.close()
    assert [each.closed for each in opener.opened] == [True, True]
