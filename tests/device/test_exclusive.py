"""A CPU is not held; a card is, under its own name, and watched meanwhile."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from harness.device import exclusive as quiet
from harness.device.cpu import CpuDevice
from harness.device.cuda import CudaDevice
from harness.device.monitor import GpuMonitor


def test_a_cpu_is_not_held() -> None:
    with quiet.exclusive_timing(CpuDevice(), lambda _: None) as watch:
        assert watch is None


def test_a_card_is_held_and_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    held: list[str] = []

    @contextmanager
    def exclusive(uuid: str, waiting: Any) -> Iterator[float]:
        held.append(uuid)
        waiting(1.0)
        yield 1.0
        held.remove(uuid)

    monkeypatch.setattr(quiet, "exclusive", exclusive)
    card = object.__new__(CudaDevice)
    card.uuid, card.bus = "no-such-card", "no-such-place"
    told: list[float] = []
    with quiet.exclusive_timing(card, told.append) as watch:
        assert held == ["no-such-card"]
        assert isinstance(watch, GpuMonitor)
        assert watch.conditions() is None  # there is no such card
    assert held == []
    assert told == [1.0]
