"""A judge of several whose build begins only when its turn has come."""

from concurrent.futures import Future
from queue import SimpleQueue
from types import SimpleNamespace
from typing import Any, cast

from harness.device.cpu import CpuDevice
from harness.grading.builds import Built
from harness.grading.card_judge import _Judge
from harness.grading.card_wire import Order
from harness.grading.job import Job, Options, Work
from harness.problem.package import Problem
from harness.progress.progress import NoProgress
from harness.solution.model import Invalid


def test_a_build_that_begins_late_knows_its_options(shift: Problem) -> None:
    said: list[Any] = []
    asked: list[Options] = []

    def build(job: Job, options: Options, *, ahead: bool) -> Built:
        asked.append(options)
        return cast(Built, job.solution)

    def grade(job: Job, options: Options, *_: object) -> object:
        judge._build(job)
        return options

    grader = SimpleNamespace(build=build, judge=grade)
    builds = SimpleNamespace(begin=lambda _: Future())
    orders: SimpleQueue[bytes] = SimpleQueue()
    link = SimpleNamespace(send=said.append)
    judge = _Judge(cast(Any, link), orders, CpuDevice(), cast(Any, grader), NoProgress())
    options = Options(timing=False, dtype="float32")
    order = Order(3, Work(Job(path="a", solution=Invalid("none"), problem=shift), options))
    judge._answer(order, judge._begin(order, cast(Any, builds)), cast(Any, builds))
    assert asked == [options]
    assert said[0].value == options
    assert judge._options == {}
