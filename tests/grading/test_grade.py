"""The straight line from a file to its record, on a stand-in for torch."""

import itertools
import os
import re
import shlex
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from support.corpus import rest_in_corpus
from support.leftovers import left
from support.naps import Nap
from support.plain_languages import PLAIN_LANGUAGES
from support.samples import failed, measurement
from torch import OutOfMemoryError

from harness.device.base import ClockReading, Device, Exclusive, Monitor, OutOfDeviceMemory
from harness.device.choose import open_device
from harness.device.cpu import CpuDevice
from harness.errors import MachineError, ProblemError
from harness.grading import benchmark
from harness.grading.benchmark import Benchmark
from harness.grading.executor import InProcess
from harness.grading.grader import Grader
from harness.grading.job import Completed, Job, NotJudged, Options, Outcome, Work
from harness.grading.result_builder import make_score
from harness.grading.solution_refs import with_path
from harness.judge.task import Task
from harness.languages.build.cache import Cache
from harness.languages.read import read_solution
from harness.problem.format.load import load_problem
from harness.problem.package import Problem
from harness.problem.reference import Reference
from harness.problem.terms import Limits
from harness.progress.progress import NoProgress
from harness.records.measurement import Interval
from harness.records.refs import DeviceRef
from harness.records.result import Result, Verdict
from harness.sandbox import leftovers, processes
from harness.sandbox.command import clean_environment, run_limited
from harness.session.fault import Fault
from harness.session.session import Session
from harness.timing.budget import CPU_BUDGET, TimingBudget
from harness.timing.trusted import TrustedRunners

ROOT = Path(__file__).parents[2]
PACKAGES = ROOT / "tests/support/packages"
HONEST = "def solution(x, s, y, n):\n    for i in range(n):\n        y[i] = x[i] + s\n"
CHECK = Options(timing=False)


@pytest.fixture(scope="module")
def shift() -> Problem:
    return load_problem(PACKAGES / "shift")


OpenGrader = Callable[..., Grader]


@pytest.fixture
def open_grader(stand_in_for_torch: None) -> Iterator[OpenGrader]:
    """Makes graders of the given parts, on a CPU unless told otherwise; all end with the test."""
    before = set(processes.descendants(os.getpid()))  # other fixtures' processes
    with ExitStack() as graders:

        def make(
            device: Device | None = None, *, kind: type[Grader] = Grader, **parts: Any
        ) -> Grader:
            parts.setdefault("languages", PLAIN_LANGUAGES)
            return graders.enter_context(kind(device or CpuDevice(), NoProgress(), **parts))

        yield make
    assert left(before) == set()


@pytest.fixture
def grader(open_grader: OpenGrader) -> Grader:
    return open_grader()


@pytest.fixture
def job(tmp_path: Path, shift: Problem):
    def make(source: str = HONEST, name: str = "mine.py", problem: Problem = shift) -> Job:
        path = tmp_path / name
        path.write_text(source)
        return Job(path=str(path), solution=read_solution(path, problem="shift"), problem=problem)

    return make


def test_a_leftover_is_named_in_results_until_it_is_gone(
    grader: Grader, job, monkeypatch: pytest.MonkeyPatch
) -> None:
    sentences = iter([("a process is stuck",)])
    monkeypatch.setattr(leftovers, "notes", lambda: next(sentences, ()))
    jobs = [job(HONEST + f"# {n}", f"m{n}.py") for n in range(2)]
    results = graded(grader, jobs, CHECK)
    assert [result.verdict for result in results] == [Verdict.ACCEPTED] * 2
    named = ["a process is stuck" in result.notes for result in results]
    assert named == [True, False]


@pytest.mark.corpus
def test_a_time_taken_beside_a_leftover_is_not_ranked(
    open_grader: OpenGrader, job, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leftovers, "notes", lambda: ("a process is stuck",))
    monkeypatch.setattr(CpuDevice, "rankable", True)
    result = open_grader().grade(job(), Options())
    assert result.score is not None
    assert not result.score.ranked
    assert result.score.unranked_reason == "a process is stuck"


def graded(grader: Grader, jobs: Sequence[Job], options: Options) -> list[Result]:
    """The result of each, in order; those of the same content together."""
    work = [Work(each, options) for each in jobs]
    outcomes = list(InProcess(CpuDevice(), NoProgress(), grader=grader).outcomes(work))
    found = {id(each.work): each.result for each in outcomes if isinstance(each, Completed)}
    assert len(found) == len(outcomes) == len(work)
    return [found[id(each)] for each in work]


def accepted(turn: tuple[int, Outcome]) -> bool:
    _, outcome = turn
    return isinstance(outcome, Result) and outcome.accepted


