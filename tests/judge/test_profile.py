"""What Nsight Compute says is read with care; the whole way with a stand-in for it."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.plain_languages import PLAIN_LANGUAGES

from harness.device.cpu import CpuDevice
from harness.errors import MachineError
from harness.grading.grader import Grader
from harness.grading.job import Job, Options
from harness.judge.profile import (
    MAX_LAUNCHES,
    METRICS,
    TOOL,
    TRAFFIC,
    calls_of,
    last_call,
    profile,
    profile_each,
    read_launches,
)
from harness.judge.task import Task
from harness.languages.read import read_solution
from harness.problem.case import whole_case
from harness.problem.format.load import load_problem
from harness.progress.progress import NoProgress
from harness.records.profile import KernelProfile, Profile
from harness.records.result import Result, Verdict
from harness.runner.driver import END_OF_CALLS as END
from harness.session.programs import RunnerProgram

SHIFT = load_problem(Path(__file__).parents[1] / "support/packages/shift")
CASE = whole_case(SHIFT, SHIFT.cpu_benchmarks[0])
HONEST = b"def solution(x, s, y, n):\n    for i in range(n):\n        y[i] = x[i] + s\n"

HEADER = (
    '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size",'
    '"Grid Size","Device","CC","dram__bytes_read.sum","dram__bytes_write.sum",'
    '"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed","gpu__time_duration.sum",'
    '"sm__throughput.avg.pct_of_peak_sustained_elapsed",'
    '"sm__warps_active.avg.pct_of_peak_sustained_active"\n'
    '"","","","","","","","","","","","byte","byte","%","nsecond","%","%"\n'
)


def row(number: int, name: str = "tiled(const float *, float *)", read: str = "8,388,608") -> str:
    return (
        f'"{number}","4711","python3.12","127.0.0.1","{name}","1","7","(256, 1, 1)",'
        f'"(4096, 1, 1)","0","9.0","{read}","4,194,304","61.25","12,345","12.50","93.7"\n'
    )


SAID = (
    "==PROF== Connected to process 4711 (/usr/bin/python3.12)\n"
    '==PROF== Profiling "tiled" - 0: 0%....50%....100% - 2 passes\n'
    "the submission says hello\n"
    "==PROF== Disconnected from process 4711\n"
) + HEADER


def test_a_launch_is_read_in_si_units() -> None:
    (kernel,) = read_launches(SAID + row(0))
    assert (kernel.name, kernel.grid, kernel.block) == (
        "tiled(const float *, float *)",
        "(4096, 1, 1)",
        "(256, 1, 1)",
    )
    assert kernel.duration_s == pytest.approx(12.345e-6)
    assert (kernel.read_bytes, kernel.written_bytes) == (8388608.0, 4194304.0)
    assert (kernel.sm, kernel.memory, kernel.occupancy) == pytest.approx((0.125, 0.6125, 0.937))


@pytest.mark.parametrize(
    ("unit", "bytes_"), [("byte", 2.5), ("Kbyte", 2.5e3), ("Mbyte", 2.5e6), ("Gbyte", 2.5e9)]
)
def test_units_are_those_of_the_second_line(unit: str, bytes_: float) -> None:
    said = (SAID + row(0, read="2.5")).replace('"byte"', f'"{unit}"', 1)
    assert read_launches(said)[0].read_bytes == bytes_


@pytest.mark.parametrize("value", ["", "n/a", "nan", "inf", "-1", "1e999", "0x10", "\x1b[2J"])
def test_a_value_that_is_no_number_is_unknown(value: str) -> None:
    (kernel,) = read_launches(SAID + row(0, read=value))
    assert kernel.read_bytes is None
    assert kernel.written_bytes == 4194304.0


def test_an_unknown_unit_or_metric_gives_no_value() -> None:
    (kernel,) = read_launches((SAID + row(0)).replace('"nsecond"', '"fortnight"'))
    assert kernel.duration_s is None
    (kernel,) = read_launches((SAID + row(0)).replace("gpu__time_duration", "gpu__other"))
    assert kernel.duration_s is None


def test_lines_of_the_submission_are_left_out() -> None:
    said = SAID + row(0) + "hello\n" + '"1","too","few"\n' + '"x' + "\n" + row(1, "second")
    assert [kernel.name for kernel in read_launches(said)][1:] == ["second"]


@pytest.mark.parametrize("said", ["", "hello\n", '"ID"\n', '"ID","nothing"\n', HEADER])
def test_no_table_no_launches(said: str) -> None:
    assert read_launches(said) == ()


@given(st.text(alphabet='",\n10ID.%x\r\x00é', max_size=400))
def test_any_text_can_be_read(text: str) -> None:
    for kernel in read_launches(HEADER + text) + read_launches(SAID + text + row(0)):
        assert KernelProfile.model_validate(kernel.model_dump()) == kernel


def test_a_flood_is_bounded() -> None:
    assert len(read_launches(SAID + row(0, "n" * 1000) * 5000)) == MAX_LAUNCHES
    assert len(read_launches(SAID + row(0, "n" * 1000))[0].name) <= 300
    assert read_launches(SAID + '"0' * 1_000_000) == ()


def launches(*names: str) -> list[KernelProfile]:
    return [KernelProfile(name=name, grid=str(i), block="") for i, name in enumerate(names)]


class TestLastCall:
    def test_the_second_of_two_equal_calls(self) -> None:
        found, known = last_call(launches("a", "b", "a", "b"))
        assert known
        assert [kernel.grid for kernel in found] == ["2", "3"]

    @pytest.mark.parametrize("names", ["a", "ab", "aab", "abba"])
    def test_all_launches_where_the_two_calls_differ(self, names: str) -> None:
        found, known = last_call(launches(*names))
        assert not known
        assert len(found) == len(names)

    def test_all_launches_of_a_full_table(self) -> None:
        assert not last_call(launches(*["a"] * MAX_LAUNCHES))[1]


STAND_IN = f"""#!{sys.executable} -IS
import subprocess, sys
at = sys.argv.index({sys.executable!r})
given = sys.argv[1:at]
assert given[given.index("--metrics") + 1].split(",") == {{metrics!r}}, given
assert ("--profile-from-start" in given) == {{told!r}}, given
print("==PROF== Connected", flush=True)
status = subprocess.run(sys.argv[at:], close_fds=False).returncode
print("==PROF== Disconnected", status, flush=True)
print({{said!r}}, flush=True)
"""
"""Starts the runner as the tool does, and prints a table when it has ended."""


@pytest.fixture
def tool(tmp_path: Path, stand_in_for_torch: None):
    def make(said: str, metrics: Iterable[str] = METRICS, *, told: bool = False) -> Path:
        tmp_path.chmod(0o755)  # the runner's user is another one
        path = tmp_path / TOOL
        path.write_text(STAND_IN.format(said=said, metrics=list(metrics), told=told))
        path.chmod(0o755)
        return path

    return make


def profiled(task: Task, tool: Path, source: bytes = HONEST) -> Profile | str:
    return profile(task, CASE, RunnerProgram(kind="python", source=source), tool)


def test_profile_gives_the_kernels_of_the_second_call(shift_task: Task, tool) -> None:
    both = HEADER + row(0, "one") + row(1, "two") + row(2, "one") + row(3, "two")
    outcome = profiled(shift_task, tool(both))
    assert isinstance(outcome, Profile), outcome
    assert outcome.one_call
    assert [kernel.name for kernel in outcome.kernels] == ["one", "two"]
    assert outcome.spec == CASE.spec


def test_two_calls_are_made(shift_task: Task, tool) -> None:
    said = HONEST + b"    print('called')\n"
    outcome = profiled(shift_task, tool("no table"), said)
    assert isinstance(outcome, str)
    assert outcome.startswith("ncu told of no kernel; it printed\n==PROF== Connected")
    assert outcome.count("called\n") == 2
    assert "Disconnected 0" in outcome  # the runner ended by itself


def test_a_table_that_was_cut_is_not_one_call(shift_task: Task, tool) -> None:
    flood = HEADER + row(0) + row(1) + "x" * 5_000_000
    outcome = profiled(shift_task, tool(flood))
    assert isinstance(outcome, Profile)
    assert not outcome.one_call


def test_a_table_has_all_attributes_of_the_card_too(shift_task: Task, tool) -> None:
    """As the tool prints it: hundreds of columns beside what was asked for."""
    lines = (HEADER + row(0, "one") + row(1, "one")).splitlines()
    table = [
        line + ',"device__attribute"' * 900 if line.startswith('"') else line for line in lines
    ]
    outcome = profiled(shift_task, tool("\n".join(table)))
    assert isinstance(outcome, Profile), outcome
    assert [kernel.name for kernel in outcome.kernels] == ["one"]
    assert outcome.kernels[0].duration_s is not None


def test_counters_that_are_forbidden(shift_task: Task, tool) -> None:
    outcome = profiled(shift_task, tool("==ERROR== ERR_NVGPUCTRPERM - The user does not …"))
    assert isinstance(outcome, str)
    assert "NVreg_RestrictProfilingToAdminUsers=0" in outcome


def test_a_tool_that_does_not_work(shift_task: Task, tmp_path: Path, tool) -> None:
    broken = tool("")
    broken.write_text("#!/bin/sh\necho no such option\nexit 3\n")
    outcome = profiled(shift_task, broken)
    assert isinstance(outcome, str)
    assert outcome.startswith("under ncu it failed: ")


class TestSeveralCases:
    """The stand-in prints the table."""

    CASES = tuple(whole_case(SHIFT, {"n": n, "s": 1}) for n in (5, 6, 7))
    TABLE = HEADER + "".join(
        row(number, name)
        for number, name in enumerate(["a", END, "b", "c", f"{END}()", "b", "b", "b", END])
    )

    @staticmethod
    def profiled(
        task: Task, tool: Path, source: bytes = HONEST, count: int = 3, **more: Any
    ) -> list[Profile] | str:
        program = RunnerProgram(kind="python", source=source)
        return profile_each(task, TestSeveralCases.CASES[:count], program, tool, **more)

    def test_each_gets_the_launches_of_its_call(self, shift_task: Task, tool) -> None:
        named = tool(self.TABLE, TRAFFIC, told=True)
        outcome = self.profiled(shift_task, named, metrics=TRAFFIC)
        assert not isinstance(outcome, str), outcome
        assert [profile.spec for profile in outcome] == [case.spec for case in self.CASES]
        assert [len(profile.kernels) for profile in outcome] == [1, 2, 3]
        assert [kernel.name for kernel in outcome[1].kernels] == ["b", "c"]
        assert all(profile.one_call for profile in outcome)

    def test_launches_that_cannot_be_told_apart(self, shift_task: Task, tool) -> None:
        outcome = self.profiled(shift_task, tool(self.TABLE, told=True), count=2)
        assert outcome == "ncu told of 9 launches, in 3 calls that ended, of 2"

    def test_a_call_without_a_kernel(self, shift_task: Task, tool) -> None:
        table = HEADER + row(0, "a") + row(1, END) + row(2, END)
        outcome = self.profiled(shift_task, tool(table, told=True), count=2)
        assert outcome == "a call launches no kernel"

    def test_no_kernel_at_all(self, shift_task: Task, tool) -> None:
        outcome = self.profiled(shift_task, tool("nothing", told=True))
        assert isinstance(outcome, str)
        assert outcome.startswith("ncu told of no kernel; it printed\n")

    def test_a_fault_is_no_matter_of_telling(self, shift_task: Task, tool) -> None:
        outcome = self.profiled(shift_task, tool(self.TABLE, told=True), b"solution = None\n")
        assert isinstance(outcome, str)
        assert outcome.startswith("under ncu it failed: ")

    def test_what_comes_after_the_last_end_is_of_no_call(self) -> None:
        found = calls_of(launches("a", END, "b", END, "c"))
        assert [[kernel.grid for kernel in call] for call in found] == [["0"], ["2"]]


class TestGrade:
    @pytest.fixture
    def graded(self, tmp_path: Path, stand_in_for_torch: None):
        def graded(tool: Path | None, source: bytes = HONEST) -> Result:
            path = tmp_path / "mine.py"
            path.write_bytes(source)
            solution = read_solution(path, problem="shift")
            job = Job(path=path.name, solution=solution, problem=SHIFT)
            parts: dict[str, Any] = {"languages": PLAIN_LANGUAGES, "profiler": lambda: tool}
            with Grader(CpuDevice(), NoProgress(), **parts) as grader:
                return grader.grade(job, Options(timing=False, shrink_s=0.0, profile=True))

        return graded

    def test_accepted(self, graded, tool) -> None:
        result = graded(tool(HEADER + row(0) + row(1)))
        assert result.accepted
        assert result.profile is not None
        assert len(result.profile.kernels) == 1
        assert (result.measurements, result.score) == ((), None)
        assert Result.from_json(result.to_json()) == result

    def test_without_a_profile_the_verdict_stands(self, graded, tool) -> None:
        result = graded(tool("nothing"))
        assert result.accepted
        assert result.profile is None
        assert any(note.startswith("no profile: ncu told of no kernel") for note in result.notes)

    def test_a_submission_that_is_not_accepted_is_not_profiled(self, graded) -> None:
        result = graded(None, b"def solution(*_): ...")
        assert result.verdict is Verdict.WRONG_ANSWER

    def test_without_the_tool(self, graded) -> None:
        with pytest.raises(MachineError, match="needs Nsight Compute"):
            graded(None)
