"""What is begun while torch is imported: builds into the cache, and the zygote."""

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from harness.device.cards import Card
from harness.device.cpu_plan import CpuPlan
from harness.device.quiet import Quiet
from harness.errors import MachineError
from harness.grading import head_start
from harness.grading.builds import Builds
from harness.grading.head_start import HeadStart
from harness.grading.job import Job, Options, Work
from harness.problem.package import Problem
from harness.sandbox.pause_gate import begun_before
from harness.solution.model import Invalid, Solution, Target

CARDS = [
    Card(number, f"GPU-{number}", f"0000:0{number}:00.0", "H200", "sm_90") for number in (0, 1)
]
WAIT_S = 30.0


class Builder:
    """A language that notes what it is to build, and may wait, or fail."""

    def __init__(self) -> None:
        self.built: list[tuple[str, str, Target]] = []
        self.begun, self.go_on = threading.Event(), threading.Event()
        self.go_on.set()
        self.error: Exception | None = None

    def build(
        self, solution: Solution, problem: Any, dtype: str, target: Target, cache: Any
    ) -> None:
        self.begun.set()
        assert self.go_on.wait(WAIT_S)
        if self.error is not None:
            raise self.error
        self.built.append((solution.name, dtype, target))


def plan_with(monkeypatch: pytest.MonkeyPatch, *, builders: int, apart: bool) -> None:
    plan = CpuPlan(seats={}, spare=(), rest=frozenset({0}), apart=apart, builders=builders)
    monkeypatch.setattr(head_start, "host_plan", lambda _card, _visible: plan)


@pytest.fixture
def builder(monkeypatch: pytest.MonkeyPatch) -> Builder:
    made = Builder()
    monkeypatch.setattr(head_start, "LANGUAGES", {"cuda": made})
    monkeypatch.setattr(head_start, "driver_cards", lambda: CARDS)
    plan_with(monkeypatch, builders=1, apart=True)
    monkeypatch.setattr(head_start, "move_thread", lambda _: True)
    monkeypatch.setattr(head_start, "begin_zygote", lambda: zygotes.append(1))
    zygotes: list[int] = []
    made.zygotes = zygotes  # type: ignore[attr-defined]
    return made


def work(problem: Problem, name: str, language: str = "cuda", **options: Any) -> Work:
    path = f"{name}.{language}"
    solution = Solution(
        path=Path(path), display_path=path, submitted=b"", source=b"", text="", author="alice",
        name=name, problem=problem.slug, language=language, hash=name, dtypes=None,
    )  # fmt: skip
    return Work(Job(path=path, solution=solution, problem=problem), Options(**options))


def test_the_first_file_for_nvcc_is_built_as_its_grade_will(
    shift: Problem, builder: Builder
) -> None:
    files = [work(shift, "a", "triton"), work(shift, "b"), work(shift, "c")]
    with HeadStart(files):
        pass
    target = Target(kind="cuda", arch="sm_90", timed=True, ahead=True)
    assert builder.built == [("b", shift.dtypes[0], target)]
    assert builder.zygotes == [1]  # type: ignore[attr-defined]


def test_several_judges_have_a_file_each_and_zygotes_of_their_own(
    shift: Problem, builder: Builder
) -> None:
    for chosen, names in (("all", ["a", "b"]), ("0,1", ["a", "b"]), ("1", ["a"]), ("7", [])):
        builder.built.clear()
        with HeadStart([work(shift, name) for name in "abc"], chosen):
            pass
        assert sorted(name for name, *_ in builder.built) == names
    assert builder.zygotes == []  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("builders", "apart", "affordable", "names"),
    [
        (6, True, 14, ["a", "b", "c"]),
        (14, True, 14, ["a", "b", "c", "d"]),
        (14, True, 4, ["a", "b"]),  # there is little memory
        (14, True, 1, ["a"]),
        (14, False, 14, ["a"]),  # builds and times take turns
    ],
)
def test_half_as_many_files_are_begun_as_will_be_built_side_by_side(
    shift: Problem,
    builder: Builder,
    monkeypatch: pytest.MonkeyPatch,
    builders: int,
    apart: bool,
    affordable: int,
    names: list[str],
) -> None:
    plan_with(monkeypatch, builders=builders, apart=apart)
    monkeypatch.setattr(head_start, "affordable_builders", lambda most: min(most, affordable))
    with HeadStart([work(shift, name) for name in "abcd"]):
        pass
    assert sorted(name for name, *_ in builder.built) == names


