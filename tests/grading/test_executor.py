"""Executors: each piece of work once with its result, in whatever order."""

import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, cast

import pytest
from support.samples import result

from harness.device.cpu import CpuDevice
from harness.errors import MachineError, NoDeviceError, ProblemError
from harness.grading.executor import Completed, Executor, InProcess, Work
from harness.grading.grader import Grader, Refused
from harness.grading.job import Job, NotJudged, Options, Outcome
from harness.problem.package import Problem
from harness.progress.progress import NoProgress
from harness.records.comparison import Comparison
from harness.records.refs import DeviceRef
from harness.records.result import Result
from harness.solution.model import Invalid

CHECK = Options(timing=False)
HALF = Options(timing=False, dtype="float16")
WAIT_S = 30.0


class FakeGrader:
    """Gives a result named after each file; remembers what it was asked, and how."""

    def __init__(self) -> None:
        self.asked: list[tuple[list[str], Options]] = []
        self.ended: list[type[BaseException] | None] = []

    def grade_all(
        self, jobs: Sequence[Job], options: Options, refused: Refused
    ) -> Iterator[tuple[int, Outcome]]:
        self.asked.append(([job.path for job in jobs], options))
        for number, job in enumerate(jobs):
            yield number, refused(job) or self.outcome(job, options)

    def outcome(self, job: Job, options: Options) -> Outcome:
        return self.grade(job, options)

    def grade(self, job: Job, options: Options) -> Result:
        return result(name=job.path, dtype=options.dtype or "float32")

    def compare(self, *how: Any) -> Any:
        return how

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.ended.append(kind)


@pytest.fixture
def work(shift: Problem) -> list[Work]:
    """Six files: two to be checked as they are, two in half precision, two as they are again."""
    options = [CHECK, CHECK, HALF, HALF, CHECK, CHECK]
    return [
        Work(Job(path=f"{number}.py", solution=Invalid("none"), problem=shift), each)
        for number, each in enumerate(options)
    ]


def in_process(grader: FakeGrader, workers: int = 1) -> InProcess:
    return InProcess(CpuDevice(), NoProgress(), workers=workers, grader=cast(Grader, grader))


def fits(done: Completed) -> bool:
    """Whether the result is that of the work beside it."""
    wanted = (done.work.job.path, done.work.options.dtype or "float32")
    return (done.result.solution.name, done.result.dtype) == wanted


def test_one_worker_grades_in_order_and_each_once(work: list[Work]) -> None:
    grader = FakeGrader()
    with in_process(grader) as executor:
        done = list(executor.grade(work))
    assert [each.work for each in done] == work
    assert all(map(fits, done))
    assert grader.ended == [None]


def test_files_with_the_same_options_are_graded_together(work: list[Work]) -> None:
    """So that they are built side by side, and those of the same content graded once."""
    grader = FakeGrader()
    list(in_process(grader).grade(work))
    assert grader.asked == [
        (["0.py", "1.py"], CHECK),
        (["2.py", "3.py"], HALF),
        (["4.py", "5.py"], CHECK),
    ]


def test_results_come_one_by_one(work: list[Work]) -> None:
    grader = FakeGrader()
    done = in_process(grader).grade(work)
    assert fits(next(done))
    assert len(grader.asked) == 1  # the others have not been looked at yet


def test_workers_grade_side_by_side_and_each_once(work: list[Work]) -> None:
    """All six meet, which takes six at a time; they complete from the last to the first."""
    meeting = threading.Barrier(len(work), timeout=WAIT_S)
    finished = [threading.Event() for _ in range(len(work) + 1)]
    finished[-1].set()

    class Meeting(FakeGrader):
        def grade(self, job: Job, options: Options) -> Result:
            meeting.wait()
            number = int(job.path.removesuffix(".py"))
            assert finished[number + 1].wait(WAIT_S)
            finished[number].set()
            return super().grade(job, options)

    with in_process(Meeting(), workers=len(work)) as executor:
        done = list(executor.grade(work))
    assert sorted(each.work.job.path for each in done) == [each.job.path for each in work]
    assert all(map(fits, done))


def test_workers_take_turns_where_times_are_taken(work: list[Work]) -> None:
    """One at a time on one device: the others would disturb it."""
    timed = [*work, Work(work[0].job, Options())]
    grader = FakeGrader()
    done = list(in_process(grader, workers=4).grade(timed))
    assert [each.work for each in done] == timed
    assert len(grader.asked) == 4


def test_an_error_of_the_machine_ends_the_grade(work: list[Work]) -> None:
    class Broken(FakeGrader):
        def grade(self, job: Job, options: Options) -> Result:
            raise OSError("no room")

    for workers in (1, 3):
        with pytest.raises(OSError, match="no room"):
            list(in_process(Broken(), workers).grade(work))


