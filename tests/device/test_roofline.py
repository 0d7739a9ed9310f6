"""Rooflines with a clock that is made up, and speed-of-light times of a problem."""

import itertools
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest
import torch
from support.samples import interval

from harness.device import roofline as roofline_module
from harness.device.base import Exclusive
from harness.device.cpu import CpuDevice
from harness.device.roofline import Roofline
from harness.grading.benchmark import _Run
from harness.judge.task import Task
from harness.problem.case import Case
from harness.progress.progress import NoProgress
from harness.records.result import Verdict
from harness.session.fault import Fault
from harness.timing.audit import SOL_SLACK, IdleBaseline, below_sol_fault
from harness.timing.budget import CPU_BUDGET

CASE = Case(sizes={"n": 50}, scalars={"s": 0.5})


class RealDevice(CpuDevice):
    """The host, as if kernels were executed on it and not emulated."""

    emulated = False


@pytest.fixture
def roofline(monkeypatch: pytest.MonkeyPatch) -> Roofline:
    """Every copy and every product takes a millisecond."""
    monkeypatch.setattr(roofline_module, "_COPY_BYTES", 1 << 12)
    monkeypatch.setattr(roofline_module, "_SIDE", 64)

    def fastest(self: Roofline, work: Any) -> float:
        work()
        return 1e-3

    monkeypatch.setattr(Roofline, "_fastest", fastest)
    return Roofline(RealDevice())


def test_bandwidth_and_peaks_are_rates(roofline: Roofline) -> None:
    assert roofline.bandwidth() == pytest.approx(3 * (1 << 12) / 1e-3)
    assert roofline.peak(torch.float32, tf32=False) == pytest.approx(2 * 64**3 / 1e-3)
    assert roofline.peak(torch.float64, tf32=True) == pytest.approx(2 * 32**3 / 1e-3)
    assert roofline.peak(torch.complex64, tf32=False) == roofline.peak(torch.float32, tf32=False)
    assert roofline.peak(torch.int32, tf32=True) is None


def test_tf32_is_switched_back(roofline: Roofline) -> None:
    before = torch.backends.cuda.matmul.allow_tf32
    roofline.peak(torch.float32, tf32=True)
    assert torch.backends.cuda.matmul.allow_tf32 is before


def test_sol_time_is_the_slower_of_bytes_and_operations(
    roofline: Roofline, shift_task: Task
) -> None:
    problem = shift_task.problem  # 50 operations and 400 bytes
    bytes_s = 400 / roofline.bandwidth()
    assert roofline.sol_time_s(problem, CASE, "float32", strict=True) == pytest.approx(bytes_s)
    unknown = replace(problem, bytes=None)
    peak = roofline.peak(torch.float32, tf32=True)
    assert peak is not None
    operations_s = 50 / peak
    found = roofline.sol_time_s(unknown, CASE, "float32", strict=True)
    assert found == pytest.approx(operations_s)
    nothing = replace(problem, bytes=None, flops=None)
    assert roofline.sol_time_s(nothing, CASE, "float32", strict=True) is None


def test_an_emulating_device_has_no_sol_time(shift_task: Task) -> None:
    assert (
        Roofline(CpuDevice()).sol_time_s(shift_task.problem, CASE, "float32", strict=True) is None
    )


def test_below_sol_fault_rejects_impossible_times() -> None:
    assert below_sol_fault(1.0, 1.0, "n=1") is None
    assert below_sol_fault(SOL_SLACK, 1.0, "n=1") is None
    fault = below_sol_fault(0.5e-3, 1e-3, "n=1")
    assert fault is not None
    assert fault.verdict is Verdict.REJECTED
    assert fault.message.startswith("n=1: a call takes 500 µs")


def test_rooflines_are_not_measured_while_the_device_is_busy(
    monkeypatch: pytest.MonkeyPatch, shift_task: Task
) -> None:
    """They are kept: whatever is timed later would be held against a slower device."""
    device = CpuDevice()
    task = replace(shift_task, device=device)
    overhead = SimpleNamespace(idle=IdleBaseline(4e-5, 2e-4))
    trusted = cast(Any, SimpleNamespace(overhead=lambda _: overhead))
    parts = SimpleNamespace(progress=NoProgress(), roofline=Roofline(device), trusted=trusted)
    run = _Run(cast(Any, parts), task, Exclusive(), CPU_BUDGET)
    measured = cast(Any, SimpleNamespace(time_s=interval(1e-3), model_copy=lambda update: "fine"))
    asked: list[bool] = []
    monkeypatch.setattr(Roofline, "sol_time_s", lambda *_, strict: asked.append(strict))
    monkeypatch.setattr(device, "probe", lambda: 2e-3)
    fault = run._against_roofline(task, CASE, measured)
    assert isinstance(fault, Fault)
    assert (fault.verdict, fault.shared, asked) == (Verdict.REJECTED, True, [])
    now_and_then = itertools.cycle([2e-3, 4e-5, 4e-5])  # is the host's doing
    monkeypatch.setattr(device, "probe", lambda: next(now_and_then))
    assert run._against_roofline(task, CASE, measured) == "fine"
    assert asked == [True, False]


@pytest.mark.parametrize(
    ("each_s", "tried", "repeated"), [(1e-4, 5, 100), (1e-3, 5, 19), (1e-1, 2, 1)]
)
def test_fastest_leaves_out_the_wait_for_the_device(
    monkeypatch: pytest.MonkeyPatch, each_s: float, tried: int, repeated: int
) -> None:
    """Where it costs 0.3 ms each time."""
    now, count = 0.0, 0

    def work() -> None:
        nonlocal now, count
        now, count = now + each_s, count + 1

    def wait() -> None:
        nonlocal now
        now += 3e-4

    device = CpuDevice()
    monkeypatch.setattr(device, "synchronize", wait)
    monkeypatch.setattr(roofline_module.time, "perf_counter", lambda: now)
    assert Roofline(device)._fastest(work) == pytest.approx(each_s, rel=0.035)
    assert count == tried + 2 * repeated  # which agree


@pytest.mark.parametrize(
    ("took_s", "asked", "fastest_s"),
    [
        ([1.0, 1.001], 2, 1.0),
        ([1.2, 1.0, 1.001], 3, 1.0),
        ([1.2, 1.1, 1.0, 1.05, 0.9], 5, 0.9),
    ],
)
def test_repeats_end_when_the_two_fastest_agree(
    monkeypatch: pytest.MonkeyPatch, took_s: list[float], asked: int, fastest_s: float
) -> None:
    left = iter([1.0, *took_s])  # the first says how many go into a repeat
    monkeypatch.setattr(Roofline, "_seconds", lambda *_: next(left))
    assert Roofline(CpuDevice())._fastest(lambda: None) == fastest_s
    assert len(list(left)) == len(took_s) - asked


def test_fastest_gives_a_positive_time_on_this_processor() -> None:
    """On this very processor: a rate is a positive number, whatever it is."""
    device = CpuDevice()
    roofline = Roofline(device)
    assert roofline._fastest(lambda: torch.zeros(1000).sum()) > 0