def test_each_submission_has_its_result(grader: Grader, job) -> None:
    jobs = [
        job(),
        job("", "empty.py"),
        job("def solution(:", "broken.py"),
        job("def solution(*_): ...", "idle.py"),
        job("import os; os._exit(0)\ndef solution(*_): ...", "gone.py"),
    ]
    results = graded(grader, jobs, CHECK)
    assert [result.verdict for result in results] == [
        Verdict.ACCEPTED,
        Verdict.INVALID_SUBMISSION,
        Verdict.COMPILE_ERROR,
        Verdict.WRONG_ANSWER,
        Verdict.RUNTIME_ERROR,
    ]
    assert [Path(result.solution.path).name for result in results] == [
        "mine.py", "empty.py", "broken.py", "idle.py", "gone.py",
    ]  # fmt: skip
    assert len({result.seed for result in results}) == len(results)
    assert "resource limits" in results[0].environment.sandbox
    assert len({result.id for result in results}) == len(results)


SLEEPS = """import time

def solution(x, s, y, n):
    time.sleep(0.25)
    for i in range(n):
        y[i] = x[i] + s
"""
SPINS = SLEEPS.replace(
    "time.sleep(0.25)", "end = time.monotonic() + 0.25\n    while time.monotonic() < end: pass"
)


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("source", "limits", "words"),
    [
        (SLEEPS, Limits(idle_s=1.0), "without computing (asleep, or waiting); the limit is 1 s"),
        (SLEEPS, Limits(cases_s=1.0), "the limit is 1 s"),
        (SPINS, Limits(cases_s=1.0), "the limit is 1 s"),
        (SPINS, Limits(idle_s=1.0), ""),
    ],
)
def test_all_cases_together_have_a_limit(
    source: str, limits: Limits, words: str, grader: Grader, job, shift: Problem
) -> None:
    """Each of its calls is well within its own."""
    result = grader.grade(job(source, problem=replace(shift, limits=limits)), CHECK)
    assert result.verdict is (Verdict.TIME_LIMIT if words else Verdict.ACCEPTED), result.message
    assert words in result.message
    if words:
        assert re.match(r"its cases 1 to \d+ of \d+ took ", result.message)
        assert result.failed_case is not None
        assert f"1 to {len(result.cases)} of" in result.message


@pytest.mark.corpus
def test_all_timed_calls_together_have_a_limit(grader: Grader, job, shift: Problem) -> None:
    problem = replace(shift, limits=Limits(timed_s=1.0))
    result = grader.grade(job(SLEEPS, problem=problem), Options())
    assert result.verdict is Verdict.TIME_LIMIT
    assert result.message.startswith("warm-ups and timed calls took ")
    assert "the limit is 1 s" in result.message


@pytest.mark.corpus
def test_the_search_for_a_smaller_case_has_a_limit(grader: Grader, job, shift: Problem) -> None:
    """And the verdict stands without it."""
    problem = replace(shift, limits=Limits(shrink_s=0.5))
    result = grader.grade(job(SLEEPS.replace("+ s", "- s"), problem=problem), CHECK)
    assert (result.verdict, result.shrunk) == (Verdict.WRONG_ANSWER, None)


def test_a_timed_grade_has_measurements_and_a_score(grader: Grader, job) -> None:
    result = grader.grade(job(), Options())
    assert result.accepted, result.message
    assert [m.spec for m in result.measurements] == ["n=50,s=0.5", "n=64,s=-1.0"]
    assert result.score is not None
    assert result.score.baseline == "plain"
    assert 0.1 < result.score.speedup.value < 10  # the baseline is the very same code
    assert not result.score.ranked


def test_clocks_that_stay_apart_are_noted(open_grader: OpenGrader, job) -> None:
    sm_mhz = itertools.cycle((1905, 1980))
    monitor = SimpleNamespace(
        read=lambda: None,
        conditions=lambda: None,
        clocks=lambda: ClockReading(sm_mhz=next(sm_mhz), memory_mhz=2619, capped=False),
    )

    class Watched(CpuDevice):
        @contextmanager
        def exclusive(self, waiting: Callable[[float], None]) -> Iterator[Exclusive]:
            yield Exclusive(cast(Monitor, monitor))

    result = open_grader(Watched()).grade(job(), Options())
    assert result.verdict is Verdict.ACCEPTED
    for note, measured in zip(result.notes, result.measurements, strict=True):
        assert measured.clocks is not None
        assert measured.clocks.blocks_apart == measured.clocks.blocks == len(measured.samples_s)
        assert note.startswith(f"{measured.spec}: in {measured.clocks.blocks} of")
    assert Result.from_json(result.to_json()) == result