def test_files_that_wait_are_not_graded_after_an_error(work: list[Work]) -> None:
    begun: list[str] = []

    class FirstFails(FakeGrader):
        def grade(self, job: Job, options: Options) -> Result:
            begun.append(job.path)
            if job.path == "0.py":
                raise OSError("no room")
            time.sleep(0.5)  # meanwhile the error arrives
            return super().grade(job, options)

    with pytest.raises(OSError, match="no room"):
        list(in_process(FirstFails(), workers=2).grade(work))
    assert len(begun) < len(work)


def test_the_device_is_named_as_in_records() -> None:
    device = CpuDevice()
    assert in_process(FakeGrader()).device == DeviceRef(kind="cpu", name=device.name)


class Failing(FakeGrader):
    """Fails at some files; ``grade`` says which, and why."""

    def outcome(self, job: Job, options: Options) -> Outcome:
        try:
            return self.grade(job, options)
        except (ProblemError, MachineError) as error:
            return error


def of_another_problem(work: Work) -> Work:
    problem = replace(cast(Problem, work.job.problem), slug="other")
    return replace(work, job=replace(work.job, problem=problem))


def test_all_files_of_a_wrong_problem_end_with_the_first(work: list[Work]) -> None:
    """Whatever their options; those of another are graded."""
    tried: list[str] = []

    class Unwell(Failing):
        def grade(self, job: Job, options: Options) -> Result:
            tried.append(job.path)
            if job.problem.slug != "other":
                raise ProblemError(["no reference"])
            return super().grade(job, options)

    work[1], work[5] = of_another_problem(work[1]), of_another_problem(work[5])
    done = list(in_process(Unwell()).outcomes(work))
    assert [each.work for each in done] == work
    lost = [each.error for each in done if isinstance(each, NotJudged)]
    assert lost == [lost[0]] * 4
    assert tried == ["0.py", "1.py", "5.py"]


def test_files_that_cannot_be_judged_cost_the_others_nothing(work: list[Work]) -> None:
    class Unwell(Failing):
        def grade(self, job: Job, options: Options) -> Result:
            if job.path in ("0.py", "1.py", "4.py"):
                raise MachineError("no luck")
            if job.path == "3.py":
                raise ProblemError(["no reference"])
            return super().grade(job, options)

    work[3] = of_another_problem(work[3])
    done = list(in_process(Unwell()).outcomes(work))
    assert [each.work for each in done] == work
    why = [str(each.error) if isinstance(each, NotJudged) else "" for each in done]
    assert why == ["no luck", "no luck", "", "no reference", "no luck", ""]
    with pytest.raises(MachineError, match="no luck"):
        list(in_process(Unwell()).grade(work))


def test_a_machine_that_fails_three_times_in_a_row_fails_for_all(work: list[Work]) -> None:
    class Unwell(Failing):
        def grade(self, job: Job, options: Options) -> Result:
            if job.path == "2.py":
                raise ProblemError(["no reference"])
            raise MachineError(f"no luck with {job.path}")

    work[2] = of_another_problem(work[2])
    outcomes = in_process(Unwell()).outcomes(work)
    assert [str(cast(NotJudged, next(outcomes)).error) for _ in range(3)] == [
        "no luck with 0.py",
        "no luck with 1.py",
        "no reference",
    ]
    with pytest.raises(MachineError, match=r"no luck with 3\.py"):
        next(outcomes)


class Reversing:
    """An executor that completes the last first, as one on several devices may."""

    device = DeviceRef(kind="cpu", name="several")

    def grade(self, work: Sequence[Work]) -> Iterator[Completed]:
        for each in reversed(work):
            done = result(name=each.job.path, dtype=each.options.dtype or "float32")
            yield Completed(each, done)

    def compare(self, first: Job, second: Job, options: Options) -> Comparison | list[Result]:
        raise AssertionError("not asked for")


def test_an_executor_may_complete_in_any_order(work: list[Work]) -> None:
    executor: Executor = Reversing()
    done = list(executor.grade(work))
    assert [each.work for each in done] == work[::-1]
    assert all(map(fits, done))


@pytest.mark.parametrize("workers", [1, 3])
def test_functional_times_are_taken_where_asked_for_and_the_work_stays_the_same(
    work: list[Work], workers: int
) -> None:
    timed = [Work(work[0].job, Options()), Work(work[1].job, Options(functional_times=False))]
    grader = FakeGrader()
    done = list(in_process(grader, workers).grade(timed))
    assert {id(each.work) for each in done} == set(map(id, timed))
    assert [options.timed for _, options in grader.asked] == [True, False]
    with pytest.raises(NoDeviceError, match="--functional-times compares"):
        in_process(grader).compare(work[0].job, work[1].job, Options(functional_times=False))
