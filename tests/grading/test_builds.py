"""Builds ahead of their turn: the first that is done is the next, paused while times are taken."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.grading.builds import Builds, files_ahead, first_built
from harness.grading.job import Job
from harness.problem.package import Problem
from harness.sandbox.pause_gate import check_cancelled
from harness.solution.model import Solution

WAIT_S = 30.0


def _job(problem: Problem, content: str, path: str = "mine.py") -> Job:
    solution = Solution(
        path=Path(path), display_path=path, submitted=b"", source=b"", text="", author="alice",
        name="mine", problem=problem.slug, language="pytorch", hash=content, dtypes=None,
    )  # fmt: skip
    return Job(path=path, solution=solution, problem=problem)


def test_few_files_of_other_formats_are_built_ahead(shift: Problem) -> None:
    """Their problems are kept described meanwhile."""
    own = _job(shift, "a")
    foreign: Any = SimpleNamespace(problem=SimpleNamespace(format="kernelbench"))
    assert [files_ahead(builders, [own, own]) for builders in (1, 12, 100)] == [2, 24, 32]
    assert [files_ahead(builders, [own, foreign]) for builders in (1, 12, 100)] == [2, 8, 8]


class Held(Builds):
    """Builds that end when a test says so."""

    def __init__(self, workers: int) -> None:
        super().__init__(workers)
        self.begun: list[Future[Any]] = []

    def begin(self, build: Callable[[], Any]) -> Future[Any]:
        self.begun.append(Future())
        return self.begun[-1]


@given(order=st.permutations(range(12)), workers=st.integers(1, 4), at_once=st.integers(1, 3))
def test_what_is_built_has_its_turn_before_what_is_not(
    shift: Problem, order: list[int], workers: int, at_once: int
) -> None:
    """Builds end in a given order, some whenever there is nothing else to do."""
    jobs = [_job(shift, str(number)) for number in range(len(order))]
    seen: list[int] = []

    def waiting() -> list[int]:
        return [number for number in range(len(builds.begun)) if number not in seen]

    def on_wait() -> None:
        assert not any(builds.begun[number].done() for number in waiting())
        for number in sorted(waiting(), key=order.index)[:at_once]:
            builds.begun[number].set_result(jobs[number])

    with Held(workers) as builds:
        for turn in builds.of(jobs, lambda job: cast(Any, job), on_wait):
            assert len(builds.begun) == min(len(jobs), 2 * workers + len(seen))
            assert turn.number == min(each for each in waiting() if builds.begun[each].done())
            assert turn.building.result(0) is turn.job is jobs[turn.number]
            seen.append(turn.number)
            after = sorted(waiting(), key=lambda each: not builds.begun[each].done())[:4]
            assert turn.upcoming == [(jobs[each], builds.begun[each]) for each in after]
    assert sorted(seen) == list(range(len(jobs)))


def test_where_there_is_nothing_to_build_nothing_is_waited_for() -> None:
    built: Future[Any] = Future()
    waiting: Future[Any] = Future()
    built.set_result(None)
    assert first_built([waiting, None, built], pytest.fail) == 1
    assert first_built([waiting, waiting, built], pytest.fail) == 2
    assert first_built([built, None], pytest.fail) == 0


def test_builds_do_not_begin_while_paused(shift: Problem) -> None:
    begun, go_on, waited = threading.Event(), threading.Event(), threading.Event()
    built: list[str] = []

    def build(job: Job) -> Any:
        begun.set()
        assert go_on.wait(WAIT_S)
        built.append(cast(Solution, job.solution).hash)
        return job

    def on_wait() -> None:
        waited.set()
        go_on.set()  # the one at work comes to rest when it is done

    with Builds(workers=1) as builds:
        building = [builds.begin(partial(build, _job(shift, c))) for c in "ab"]
        assert begun.wait(WAIT_S)
        with builds.paused(on_wait):
            assert waited.is_set()
            assert built == ["a"]
        assert all(each.result(WAIT_S) for each in building)
    assert built == ["a", "b"]


def test_what_nobody_waits_for_is_ended() -> None:
    begun = threading.Event()

    def build() -> Any:
        begun.set()
        end = time.monotonic() + WAIT_S
        while time.monotonic() < end:
            check_cancelled()
            time.sleep(0.01)

    with Builds(workers=1) as builds:
        running, waiting = builds.begin(build), builds.begin(build)
        assert begun.wait(WAIT_S)
    assert isinstance(running.exception(), CancelledError)
    assert waiting.cancelled()


def test_builds_are_dropped_after_an_error(shift: Problem) -> None:
    built: list[Job] = []
    begun, go_on = threading.Event(), threading.Event()

    def build(job: Job) -> Any:
        begun.set()
        assert go_on.wait(WAIT_S)
        built.append(job)
        return job

    def grade() -> None:
        with Builds(workers=1) as builds:
            for content in "abcd":
                builds.begin(partial(build, _job(shift, content)))
            assert begun.wait(WAIT_S)
            go_on.set()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        grade()
    assert len(built) < 4
