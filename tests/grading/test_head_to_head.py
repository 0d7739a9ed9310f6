"""Two submissions head to head: which is faster, whose fault it is, and nothing is recorded.

Graded for real, on a stand-in for torch and a problem that is done in no time.
"""

import itertools
import json
import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from support.corpus import rest_in_corpus
from support.plain_languages import PLAIN_LANGUAGES, install_plain_languages
from support.samples import interval

from harness import cli
from harness.device import choose as device
from harness.device.base import ClockReading, Exclusive, Monitor
from harness.device.cpu import CpuDevice
from harness.errors import UsageError
from harness.grading.grader import Grader
from harness.grading.head_to_head import common
from harness.grading.job import Job, Options
from harness.languages.read import read_solution
from harness.problem.format.load import load_problem
from harness.problem.package import Problem
from harness.progress.progress import NoProgress
from harness.records.comparison import Comparison, faster
from harness.records.measurement import Conditions, Interval
from harness.records.result import Result, Verdict
from leaderboard import ties

PACKAGES = Path(__file__).parents[1] / "support/packages"
HONEST = "def solution(x, s, y, n):\n    for i in range(n):\n        y[i] = x[i] + s\n"
SLOW = (
    "import time\ndef solution(x, s, y, n):\n    time.sleep(0.003)\n"
    "    for i in range(n):\n        y[i] = x[i] + s\n"
)
# Right in correctness cases whose size is another: found out in the timed calls.
SLY = HONEST + "    if n == 50:\n        y[7] = 0.0\n"
NOT_50 = Options(seed="a seed that draws no case of size 50")


@pytest.fixture(scope="module")
def shift() -> Problem:
    return load_problem(PACKAGES / "shift")


@pytest.fixture
def grader(stand_in_for_torch: None) -> Iterator[Grader]:
    with Grader(CpuDevice(), NoProgress(), languages=PLAIN_LANGUAGES) as one:
        yield one


MakeJob = Callable[..., Job]


@pytest.fixture
def job(tmp_path: Path, shift: Problem) -> MakeJob:
    def make(source: str = HONEST, name: str = "mine.py") -> Job:
        path = tmp_path / name
        path.write_text(source)
        return Job(path=str(path), solution=read_solution(path, problem="shift"), problem=shift)

    return make


def test_the_margin_is_that_of_the_boards() -> None:
    """What is too close for one board is too close for a head-to-head, whatever the intervals."""
    for lead in (0.99, 1.01):
        value = math.exp(lead * ties.MARGIN)
        (ahead,) = ties.beats(math.log(value), 0.0, np.zeros(1), np.zeros(1))
        assert bool(ahead) == (faster(Interval(value=value, low=value, high=value)) == "B")
        assert bool(ahead) == (lead > 1)


@pytest.mark.parametrize(
    ("ratio", "name"),
    [
        (interval(1.31), "B"),
        (interval(1 / 1.31), "A"),
        (interval(1.003, 0.006), None),
        (interval(1.2, 0.3), None),
        (interval(1.0049, 0.0001), None),  # clear, and too small to count
        (interval(1 / 1.0049, 0.0001), None),
        (interval(1.0051, 0.0001), "B"),
        (Interval(value=3, low=1.1, high=10), None),  # 3 ± 7
        (Interval(value=1 / 3, low=0.1, high=1 / 1.1), None),
        (Interval(value=2, low=0, high=float("inf")), None),
        (Interval(value=0.5, low=0, high=float("inf")), None),
    ],
)
def test_faster_needs_a_clear_ratio_beyond_the_margin(ratio: Interval, name: str | None) -> None:
    assert faster(ratio) == name
    if ratio.low > 0:
        assert faster(ratio.inverse()) == {"A": "B", "B": "A", None: None}[name]


class TestCommon:
    def test_one_seed_and_the_first_type_that_fits_both(self, job: MakeJob) -> None:
        half = job("# dtypes: float16\n" + HONEST, "half.py")
        assert common([job(), job()], Options()).dtype == "float32"
        assert common([job(), half], Options()).dtype == "float16"
        assert common([half, job()], Options()).dtype == "float16"
        assert common([half, job()], Options(dtype="float32")).dtype == "float32"
        seeds = {common([job(), job()], Options()).seed for _ in range(2)}
        assert len(seeds) == 2 and None not in seeds

    def test_no_common_type_is_left_to_the_verdict(self, job: MakeJob) -> None:
        half = job("# dtypes: float16\n" + HONEST, "half.py")
        single = job("# dtypes: float32\n" + HONEST, "single.py")
        assert common([half, single], Options()).dtype == "float32"

    def test_submissions_to_two_problems_are_refused(self, job: MakeJob, shift: Problem) -> None:
        other = replace(job(), problem=replace(shift, slug="other"))
        with pytest.raises(UsageError, match="A is for shift, B for other"):
            common([job(), other], Options())


def test_the_faster_one_is_found(grader: Grader, job: MakeJob) -> None:
    outcome = grader.compare(job(SLOW, "slow.py"), job(), Options())
    assert isinstance(outcome, Comparison)
    assert (outcome.a.name, outcome.b.name) == ("slow", "mine")
    assert [shape.spec for shape in outcome.shapes] == ["n=50,s=0.5", "n=64,s=-1.0"]
    for shape in outcome.shapes:
        assert shape.a_s.value > 0.003 > shape.b_s.value
        assert shape.ratio.value > 1
        assert len(shape.a_samples_s) == len(shape.b_samples_s) >= 3
    assert outcome.ratio.value > 2
    assert "resource limits" in outcome.environment.sandbox


