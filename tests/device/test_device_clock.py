"""The card's clock tells when the judge's kernels ran."""

import ctypes
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest
import torch

from harness.device.device_clock import DeviceClock
from harness.runner.driver import Driver


class MadeUp:
    """A driver whose kernel writes what a clock says to where its argument points."""

    def __init__(self, clock_ns: Callable[[], int]) -> None:
        self._clock_ns = clock_ns

    def load_module(self, ptx: bytes) -> int:
        assert b".entry now(" in ptx
        return 1

    def function(self, _module: int, name: str) -> int:
        assert name == "now"
        return 2

    def launch_kernel(self, *launch: Any) -> None:
        *_, arguments = launch
        place = ctypes.cast(arguments[0], ctypes.POINTER(ctypes.c_void_p))[0]
        ctypes.cast(place, ctypes.POINTER(ctypes.c_int64))[0] = self._clock_ns()


@pytest.fixture
def without_a_card(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda: SimpleNamespace(cuda_stream=0))


def clock(clock_ns: Callable[[], int]) -> DeviceClock:
    return DeviceClock(cast(Driver, MadeUp(clock_ns)), "cpu")


@pytest.mark.usefixtures("without_a_card")
def test_it_is_told_how_far_the_clock_is_ahead() -> None:
    made = clock(lambda: time.perf_counter_ns() + 5 * 10**9)
    assert made.fine
    assert made.ahead_s() == pytest.approx(5, abs=1e-3)
    assert 5 - 1e-3 < made.least_ahead_s() <= 5
    into = torch.zeros(1, dtype=torch.int64)
    made.write(into)
    assert int(into) > 5 * 10**9


@pytest.mark.usefixtures("without_a_card")
def test_a_clock_that_goes_in_steps_of_milliseconds_is_not_fine() -> None:
    assert not clock(lambda: time.perf_counter_ns() // 2_000_000 * 2_000_000).fine


@pytest.mark.usefixtures("without_a_card")
def test_a_reading_that_took_long_does_not_count() -> None:
    readings = iter(range(10**6))

    def now_ns() -> int:
        if next(readings) % 3 == 0:
            time.sleep(0.002)
        return time.perf_counter_ns()

    assert abs(clock(now_ns).ahead_s()) < 0.5e-3


@pytest.mark.gpu
def test_the_clock_goes_like_the_hosts() -> None:
    from harness.device.cuda import CudaDevice

    device = CudaDevice()
    clock = device.clock()
    assert clock is not None
    assert device.clock() is clock
    ahead_s = clock.ahead_s()
    now = torch.zeros(1, dtype=torch.int64, device=device.torch_device)
    for _ in range(5):
        before = time.perf_counter()
        clock.write(now)
        device.synchronize()
        after = time.perf_counter()
        assert before - 100e-6 < int(now) * 1e-9 - ahead_s < after + 100e-6
        time.sleep(0.003)
