"""Exclusive timing: the CPU is not held; a GPU is locked by its UUID, watched, and pinned for."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from harness.device import cuda
from harness.device.base import Exclusive
from harness.device.card_turns import Turn
from harness.device.cpu import CpuDevice
from harness.device.cuda import CudaDevice
from harness.device.file_locks import HostLock
from harness.device.monitor import GpuMonitor


def test_the_cpu_device_takes_no_lock() -> None:
    waited: list[float] = []
    with (
        CpuDevice().exclusive(waited.append) as first,
        CpuDevice().exclusive(waited.append) as second,
    ):
        assert first == second == Exclusive(monitor=None, runner_cpu=None)
    assert waited == []


@pytest.mark.usefixtures("places")
@pytest.mark.parametrize("cpu", [7, None])
def test_a_gpu_is_held_watched_and_pinned(monkeypatch: pytest.MonkeyPatch, cpu: int | None) -> None:
    held: list[str] = []

    lock = HostLock("no-such-card")

    @contextmanager
    def alone(uuid: str, waiting: Callable[[float], None]) -> Iterator[Turn]:
        held.append(uuid)
        waiting(1.0)
        yield Turn(1.0, lock)
        held.remove(uuid)

    @contextmanager
    def pinned(bus: str) -> Iterator[int | None]:
        held.append(bus)
        yield cpu
        held.remove(bus)

    monkeypatch.setattr(cuda.card_turns, "alone", alone)
    monkeypatch.setattr(cuda, "pinned", pinned)
    card = object.__new__(CudaDevice)
    card.uuid, card.bus = "no-such-card", "no-such-place"
    card._family, card._per_device = os.getpid(), 1
    waited: list[float] = []
    with card.exclusive(waited.append) as timing:
        assert held == ["no-such-card", "no-such-place"]
        assert timing.runner_cpu == cpu
        assert isinstance(timing.monitor, GpuMonitor)
        assert timing.monitor.conditions() is None  # there is no such card
    assert held == []
    assert waited == [1.0]
    lock.close()