@pytest.mark.corpus
def test_the_idle_device_is_measured_before_anything_submitted_runs(
    open_grader: OpenGrader, job
) -> None:
    order: list[str] = []

    class Noted(TrustedRunners):
        calibrated = property(lambda _: "idle" in order)  # type: ignore[assignment]

        def overhead(self, cpu: int | None) -> None:
            order.append("idle")

    def open_session(*how: Any) -> Session:
        order.append("submission")
        return Session(*how)

    device = CpuDevice()
    timed = Benchmark(device, NoProgress())
    timed.trusted = Noted(device)
    grader = open_grader(device, benchmark=timed, open_session=open_session)
    assert grader.grade(job(), CHECK).accepted
    assert order == ["submission"]  # nobody asks how fast it is
    order.clear()
    results = graded(grader, [job(), job(f"{HONEST}#", "other.py")], Options())
    assert [result.accepted for result in results] == [True, True]
    assert order == ["idle", "submission", "idle", "submission", "idle"]


class Warmed(CpuDevice):
    """Is warm once a measurement has said so."""

    warm = False

    @contextmanager
    def exclusive(self, waiting: Callable[[float], None]) -> Iterator[Exclusive]:
        yield Exclusive(warm=self.warm, note_warm=lambda: setattr(self, "warm", True))


def test_a_measurement_soon_after_another_needs_a_part_of_the_warm_up(
    open_grader: OpenGrader, job, monkeypatch: pytest.MonkeyPatch
) -> None:
    warmed: list[float] = []
    plain = benchmark.measure_shape

    def measure_shape(task, case, submission, *rest):
        if case == cases[0]:
            warmed.append(submission.elapsed_s)
        return plain(task, case, submission, *rest)

    monkeypatch.setattr(benchmark, "measure_shape", measure_shape)
    cases = job().problem.timed_cases(emulated=True)
    grader = open_grader(Warmed(), budget=replace(CPU_BUDGET, warm_s=0.1))
    for number in range(2):
        assert grader.grade(job(f"{HONEST}#{number}"), Options()).accepted
    assert warmed == [0.0, pytest.approx(0.075)]


