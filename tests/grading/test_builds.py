"""Builds ahead of their turn: in order, each content once, paused while times are taken."""

import threading
import time
from concurrent.futures import CancelledError, Future
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.grading.builds import Builds, files_ahead, prefetch
from harness.grading.job import Job
from harness.problem.package import Problem
from harness.sandbox.pause_gate import check_cancelled
from harness.solution.model import Invalid, Solution

WAIT_S = 30.0


@given(count=st.integers(0, 20), max_pending=st.integers(1, 8))
def test_prefetch_submits_so_many_ahead(count: int, max_pending: int) -> None:
    begun: list[int] = []
    seen = []

    def submit(item: int) -> int:
        begun.append(item)
        return -item

    for pending in prefetch(range(count), submit, max_pending=max_pending):
        first, _ = pending[0]
        seen.append(first)
        assert len(begun) == min(count, first + max_pending)
        assert pending == [(item, -item) for item in begun[first:]]
    assert seen == begun == list(range(count))


def test_prefetch_raises_what_submit_raises_in_its_turn() -> None:
    def submit(item: int) -> int:
        if item == 2:
            raise ValueError("no luck")
        return item

    pairs = prefetch(range(5), submit, max_pending=1)
    assert [next(pairs), next(pairs)] == [[(0, 0)], [(1, 1)]]
    with pytest.raises(ValueError, match="no luck"):
        next(pairs)


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


def test_builds_make_each_content_once(shift: Problem) -> None:
    jobs = [_job(shift, content) for content in "abacb"]
    built: list[Job] = []
    with Builds(workers=2) as builds:
        turns = list(builds.of(jobs, lambda job: cast(Any, built.append(job) or job)))
        found = [(each.job, _made(each.building), each.wanted_again) for each in turns]
        upcoming = [[(job, _made(each)) for job, each in turn.upcoming] for turn in turns]
    a, b, _, c, _ = jobs
    assert found == [(a, a, True), (b, b, True), (a, None, True), (c, c, False), (b, None, True)]
    assert len(built) == 3
    after = [(job, made) for job, made, _ in found]
    assert upcoming == [after[number + 1 : number + 4] for number in range(5)]


def _made(building: Future[Any] | None) -> Any:
    return building and building.result(WAIT_S)


def test_files_that_are_no_submissions_count_as_different(shift: Problem) -> None:
    jobs = [Job(path="x", solution=Invalid("not one"), problem=shift)] * 2
    with Builds(workers=1) as builds:
        turns = builds.of(jobs, lambda job: cast(Any, job))
        assert [turn.building is not None for turn in turns] == [True, True]


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
        building = [turn.building for turn in builds.of([_job(shift, c) for c in "ab"], build)]
        assert begun.wait(WAIT_S)
        with builds.paused(on_wait):
            assert waited.is_set()
            assert built == ["a"]
        assert all(each is not None and each.result(WAIT_S) for each in building)
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
            list(builds.of([_job(shift, content) for content in "abcd"], build))
            assert begun.wait(WAIT_S)
            go_on.set()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        grade()
    assert len(built) < 4
