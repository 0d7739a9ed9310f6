"""What a judge of several answers next, and which builds it uses."""

import pickle
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from queue import SimpleQueue
from types import SimpleNamespace
from typing import Any, cast

import pytest

from harness.device.cpu import CpuDevice
from harness.grading import builds, card_judge
from harness.grading.builds import Built
from harness.grading.card_judge import _Judge
from harness.grading.card_wire import Begun, BuildAhead, Done, Order
from harness.grading.job import Job, Options, Work
from harness.problem.package import Problem
from harness.progress.progress import NoProgress
from harness.solution.model import Invalid


class Judge:
    """A judge whose builds are done when a test says so; it answers with what was built."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.said: list[Any] = []
        self.asked: list[tuple[str, Options]] = []
        self.begun: list[tuple[Callable[[], Built], Future[Built]]] = []
        self.orders: SimpleQueue[bytes] = SimpleQueue()
        grader = SimpleNamespace(build=self._build, judge=self._judge)
        link = SimpleNamespace(send=self.said.append)
        self.builds: Any = SimpleNamespace(begin=self._begin)
        self.judge = _Judge(
            cast(Any, link), self.orders, CpuDevice(), cast(Any, grader), NoProgress()
        )

    def work(self, name: str) -> Work:
        job = Job(path=name, solution=Invalid("none"), problem=self.problem)
        return Work(job, Options(timing=False, dtype="float32"))

    def take(self, message: object) -> bool:
        self.orders.put(pickle.dumps(message))
        return self.judge._take(self.builds)

    def built(self, number: int) -> None:
        """The build that was begun as this one is done."""
        build, building = self.begun[number]
        building.set_result(build())

    def answer(self) -> list[Any]:
        """What is said of the next answer."""
        before = len(self.said)
        self.judge._answer(self.judge._next(), self.builds)
        return self.said[before:]

    def _begin(self, build: Callable[[], Built]) -> Future[Built]:
        self.begun.append((build, Future()))
        return self.begun[-1][1]

    def _build(self, job: Job, options: Options, *, ahead: bool) -> Built:
        assert ahead
        self.asked.append((job.path, options))
        return cast(Built, job.path)

    def _judge(self, job: Job, options: Options, building: Future[Built], *_: object) -> object:
        return building.result(), options.dtype


def test_what_is_built_is_graded_before_what_is_not(shift: Problem) -> None:
    judge = Judge(shift)
    for number, name in enumerate("abc"):
        assert judge.take(Order(number, judge.work(name)))
    judge.built(1)
    assert judge.answer() == [Begun(1), Done(1, ("b", "float32"))]
    judge.built(2)
    judge.built(0)
    assert judge.answer() == [Begun(0), Done(0, ("a", "float32"))]
    assert judge.answer() == [Begun(2), Done(2, ("c", "float32"))]
    assert judge.asked[0] == ("b", Options(timing=False, dtype="float32"))
    assert not judge.take(None)


def test_where_nothing_is_built_the_first_build_that_ends_is_waited_for(
    shift: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = Judge(shift)
    for number, name in enumerate("ab"):
        judge.take(Order(number, judge.work(name)))

    def wait(waiting: Iterable[Future[Built]], return_when: str) -> None:
        assert (len(list(waiting)), return_when) == (2, "FIRST_COMPLETED")
        judge.built(1)

    monkeypatch.setattr(builds, "wait", wait)
    assert judge.answer() == [Begun(1), Done(1, ("b", "float32"))]


def test_an_order_uses_what_was_built_for_it_ahead(shift: Problem) -> None:
    judge = Judge(shift)
    judge.take(BuildAhead(7, judge.work("a")))
    judge.built(0)
    judge.take(Order(7, judge.work("a")))
    assert len(judge.begun) == 1
    assert judge.answer() == [Begun(7), Done(7, ("a", "float32"))]


def test_a_number_of_an_earlier_list_stands_for_another_file(shift: Problem) -> None:
    judge = Judge(shift)
    judge.take(BuildAhead(7, judge.work("a")))  # another judge has graded it
    judge.take(Order(7, judge.work("b")))
    judge.built(1)
    assert judge.answer() == [Begun(7), Done(7, ("b", "float32"))]


def test_of_builds_ahead_the_oldest_are_dropped(
    shift: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(card_judge, "_MOST_UNASKED", 2)
    judge = Judge(shift)
    for number, name in enumerate("abc"):
        judge.take(BuildAhead(number, judge.work(name)))
    assert [building.cancelled() for _, building in judge.begun] == [True, False, False]
    judge.take(Order(0, judge.work("a")))
    judge.built(3)
    assert judge.answer() == [Begun(0), Done(0, ("a", "float32"))]