def test_a_measurement_that_ends_at_once_has_warmed_nothing_up(
    open_grader: OpenGrader, job, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = Fault(Verdict.WRONG_ANSWER, "1 of 2 elements of y are wrong")
    monkeypatch.setattr(benchmark, "measure_shape", lambda *_: wrong)
    device = Warmed()
    grader = open_grader(device, budget=replace(CPU_BUDGET, warm_s=0.1))
    assert grader.grade(job(), Options()).verdict is Verdict.WRONG_ANSWER
    assert not device.warm


def test_a_baseline_is_timed_by_itself_once_where_its_times_are_kept(
    open_grader: OpenGrader, job, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[str] = []
    plain = benchmark.keep_times

    def keep_times(baseline, task, case, *rest):
        assert not any(running)  # no submission has a process yet
        kept.append(case.spec)
        return plain(baseline, task, case, *rest)

    running: list[bool] = []

    class Noted(Session):
        def __init__(self, *how: Any, **more: Any) -> None:
            super().__init__(*how, **more)
            running.append(True)

        def close(self, *, wait: bool = True) -> None:
            super().close(wait=wait)
            running.clear()

    monkeypatch.setattr(benchmark, "keep_times", keep_times)
    grader = open_grader(budget=replace(CPU_BUDGET, baseline_kept_s=300.0), open_session=Noted)
    specs = [case.spec for case in job().problem.timed_cases(emulated=True)]
    for number in range(2):
        result = grader.grade(job(f"{HONEST}#{number}"), Options())
        assert result.accepted
        assert [each.spec for each in result.measurements] == specs
        assert all(each.speedup.value > 0 for each in result.measurements)
        assert all(each.baseline_kernels is None for each in result.measurements)
    assert kept == specs
    later = time.monotonic() + 301
    monkeypatch.setattr(benchmark.time, "monotonic", lambda: later)
    assert grader.grade(job(f"{HONEST}#2"), Options()).accepted
    assert kept == 2 * specs


def test_a_shape_that_has_no_memory_by_itself_is_timed_in_turns(
    open_grader: OpenGrader, job, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    plain = benchmark.keep_times

    def keep_times(baseline, task, case, *rest):
        asked.append(case.spec)
        if case == cases[0]:
            raise OutOfDeviceMemory("cannot allocate 1 GiB", "others have it")
        return plain(baseline, task, case, *rest)

    monkeypatch.setattr(benchmark, "keep_times", keep_times)
    cases = job().problem.timed_cases(emulated=True)
    grader = open_grader(budget=replace(CPU_BUDGET, baseline_kept_s=300.0))
    for number in range(2):
        result = grader.grade(job(f"{HONEST}#{number}"), Options())
        assert result.accepted
        assert all(each.speedup.value > 0 for each in result.measurements)
    assert asked == [case.spec for case in cases]  # once


def test_a_problem_without_a_baseline_has_none_by_itself(open_grader: OpenGrader, job) -> None:
    grader = open_grader(budget=replace(CPU_BUDGET, baseline_kept_s=300.0))
    mine = job(problem=replace(job().problem, baselines={}))
    result = grader.grade(mine, Options())
    assert result.accepted
    assert result.notes[-1] == "not timed: shift has no baseline"


def test_on_a_card_the_next_runners_are_started_meanwhile(open_grader: OpenGrader, job) -> None:
    class Card(CpuDevice):
        rankable = True

    opened_by: list[str] = []

    def open_session(*how: Any) -> Session:
        opened_by.append(threading.current_thread().name)
        return Session(*how)

    class Patient(Grader):
        """Judges when the next are built, as they mostly are."""

        def judge(self, job: Job, options: Options, building, builds, upcoming=()) -> Result:
            for _, following in upcoming:
                assert following.result()
            return super().judge(job, options, building, builds, upcoming)

    grader = open_grader(Card(), kind=Patient, open_session=open_session, builders=4)
    texts = (HONEST, f"{HONEST}#", HONEST, "def solution(", f"{HONEST}##", f"{HONEST}###")
    jobs = [job(text, f"{number}.py") for number, text in enumerate(texts)]
    verdicts = [result.verdict for result in graded(grader, jobs, CHECK)]
    assert verdicts == [Verdict.ACCEPTED] * 3 + [Verdict.COMPILE_ERROR] + [Verdict.ACCEPTED] * 2
    # Of neither the duplicate nor the one that does not compile.
    assert opened_by == ["MainThread", *["start-ahead_0"] * 3]


def test_right_when_checked_and_wrong_when_timed(grader: Grader, job) -> None:
    # Looks at the shape, which in correctness cases is random: found out in the timed calls.
    sly = HONEST + "    if n == 50:\n        y[7] = 0.0\n"
    options = Options(seed="a seed that draws no case of size 50")
    result = grader.grade(job(sly), options)
    assert all(case.spec.split(",")[0] != "n=50" for case in result.cases[:-1])
    assert result.verdict is Verdict.WRONG_ANSWER
    assert (result.measurements, result.score) == ((), None)


def test_the_baseline_that_fails_is_not_the_submissions_fault(
    grader: Grader, job, shift: Problem, tmp_path: Path
) -> None:
    (tmp_path / "baseline.py").write_text("raise RuntimeError('no luck')")
    broken = replace(shift, baselines={"plain": tmp_path / "baseline.py"}, hash="other")
    with pytest.raises(MachineError, match=r"shift does not run: \S*baseline\.py: .*no luck"):
        grader.grade(job(problem=broken), Options())


def _with_baselines(shift: Problem, folder: Path, **sources: str) -> Problem:
    files = dict(shift.baselines)
    for name, source in sources.items():
        files[name] = folder / f"{name}.py"
        files[name].write_text(source)
    return replace(shift, baselines=files)


@pytest.mark.corpus
def test_further_baselines_are_timed_when_asked_for(
    grader: Grader, job, shift: Problem, tmp_path: Path
) -> None:
    problem = _with_baselines(shift, tmp_path, again=HONEST, third=HONEST)
    result = grader.grade(job(problem=problem), Options(all_baselines=True))
    assert result.score is not None, result.message
    assert result.score.baseline == "plain"
    assert [other.baseline for other in result.score.other_baselines] == ["again", "third"]
    for other in result.score.other_baselines:
        assert 0.05 < other.speedup.value < 20  # the very same code
        assert other.recorded_at is None
    for each in result.measurements:
        assert [other.baseline for other in each.other_baselines] == ["again", "third"]
        for other in each.other_baselines:
            assert len(other.samples_s) == len(other.submission_samples_s) >= 3
    assert result.notes == grader.grade(job(problem=problem), Options()).notes
    assert Result.from_json(result.to_json()) == result


def test_no_further_baseline_is_timed_unasked(
    grader: Grader, job, shift: Problem, tmp_path: Path
) -> None:
    problem = _with_baselines(shift, tmp_path, broken="raise RuntimeError")
    result = grader.grade(job(problem=problem), Options())
    assert result.score is not None
    assert result.score.other_baselines == ()
    assert all(each.other_baselines == () for each in result.measurements)


@pytest.mark.parametrize(
    "source",
    rest_in_corpus(
        [
            "raise RuntimeError('no luck')",
            "def solution(*_): raise RuntimeError('no luck')",
            "import os\ndef solution(*_): os._exit(3)",
        ]
    ),
)
def test_a_further_baseline_that_fails_is_noted(
    grader: Grader, job, shift: Problem, tmp_path: Path, source: str
) -> None:
    problem = _with_baselines(shift, tmp_path, bad=source, good=HONEST)
    result = grader.grade(job(problem=problem), Options(all_baselines=True))
    assert result.accepted
    assert result.score is not None
    assert [other.baseline for other in result.score.other_baselines] == ["good"]
    (note,) = [note for note in result.notes if "baseline" in note]
    assert note.startswith("the baseline bad does not run here: ")


def test_a_baseline_that_fails_in_a_timed_shape_is_not_the_submissions_fault(
    grader: Grader, job, shift: Problem, tmp_path: Path
) -> None:
    late = "def solution(x, s, y, n):\n    if n == 64: raise RuntimeError('no luck')\n"
    (tmp_path / "late.py").write_text(late)
    broken = replace(shift, baselines={"plain": tmp_path / "late.py"}, hash="late")
    with pytest.raises(MachineError, match="no luck"):
        grader.grade(job(problem=broken), Options())


class Small(CpuDevice):
    """Has not the memory for the guard bands: the smallest cases are tried all the same."""

    def free_bytes(self) -> int:
        return 40_000


def test_a_shape_for_which_there_is_no_room_is_the_machines_fault(
    open_grader: OpenGrader, job
) -> None:
    grader = open_grader(Small())
    checked = grader.grade(job(), CHECK)
    assert checked.accepted
    assert checked.cases
    with pytest.raises(
        MachineError, match=r"n=50,s=0.5 in float32 needs about .*, and .* are free"
    ):
        grader.grade(job(), Options())


@pytest.mark.parametrize(
    ("error", "held"),
    rest_in_corpus(
        itertools.product([MachineError("no room"), OutOfMemoryError("no room")], [6 << 30, 0])
    ),
)
def test_a_submission_that_holds_the_memory_gets_a_memory_limit(
    open_grader: OpenGrader, job, held: int, error: Exception
) -> None:
    """It ends with a verdict, and what comes after is graded."""
    submitted: list[Session] = []

    class Crowded(CpuDevice):
        def free_bytes(self) -> int:
            return (8 << 30) - (held if any(each._mailbox_fd >= 0 for each in submitted) else 0)

    class FailsOnce(Benchmark):
        failed = False

        def measure(self, *how: Any, **more: Any) -> Any:
            if not self.failed:
                self.failed = True
                raise error
            return super().measure(*how, **more)

    def open_session(*how: Any) -> Session:
        submitted.append(Session(*how))
        return submitted[-1]

    device = Crowded()
    benchmark = FailsOnce(device, NoProgress())
    grader = open_grader(device, benchmark=benchmark, open_session=open_session)
    beside = benchmark.trusted.session()
    if not held:
        with pytest.raises(MachineError, match="no room"):
            grader.grade(job(), Options())
        return
    result = grader.grade(job(), Options())
    assert result.verdict is Verdict.MEMORY_LIMIT
    assert result.message.startswith("holds 6.00 GiB of the memory of ")
    assert grader.grade(job(), Options()).accepted
    assert benchmark.trusted.session() is not beside


@pytest.mark.parametrize(("free_gib", "asked"), [(64, 1), (8, 2)])
def test_cases_are_drawn_before_the_submission_is_loaded(
    open_grader: OpenGrader, job, free_gib: int, asked: int
) -> None:
    """What it takes of the memory makes no case smaller.

    Where little is free, that is asked again once what is ending has gone.
    """
    order: list[str] = []

    class Noted(CpuDevice):
        def free_bytes(self) -> int:
            order.append("draw")
            return free_gib << 30

    class NotedSession(Session):
        def load(self, *how: Any) -> Any:
            order.append("load")
            return super().load(*how)

    grader = open_grader(Noted(), open_session=NotedSession)
    order.clear()  # it has looked how many references it can keep
    assert grader.grade(job(), CHECK).accepted
    assert order == ["draw"] * asked + ["load"]


@pytest.mark.corpus
def test_the_dtype_is_the_first_that_the_file_is_written_for(grader: Grader, job) -> None:
    half = "# dtypes: float16\n" + HONEST
    assert grader.grade(job(), CHECK).dtype == "float32"
    assert grader.grade(job(half), CHECK).dtype == "float16"
    chosen = grader.grade(job(), replace(CHECK, dtype="float16"))
    assert (chosen.dtype, chosen.verdict) == ("float16", Verdict.ACCEPTED)
    other = grader.grade(job(half), replace(CHECK, dtype="float32"))
    assert other.verdict is Verdict.INVALID_SUBMISSION
    assert other.message == "the file says it is written for float16, not for float32"


def test_a_named_case_is_the_only_one_run(grader: Grader, job) -> None:
    result = grader.grade(job(), Options(case="n=7,s=0.25", seed="5eed"))
    assert [case.spec for case in result.cases] == ["n=7,s=0.25"]
    assert (result.seed, result.measurements) == ("5eed", ())


def test_output_of_a_failed_submission_is_recorded(grader: Grader, job) -> None:
    result = grader.grade(job("print('hello')\ndef solution(*_): 1 / 0"), CHECK)
    assert result.output == "hello\n"
    assert "ZeroDivisionError" in result.message


def _scored(shift: Problem, device: Device, *widths: float, **how: bool):
    task = Task(shift, Reference(shift), "float32", device, "seed")
    measured = [
        measurement().model_copy(
            update={"speedup": Interval(value=2.0, low=2.0 / (1 + width), high=2.0 * (1 + width))}
        )
        for width in widths or (0.001, 0.001)
    ]
    budget = TimingBudget(max_ranked_rel_ci=0.01, max_ranked_shape_rel_ci=0.03)
    return make_score(task, measured, budget, **{"known_seed": False} | how)


def test_the_smallest_failing_case_is_the_one_to_replay(grader: Grader, job) -> None:
    wrong = HONEST + "    if n > 30: y[30] = 5.0\n"
    result = grader.grade(job(wrong), replace(CHECK, seed="5eed"))
    assert result.verdict is Verdict.WRONG_ANSWER
    assert result.shrunk is not None
    assert result.shrunk.case.spec == "n=31,s=0.0,values=integers"
    assert "--case n=31,s=0.0,values=integers --seed 5eed" in result.reproduce
    assert result.failed_case is not None
    assert result.failed_case.spec != result.shrunk.case.spec
    assert result.cases[-1] == result.failed_case
    plain = grader.grade(job(wrong), replace(CHECK, seed="5eed", shrink_s=0.0))
    assert plain.shrunk is None
    assert plain.failed_case is not None
    assert plain.failed_case.spec == result.failed_case.spec
    assert f"--case {plain.failed_case.spec} " in plain.reproduce


ROUGH = Options(rough=True)
CPU = DeviceRef(kind="cpu", name="")


def test_a_mere_verdict_has_all_cases_and_no_smaller_one(grader: Grader, job) -> None:
    wrong = HONEST + "    if n > 30: y[30] = 5.0\n"
    asked = replace(ROUGH, seed="5eed").on(CPU)
    result = grader.grade(job(wrong), replace(asked, timing=False))
    full = grader.grade(job(wrong), replace(CHECK, seed="5eed"))
    assert (result.verdict, result.effort, full.effort) == (full.verdict, "verdict", "full")
    assert [each.spec for each in result.cases] == [each.spec for each in full.cases]
    assert (result.shrunk, full.shrunk is None) == (None, False)
    assert (asked.arch, asked.all_baselines, asked.profile) == (None, False, False)


def test_what_is_given_up_is_no_fault_of_the_submission(grader: Grader, job) -> None:
    result = grader.give_up(job(HONEST), CHECK, "its judge's process died twice")
    assert (result.verdict, result.cases) == (Verdict.INTERNAL_ERROR, ())
    assert result.message == "its judge's process died twice"
    assert result.solution.author == grader.grade(job(HONEST), CHECK).solution.author


def test_a_rough_time_is_never_ranked(grader: Grader, job) -> None:
    result = grader.grade(job(HONEST), ROUGH.on(CPU))
    assert result.accepted
    assert result.score is not None
    assert result.score.unranked_reason.startswith("effort verdict: a rough time")


def test_not_even_where_nothing_else_speaks_against_it(shift: Problem) -> None:
    class Card(CpuDevice):
        rankable = True

    assert not _scored(shift, Card(), rough=True).ranked


def test_ranking_needs_a_rankable_device_narrow_intervals_and_a_secret_seed(shift: Problem) -> None:
    class Card(CpuDevice):
        rankable = True

    assert _scored(shift, Card()).ranked
    assert _scored(shift, Card()).baseline == "plain"
    assert "cpu" in _scored(shift, CpuDevice()).unranked_reason
    assert _scored(shift, Card(), 0.001, 0.016).ranked  # ±0.8 % in all
    noisy = _scored(shift, Card(), 0.001, 0.028)
    assert noisy.unranked_reason.startswith("noisy: ±1.4% in all, ±1.0% is needed")
    barely = _scored(shift, Card(), 0.0202)
    assert barely.unranked_reason.startswith("noisy: ±2.1% in all, ±1.0% is needed")
    shape = _scored(shift, Card(), *[0.001] * 30, 0.04)
    assert shape.unranked_reason.startswith("noisy: ±4.0% on one shape, ±3.0% is needed")
    known = _scored(shift, Card(), known_seed=True)
    assert known.unranked_reason == "the seed was given, so the inputs could be known"


def test_the_same_content_is_graded_once(grader: Grader, job, tmp_path: Path) -> None:
    wrong = "def solution(*_): ..."
    (tmp_path / "b").mkdir()
    jobs = [
        job(),
        job(wrong, "a.py"),
        job(name="b/mine.py"),
        job(wrong, "b/other.py"),
        job("", "e.py"),
    ]
    results = graded(grader, jobs, CHECK)
    first, a, again, b, empty = results
    assert [each.verdict for each in results] == [
        Verdict.ACCEPTED, Verdict.WRONG_ANSWER, Verdict.ACCEPTED, Verdict.WRONG_ANSWER,
        Verdict.INVALID_SUBMISSION,
    ]  # fmt: skip
    assert (again.seed, b.seed, b.cases) == (first.seed, a.seed, a.cases)
    assert again.notes[-1].startswith(f"the same content as {jobs[0].path}, graded with it")
    assert len({each.id for each in results}) == len(results)
    assert b.solution.name == "other"
    assert shlex.split(b.reproduce)[2] == jobs[3].path
    assert shlex.split(b.reproduce)[3:] == shlex.split(a.reproduce)[3:]
    assert not empty.notes
    assert Result.from_json(b.to_json()).to_json() == b.to_json()


def test_places_in_a_duplicate_are_in_its_own_file(grader: Grader, job) -> None:
    broken = "def solution(:"
    jobs = [job(broken, "one.py"), job(broken, "other.py")]
    one, other = graded(grader, jobs, CHECK)
    assert "one.py:1" in one.message
    assert "one.py" not in other.message
    assert "other.py:1" in other.message


@pytest.mark.corpus
def test_builds_go_on_ahead_and_not_while_a_time_is_taken(open_grader: OpenGrader, job) -> None:
    jobs = [job(f"{HONEST}# {number}", f"{number}.py") for number in range(8)]
    building: set[str] = set()
    built: list[str] = []

    class Slow:
        def build(self, solution: Any, *others: Any) -> Any:
            building.add(solution.name)
            time.sleep(0.02)
            artifact = PLAIN_LANGUAGES["pytorch"].build(solution, *others)
            building.remove(solution.name)
            built.append(solution.name)
            return artifact

    unchanged: list[bool] = []

    class Watched(Benchmark):
        def measure(self, *how: Any, **more: Any) -> Any:
            before = (set(building), len(built))
            outcome = super().measure(*how, **more)
            unchanged.append(before == (building, len(built)))
            return outcome

    device = CpuDevice()
    grader = open_grader(
        device,
        languages={"pytorch": cast(Any, Slow())},
        builders=2,
        benchmark=Watched(device, NoProgress()),
    )
    ahead = []
    for _, result in grader.grade_all(jobs, Options()):
        assert isinstance(result, Result)
        assert result.accepted, result.message
        ahead.append(len(built))
    assert set(unchanged) == {True}
    assert ahead[-1] == 8
    assert max(count - done for done, count in enumerate(ahead, 1)) > 0, "none ahead of its turn"
    assert max(ahead[:1]) <= 6, "no further ahead than there is room for"


def test_a_file_that_takes_long_to_build_holds_up_no_other(open_grader: OpenGrader, job) -> None:
    others_are_graded = threading.Event()

    class Slow:
        def build(self, solution: Any, *others: Any) -> Any:
            if solution.name == "0":
                assert others_are_graded.wait(60)
            return PLAIN_LANGUAGES["pytorch"].build(solution, *others)

    grader = open_grader(languages={"pytorch": cast(Any, Slow())}, builders=2)
    jobs = [job(f"{HONEST}# {number}", f"{number}.py") for number in range(4)]
    turns = grader.grade_all(jobs, CHECK)
    assert {next(turns)[0] for _ in range(3)} == {1, 2, 3}
    others_are_graded.set()
    assert [number for number, _ in turns] == [0]


def test_of_a_wrong_problem_one_file_is_tried(open_grader: OpenGrader, job) -> None:
    """Nor is another built, once that is known; of another with the same options all are graded."""
    tried: list[str] = []

    def reference(problem: Any) -> Any:
        tried.append(problem.title)
        if problem.title == "wrong":
            raise ProblemError(["no reference"])
        return problem.reference()

    built: list[str] = []

    class Noted:
        def build(self, solution: Any, *others: Any) -> Any:
            built.append(solution.name)
            return PLAIN_LANGUAGES["pytorch"].build(solution, *others)

    grader = open_grader(reference=reference, languages={"pytorch": cast(Any, Noted())}, builders=1)
    good = [job(f"{HONEST}# {number}", f"{number}.py") for number in range(12)]
    wrong = replace(good[0].problem, title="wrong", hash="0" * 64)
    jobs = [
        replace(each, problem=wrong) if number % 2 else each for number, each in enumerate(good)
    ]
    work = [Work(each, CHECK) for each in jobs]
    done = list(InProcess(CpuDevice(), NoProgress(), grader=grader).outcomes(work))
    outcomes = {each.work.job.path: each for each in done}
    found = [outcomes[each.path] for each in jobs]
    assert [isinstance(each, Completed) and each.result.accepted for each in found] == [
        True,
        False,
    ] * 6
    errors = [each.error for each in found if isinstance(each, NotJudged)]
    assert isinstance(errors[0], ProblemError)
    assert all(each is errors[0] for each in errors)
    assert sorted(tried) == ["Add a number to a vector", "wrong"]
    assert built == ["0", "1", "2", "4", "6", "8", "10"]


def test_pending_builds_are_dropped_when_results_are_no_longer_asked_for(
    open_grader: OpenGrader, job
) -> None:
    built = []

    class Noted:
        def build(self, *how: Any) -> Any:
            built.append(how)
            return PLAIN_LANGUAGES["pytorch"].build(*how)

    grader = open_grader(languages={"pytorch": cast(Any, Noted())}, builders=1)
    results = grader.grade_all([job(f"{HONEST}# {n}", f"{n}.py") for n in range(9)], CHECK)
    assert accepted(next(results))
    cast(Any, results).close()
    assert len(built) <= 3


def test_compilers_end_when_results_are_no_longer_asked_for(
    open_grader: OpenGrader, job, tmp_path: Path
) -> None:
    nap = Nap()
    jobs = [job(f"{HONEST}# {n}", f"{n}.py") for n in range(2)]

    class Endless:
        def build(self, solution: Any, *others: Any) -> Any:
            if solution.name != "0":
                command = ["sh", "-c", f"sleep {nap}; echo"]
                environment = clean_environment(tmp_path)
                limits = {"seconds": 60.0, "memory_bytes": 1 << 30, "output_bytes": 100}
                run_limited(command, cwd=tmp_path, environment=environment, **limits)
            return PLAIN_LANGUAGES["pytorch"].build(solution, *others)

    grader = open_grader(languages={"pytorch": cast(Any, Endless())}, builders=2)
    results = grader.grade_all(jobs, CHECK)
    assert accepted(next(results))
    assert nap.appeared()
    started = time.monotonic()
    cast(Any, results).close()
    assert time.monotonic() - started < 30
    assert nap.gone()
    assert grader.grade(jobs[0], CHECK).accepted


@pytest.mark.corpus
def test_a_grader_takes_its_cache_references_and_budget(
    open_grader: OpenGrader, job, tmp_path: Path
) -> None:
    cache, budget = Cache(tmp_path), replace(CPU_BUDGET, min_blocks=2, max_blocks=2)
    caches: list[Cache] = []
    loaded: list[str] = []

    class Noted:
        def build(self, *how: Any) -> Any:
            caches.append(how[-1])
            return PLAIN_LANGUAGES["pytorch"].build(*how)

    def reference(problem: Any) -> Any:
        loaded.append(problem.slug)
        return problem.reference()

    grader = open_grader(
        languages={"pytorch": cast(Any, Noted())}, cache=cache, reference=reference, budget=budget
    )
    results = graded(grader, [job(HONEST, "a.py"), job(f"{HONEST}#", "b.py")], Options())
    assert caches == [cache, cache]
    assert loaded == ["shift"]
    assert {len(m.samples_s) for result in results for m in result.measurements} == {2}


@pytest.mark.gpu
@pytest.mark.timed
@pytest.mark.parametrize(
    ("slug", "name"),
    [
        ("vector-add", "custom_kernel.py"),
        ("softmax", "custom_kernel_triton.py"),
        ("linear-scale-leakyrelu", "model_new.py"),
    ],
)
def test_returned_outputs_are_not_copied(slug: str, name: str) -> None:
    problem = load_problem(ROOT / "problems" / slug)
    file = problem.folder / "examples/accepted" / name
    job = Job(path=str(file), solution=read_solution(file, problem=slug), problem=problem)
    with Grader(open_device("cuda"), NoProgress()) as grader:
        result = grader.grade(job, Options())
    assert result.accepted, result.message
    assert [(each.captured, each.copied_outputs) for each in result.measurements] == [
        (True, 0)
    ] * len(problem.benchmarks)


def test_a_submission_called_solution_gets_its_path_once() -> None:
    path = "solutions/shift/alice/solution.cu"
    made = failed(message=f"{path}:3: error: here\nsolution.cu:4: and there")
    found = with_path(made, r"solution\.(?:cu|py)", path)
    assert found.message == f"{path}:3: error: here\n{path}:4: and there"
