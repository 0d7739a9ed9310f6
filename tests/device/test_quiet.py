"""Nobody builds while anybody takes a time, where processors are too few for both."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from harness.device.quiet import Quiet
from harness.sandbox.pause_gate import PauseGate

pytestmark = pytest.mark.usefixtures("places")

WAIT_S = 30.0


class Builder:
    """A judge's builds: a thread that begins one after the other, and says how many are begun."""

    def __init__(self) -> None:
        self.gate = PauseGate()
        self.begun = threading.Semaphore(0)
        self.over = threading.Event()
        self.working = 0

    def run(self) -> None:
        while not self.over.is_set():
            with self.gate.work():
                self.working += 1
                self.begun.release()
                self.working -= 1

    @contextmanager
    def at_work(self) -> Iterator[None]:
        thread = threading.Thread(target=self.run)
        with Quiet().builds(self.gate):
            thread.start()
            try:
                yield
            finally:
                self.over.set()
        thread.join()

    def begins(self, wait_s: float) -> bool:
        while self.begun.acquire(blocking=False):
            pass
        return self.begun.acquire(timeout=wait_s)


def test_builds_of_all_judges_stand_still_while_one_times() -> None:
    builders = [Builder(), Builder()]
    with builders[0].at_work(), builders[1].at_work():
        for _ in range(2):
            assert all(builder.begins(WAIT_S) for builder in builders)
            with Quiet().timing(lambda _: None):
                assert not any(builder.begins(0.2) for builder in builders)
                assert not any(builder.working for builder in builders)
        assert all(builder.begins(WAIT_S) for builder in builders)


def test_several_may_time_at_once() -> None:
    builder = Builder()
    with builder.at_work():
        with Quiet().timing(lambda _: None):
            with Quiet().timing(lambda _: None):
                pass
            assert not builder.begins(0.2)  # the first is not over yet
        assert builder.begins(WAIT_S)


def test_who_comes_while_somebody_times_waits_to_build() -> None:
    builder = Builder()
    with Quiet().timing(lambda _: None):
        with builder.at_work():
            assert not builder.begins(0.2)
        assert builder.over.is_set()  # and ends all the same


def test_a_build_that_cannot_stop_at_once_is_waited_for() -> None:
    gate, inside, goes_on = PauseGate(), threading.Event(), threading.Event()
    timed = threading.Event()

    def build() -> None:
        with gate.work():
            inside.set()
            assert goes_on.wait(WAIT_S)
            assert not timed.is_set()

    def time_it() -> None:
        with Quiet().timing(lambda _: None):
            timed.set()

    with Quiet().builds(gate):
        threads = [threading.Thread(target=build), threading.Thread(target=time_it)]
        threads[0].start()
        assert inside.wait(WAIT_S)
        threads[1].start()
        assert not timed.wait(0.2)
        goes_on.set()
        assert timed.wait(WAIT_S)
        for thread in threads:
            thread.join()


def test_a_build_that_cannot_stand_still_has_turns_too() -> None:
    class WaitedError(Exception):
        pass

    def give_up(_: float) -> None:
        raise WaitedError

    with Quiet().building(lambda _: None), pytest.raises(WaitedError), Quiet().timing(give_up):
        pass
    with Quiet().timing(lambda _: None), pytest.raises(WaitedError), Quiet().building(give_up):
        pass
    with Quiet().building(lambda _: None), Quiet().building(lambda _: None):
        pass
    with Quiet().timing(lambda _: None):
        pass
