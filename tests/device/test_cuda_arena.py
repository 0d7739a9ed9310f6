"""Shared memory of a GPU, with a driver that is made up: what is given back, and what is said."""

import os
from typing import Any, cast

import pytest
import torch

from harness.device.base import OutOfDeviceMemory
from harness.device.cuda import CudaDevice
from harness.errors import MachineError
from harness.runner.driver import CudaError, Driver


class MadeUp:
    """A driver that fails at a point, and notes what it is asked."""

    device = 0

    def __init__(self, fails: str, code: int = 2) -> None:
        self.fails, self.code = fails, code
        self.asked: list[str] = []
        self.fd = -1

    def granularity(self) -> int:
        return 1 << 21

    def create(self, size: int) -> int:
        self._ask("create")
        assert size % self.granularity() == 0
        return 7

    def export_fd(self, handle: int) -> int:
        self._ask("export")
        self.fd = os.memfd_create("exported")
        return self.fd

    def map(self, handle: int, size: int) -> int:
        self._ask("map")
        raise AssertionError

    def release(self, handle: int) -> None:
        assert handle == 7
        self._ask("release")

    def _ask(self, what: str) -> None:
        self.asked.append(what)
        if what == self.fails:
            raise CudaError(what, self.code, "no luck")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    seen: list[str] = []
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: seen.append("cache"))
    keeps(monkeypatch, 1 << 30)
    return seen


def keeps(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    """Torch keeps so many bytes of a card that has 16 GiB free beside."""
    monkeypatch.setattr(torch.cuda, "memory_allocated", lambda: 5 << 30)
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda: size + (5 << 30))
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: (16 << 30, 24 << 30))


def device_with(driver: MadeUp, asked: list[str]) -> CudaDevice:
    device = object.__new__(CudaDevice)
    device.name, device.driver = "a made-up card", cast(Driver, cast(Any, driver))
    driver.asked = asked
    return device


def test_the_cache_is_given_back_before_memory_is_asked_for(asked: list[str]) -> None:
    with pytest.raises(OutOfDeviceMemory, match=r"cannot allocate .* on a made-up card") as told:
        device_with(MadeUp("create"), asked).arena(5 << 30)
    assert asked == ["cache", "create"]
    assert "5 GiB" in str(told.value)
    assert "nvidia-smi" in str(told.value)


def test_a_little_that_is_kept_stays(asked: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    keeps(monkeypatch, 512 << 20)
    device = device_with(MadeUp("create"), asked)
    assert device.free_bytes() == 16 << 30
    with pytest.raises(OutOfDeviceMemory):
        device.arena(5 << 30)
    assert asked == ["create"]
    keeps(monkeypatch, 513 << 20)
    assert device.free_bytes() == 16 << 30
    assert asked == ["create", "cache"]


def test_other_faults_of_the_driver_do_not_mean_that_less_would_do(asked: list[str]) -> None:
    with pytest.raises(MachineError) as told:
        device_with(MadeUp("create", code=801), asked).arena(5000)
    assert not isinstance(told.value, OutOfDeviceMemory)


@pytest.mark.parametrize(("fails", "exported"), [("export", False), ("map", True)])
def test_memory_that_cannot_be_shared_is_given_back(
    asked: list[str], fails: str, *, exported: bool
) -> None:
    driver = MadeUp(fails)
    with pytest.raises(OutOfDeviceMemory):
        device_with(driver, asked).arena(5000)
    assert asked[-2:] == [fails, "release"]
    assert (driver.fd >= 0) == exported
    if exported:
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(driver.fd)