@pytest.mark.corpus
def test_conditions_that_disturb_a_comparison_are_noted(
    job: MakeJob, stand_in_for_torch: None
) -> None:
    read: list[int] = []
    hot = Conditions(
        clock_mhz=(1900, 1980),
        temperature_c=90,
        power_w=700,
        throttle=("thermal",),
        other_processes=0,
        readings=3,
    )
    sm_mhz = itertools.cycle((1980, 1905))
    monitor = SimpleNamespace(
        read=lambda: read.append(1),
        conditions=lambda: hot,
        clocks=lambda: ClockReading(sm_mhz=next(sm_mhz), memory_mhz=2619, capped=False),
    )

    class Watched(CpuDevice):
        @contextmanager
        def exclusive(self, waiting: Callable[[float], None]) -> Iterator[Exclusive]:
            yield Exclusive(cast(Monitor, monitor))

    with Grader(Watched(), NoProgress(), languages=PLAIN_LANGUAGES) as grader:
        outcome = grader.compare(job(), job(), Options())
    assert isinstance(outcome, Comparison)
    assert outcome.notes[0].startswith("the card slowed down because it was hot")
    assert len(outcome.notes) == 1 + len(outcome.shapes)
    for note, shape in zip(outcome.notes[1:], outcome.shapes, strict=True):
        blocks = len(shape.a_samples_s)
        assert note.startswith(f"{shape.spec}: in {blocks} of {blocks} blocks the card's clocks")
        assert "MHz after B" in note
        assert "MHz after A" in note
    assert len(read) == sum(len(shape.a_samples_s) for shape in outcome.shapes)


def test_results_of_wrong_submissions_are_returned(grader: Grader, job: MakeJob) -> None:
    idle = job("def solution(*_): ...", "idle.py")
    broken = job("def solution(:", "broken.py")
    outcome = grader.compare(idle, broken, Options())
    assert isinstance(outcome, list)
    assert [r.verdict for r in outcome] == [Verdict.WRONG_ANSWER, Verdict.COMPILE_ERROR]
    assert len({r.seed for r in outcome}) == 1
    one = grader.compare(job(), idle, Options())
    assert isinstance(one, list)
    assert [r.solution.name for r in one] == ["idle"]


@pytest.mark.parametrize("sly_first", rest_in_corpus([True, False]))
def test_the_one_that_fails_while_it_is_timed_is_named(
    grader: Grader, job: MakeJob, sly_first: bool
) -> None:
    pair = [job(SLY, "sly.py"), job()]
    outcome = grader.compare(*(pair if sly_first else pair[::-1]), NOT_50)
    assert isinstance(outcome, list)
    (result,) = outcome
    assert (result.solution.name, result.verdict) == ("sly", Verdict.WRONG_ANSWER)
    assert result.failed_case is not None
    assert result.failed_case.spec == "n=50,s=0.5"


Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def harness(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    stand_in_for_torch: None,
) -> Run:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HARNESS_STORE", str(tmp_path / "results.sqlite"))
    monkeypatch.setenv("HARNESS_PROBLEMS", str(PACKAGES))
    monkeypatch.setattr(device, "gpu_present", lambda: False)
    install_plain_languages(monkeypatch)

    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["harness", *map(str, arguments), "--device", "cpu"])
        capfd.readouterr()
        status = 0
        try:
            cli.main()
        except SystemExit as end:
            status = int(end.code or 0)
        return status, *capfd.readouterr()

    return run


@pytest.mark.corpus
def test_compare_prints_a_comparison_and_stores_nothing(harness: Run) -> None:
    Path("a.py").write_text(HONEST)
    Path("b.py").write_text("def solution(*_): ...")
    timed = "--functional-times"
    same = ("compare", "a.py", "a.py", "--problem", "shift")
    status, out, err = harness(*same)
    assert (status, out, timed in err) == (4, "", True), err
    status, out, err = harness(*same, timed)
    assert (status, err) == (0, "")
    assert "functional timing, not a GPU's" in out.splitlines()[-1]
    status, out, _ = harness(*same, timed, "--json")
    data = json.loads(out)
    assert status == 0
    assert (data["problem"]["slug"], data["dtype"], len(data["shapes"])) == ("shift", "float32", 2)
    assert data["faster"] in ("A", "B", None)
    status, out, _ = harness("compare", "a.py", "b.py", "--problem", "shift", timed)
    assert (status, out.split()[0]) == (1, "WRONG_ANSWER")
    status, out, _ = harness("compare", "a.py", "b.py", "--problem", "shift", "--json", timed)
    assert (status, Result.from_json(out).verdict) == (1, Verdict.WRONG_ANSWER)
    assert not Path("results.sqlite").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["a.py"], "Missing argument"),
        (["a.py", "nowhere.py", "--problem", "shift"], "nowhere.py: no such file"),
        (["a.py", "a.py"], "which problem?"),
        (["a.py", "a.py", "--problem", "shift", "--dtype", "int8"], "shift has float32, float16"),
    ],
)
def test_compare_refuses_wrong_arguments(harness: Run, arguments: list[str], words: str) -> None:
    Path("a.py").write_text(HONEST)
    status, out, err = harness("compare", *arguments)
    assert (status, out, words in err) == (2, "", True), err
