"""How long a card takes for steps, whatever the host takes to launch them."""

import subprocess
import sys
import time
from collections.abc import Iterator
from typing import cast

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from harness.device.device_clock import DeviceClock
from harness.device.lag import Lag, seconds_on_device

MS = st.floats(0, 1).map(lambda part: part * 1e-3)
STEPS = st.lists(st.tuples(MS, MS), min_size=1, max_size=5)
"""Of each step how long the host takes to launch it, and the device to do it."""

_BUSY = """
import time, torch
a = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
torch.matmul(a, a)
torch.cuda.synchronize()
print("busy", flush=True)
while True:
    for _ in range(8):
        torch.matmul(a, a)
    torch.cuda.synchronize()
"""


def run(steps: list[tuple[float, float]], waits: float = 0.0) -> float:
    """What is told of ``steps``, before which the device ``waits`` for other work."""
    launched, done, now, end = [], [], 0.0, 0.0
    for launch_s, device_s in steps:
        now += launch_s
        end = max(end, now) + device_s + (waits if not done else 0.0)
        launched.append(now)
        done.append(end)
    return seconds_on_device(launched, done)


@given(STEPS)
def test_the_devices_seconds_are_told_and_the_hosts_are_not(
    steps: list[tuple[float, float]],
) -> None:
    assert run(steps) == pytest.approx(sum(device_s for _, device_s in steps), abs=1e-9)


@given(STEPS, MS)
def test_waiting_for_other_work_counts(steps: list[tuple[float, float]], waits: float) -> None:
    assert run(steps, waits) == pytest.approx(run(steps) + waits, abs=1e-9)


def test_a_step_that_was_done_before_its_launch_returned_takes_nothing() -> None:
    assert seconds_on_device([1.0, 2.0, 3.0], [0.5, 2.25, 2.75]) == pytest.approx(0.25)


class LateClock:
    """Of a card that is some seconds ahead of the host, and at other work for ``late_s`` first."""

    def __init__(self, late_s: float) -> None:
        self._late_s = late_s
        self.asked = 0

    def least_ahead_s(self) -> float:
        self.asked += 1
        return 5.0

    def write(self, into: torch.Tensor) -> None:
        into.fill_(round((time.perf_counter() + 5.0 + self._late_s) * 1e9))


def test_of_a_slow_host_and_a_late_card_the_card_alone_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)

    def told(late_s: float) -> float:
        return Lag(cast(DeviceClock, LateClock(late_s)), "cpu").seconds([lambda: time.sleep(0.03)])

    assert told(0.0) == 0
    assert 10.029 < told(10.0) < 11


def test_both_clocks_are_compared_ten_times_a_second_at_most(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    clock = LateClock(0.0)
    lag = Lag(cast(DeviceClock, clock), "cpu")
    assert clock.asked == 0
    monkeypatch.setattr(time, "perf_counter", lambda: 7.0)
    for _ in range(3):
        lag.seconds([])
    assert clock.asked == 1
    monkeypatch.setattr(time, "perf_counter", lambda: 7.2)
    lag.seconds([])
    assert clock.asked == 2


@pytest.fixture
def busy() -> Iterator[None]:
    """Another process that multiplies on the card until the test ends."""
    process = subprocess.Popen([sys.executable, "-c", _BUSY], stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        process.stdout.readline()
        yield
    finally:
        process.kill()
        process.communicate()


@pytest.mark.gpu
def test_a_host_that_is_slow_to_launch_is_no_lag() -> None:
    from harness.device.cuda import CudaDevice

    device = CudaDevice()
    quick = sorted(device.lag() for _ in range(9))[4]
    slow = sorted(device.lag(lambda: time.sleep(2e-3)) for _ in range(9))[4]
    assert 0 < quick < 0.5e-3
    assert slow < quick + 50e-6


@pytest.mark.gpu
@pytest.mark.usefixtures("busy")
def test_work_of_another_process_is_lag() -> None:
    from harness.device.cuda import CudaDevice

    device = CudaDevice()
    assert sorted(device.lag() for _ in range(9))[4] > 0.5e-3
