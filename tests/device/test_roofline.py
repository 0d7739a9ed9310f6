"""Ceilings with a clock that is made up, and what they mean for a problem."""

import itertools
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest
import torch
from support.samples import interval

from harness.device import roofline as light
from harness.device.base import Device
from harness.device.cpu import CpuDevice
from harness.device.roofline import Roofline
from harness.grading.benchmark import Timing
from harness.judge.task import Task
from harness.problem.case import Case
from harness.progress.progress import NoProgress
from harness.records.result import Verdict
from harness.session.fault import Fault
from harness.timing.audit import SOL_SLACK, IdleBaseline, below_sol_fault

CASE = Case(sizes={"n": 50}, scalars={"s": 0.5})


class Card(Device):
    kind = cast(Any, "cuda")

    def __init__(self) -> None:
        pass


@pytest.fixture
def ceilings(monkeypatch: pytest.MonkeyPatch) -> Roofline:
    """Every copy and every product takes a millisecond."""
    monkeypatch.setattr(light, "_COPY_BYTES", 1 << 12)
    monkeypatch.setattr(light, "_SIDE", 64)

    def fastest(self: Roofline, work: Any) -> float:
        work()
        return 1e-3

    monkeypatch.setattr(Roofline, "_fastest", fastest)
    return Roofline(Card())


def test_ceilings_are_rates(ceilings: Roofline) -> None:
    assert ceilings.bandwidth() == pytest.approx(3 * (1 << 12) / 1e-3)
    assert ceilings.peak(torch.float32, tf32=False) == pytest.approx(2 * 64**3 / 1e-3)
    assert ceilings.peak(torch.float64, tf32=True) == pytest.approx(2 * 32**3 / 1e-3)
    assert ceilings.peak(torch.complex64, tf32=False) == ceilings.peak(torch.float32, tf32=False)
    assert ceilings.peak(torch.int32, tf32=True) is None


def test_tf32_is_switched_back(ceilings: Roofline) -> None:
    before = torch.backends.cuda.matmul.allow_tf32
    ceilings.peak(torch.float32, tf32=True)
    assert torch.backends.cuda.matmul.allow_tf32 is before


def test_the_slower_of_bytes_and_operations(ceilings: Roofline, shift_task: Task) -> None:
    problem = shift_task.problem  # 50 operations and 400 bytes
    bytes_s = 400 / ceilings.bandwidth()
    assert ceilings.sol_time_s(problem, CASE, "float32", strict=True) == pytest.approx(bytes_s)
    unknown = replace(problem, bytes=None)
    peak = ceilings.peak(torch.float32, tf32=True)
    assert peak is not None
    operations_s = 50 / peak
    found = ceilings.sol_time_s(unknown, CASE, "float32", strict=True)
    assert found == pytest.approx(operations_s)
    nothing = replace(problem, bytes=None, flops=None)
    assert ceilings.sol_time_s(nothing, CASE, "float32", strict=True) is None


def test_a_cpu_has_none(shift_task: Task) -> None:
    assert (
        Roofline(CpuDevice()).sol_time_s(shift_task.problem, CASE, "float32", strict=True) is None
    )


def test_faster_than_light() -> None:
    assert below_sol_fault(1.0, 1.0, "n=1") is None
    assert below_sol_fault(SOL_SLACK, 1.0, "n=1") is None
    fault = below_sol_fault(0.5e-3, 1e-3, "n=1")
    assert fault is not None
    assert fault.verdict is Verdict.REJECTED
    assert fault.message.startswith("n=1: a call takes 500 µs")


def test_ceilings_are_not_measured_beside_what_was_left_at_work(
    monkeypatch: pytest.MonkeyPatch, shift_task: Task
) -> None:
    """They are kept: whoever comes later would be held to a slower card."""
    timing = Timing(CpuDevice(), NoProgress())
    measured = cast(Any, SimpleNamespace(time_s=interval(1e-3), model_copy=lambda update: "fine"))
    usual = IdleBaseline(4e-5, 2e-4)
    asked: list[bool] = []
    monkeypatch.setattr(Roofline, "sol_time_s", lambda *_, strict: asked.append(strict))
    monkeypatch.setattr(timing._device, "probe", lambda: 2e-3)
    fault = timing._against_light(shift_task, CASE, measured, usual)
    assert isinstance(fault, Fault)
    assert (fault.verdict, fault.shared, asked) == (Verdict.REJECTED, True, [])
    now_and_then = itertools.cycle([2e-3, 4e-5, 4e-5])  # is the host's doing
    monkeypatch.setattr(timing._device, "probe", lambda: next(now_and_then))
    assert timing._against_light(shift_task, CASE, measured, usual) == "fine"
    assert asked == [True, False]


@pytest.mark.parametrize(("each_s", "least"), [(1e-4, 100), (1e-3, 15), (1e-1, 3)])
def test_waiting_for_the_device_hardly_counts(
    monkeypatch: pytest.MonkeyPatch, each_s: float, least: int
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
    monkeypatch.setattr(light.time, "perf_counter", lambda: now)
    assert Roofline(device)._fastest(work) == pytest.approx(each_s, rel=0.035)
    assert count >= 5 * least


def test_measured_for_real() -> None:
    """On this very processor: a rate is a positive number, whatever it is."""
    device = CpuDevice()
    ceilings = Roofline(device)
    assert ceilings._fastest(lambda: torch.zeros(1000).sum()) > 0