def test_a_judge_of_this_process_pauses_what_was_begun(shift: Problem, builder: Builder) -> None:
    waited = threading.Event()

    def on_wait() -> None:
        waited.set()
        builder.go_on.set()

    builder.go_on.clear()
    with HeadStart([work(shift, "a")]), Builds(workers=1) as builds:
        assert builder.begun.wait(WAIT_S)
        with builds.paused(on_wait):
            assert waited.is_set()
            assert len(builder.built) == 1
    assert not begun_before


def test_a_verdict_alone_needs_no_baseline(shift: Problem, builder: Builder) -> None:
    with HeadStart([work(shift, "a", timing=False)]):
        pass
    assert [target for *_, target in builder.built] == [
        Target(kind="cuda", arch="sm_90", timed=False, ahead=False)
    ]
    assert builder.zygotes == []  # type: ignore[attr-defined]


def test_nothing_is_begun_where_there_is_no_card_or_nothing_to_build(
    shift: Problem, builder: Builder, monkeypatch: pytest.MonkeyPatch
) -> None:
    invalid = Job(path="x.cu", solution=Invalid(message="no"), problem=shift)
    with HeadStart([Work(invalid, Options()), work(shift, "a", "pytorch")]):
        pass
    assert builder.built == []
    monkeypatch.setattr(head_start, "driver_cards", list)
    with HeadStart([work(shift, "a")]):
        pass
    assert builder.built == []
    assert builder.zygotes == [1]  # type: ignore[attr-defined]


def test_what_is_wrong_is_said_in_its_turn(shift: Problem, builder: Builder) -> None:
    builder.error = MachineError("no nvcc")
    with HeadStart([work(shift, "a")]):
        pass
    assert builder.built == []


def test_the_block_ends_when_the_build_has(shift: Problem, builder: Builder) -> None:
    builder.go_on.clear()
    with HeadStart([work(shift, "a")]):
        assert builder.begun.wait(WAIT_S)
        threading.Timer(0.1, builder.go_on.set).start()
    assert len(builder.built) == 1


def test_a_build_that_waits_for_its_turn_ends_with_the_command(
    shift: Problem, builder: Builder, monkeypatch: pytest.MonkeyPatch
) -> None:
    cancelled: list[int] = []
    plain = head_start.PauseGate.cancel
    monkeypatch.setattr(
        head_start.PauseGate, "cancel", lambda gate: cancelled.append(1) or plain(gate)
    )
    with pytest.raises(KeyboardInterrupt), HeadStart([work(shift, "a")]):
        raise KeyboardInterrupt
    assert cancelled == [1]


def test_a_build_that_waits_until_times_are_taken_ends_with_the_command(
    shift: Problem, builder: Builder, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan_with(monkeypatch, builders=1, apart=False)
    with Quiet().timing(lambda _: None), HeadStart([work(shift, "a")]):
        pass
    assert builder.built == []
    with HeadStart([work(shift, "a")]):
        assert builder.begun.wait(WAIT_S)
    assert len(builder.built) == 1


def test_neither_it_nor_what_feeds_several_judges_imports_torch() -> None:
    modules = (
        "harness.grading.head_start",
        "harness.grading.host_cards",
        "harness.commands.resuming",
        "harness.report.terminal",
    )
    program = f"import sys, {', '.join(modules)}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
