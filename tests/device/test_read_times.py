"""Reads from the cache are told from reads from memory."""

from typing import cast

import pytest
import torch
from torch import Tensor

from harness.device import read_times
from harness.device.read_times import ReadTimes
from harness.runner.driver import Driver


class FakeKernel:
    """Reads take 700 cycles from memory and 300 from the cache, or what ``disturbed`` says."""

    def __init__(self) -> None:
        self.flushed = 0
        self.first = False
        self.disturbed: dict[int, tuple[int, int]] = {}
        """By which flush: cycles from memory, and from the cache."""

    def flush(self) -> None:
        self.flushed += 1
        self.first = True

    def launch(self, count: int, words: Tensor, places: Tensor, cycles: Tensor) -> None:
        assert count == len(places) == len(cycles) <= len(words)
        memory, cache = self.disturbed.get(self.flushed, (700, 300))
        cycles.fill_(memory if self.first else cache)
        self.first = False


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> FakeKernel:
    fake = FakeKernel()
    monkeypatch.setattr(read_times, "OwnKernel", lambda *_: fake)
    return fake


def calibrated(kernel: FakeKernel) -> float:
    return ReadTimes(cast(Driver, None), "cpu", kernel.flush).cached_below


def test_cache_and_memory_are_told_apart_when_the_code_is_loaded(kernel: FakeKernel) -> None:
    kernel.disturbed = {1: (5000, 300)}
    assert calibrated(kernel) == 500
    assert kernel.flushed == 2


def test_a_disturbance_is_not_the_last_word(kernel: FakeKernel) -> None:
    kernel.disturbed = {2: (700, 9000), 3: (700, 700)}
    assert calibrated(kernel) == 500
    assert kernel.flushed == 4


@pytest.mark.parametrize("cycles", [(500, 500), (300, 700), (0, 0)])
def test_what_cannot_be_told_apart_stays_unknown(
    kernel: FakeKernel, cycles: tuple[int, int]
) -> None:
    kernel.disturbed = dict.fromkeys(range(100), cycles)
    assert calibrated(kernel) == 0
    assert kernel.flushed < 10


@pytest.mark.gpu
def test_what_was_read_before_is_told_from_what_was_not() -> None:
    from harness.device.cuda import CudaDevice

    device = CudaDevice()
    timer = device.read_times()
    assert timer is not None
    words = torch.zeros(1 << 24, dtype=torch.int64, device=device.torch_device)
    places = torch.randperm(len(words), device=device.torch_device)[:1024]
    cycles = torch.zeros(1024, dtype=torch.int64, device=device.torch_device)
    shares = []
    for _ in range(2):
        device.flush()
        for order in (places, places.flip(0)):
            timer.measure(words, order, cycles)
            shares.append(float((cycles < timer.cached_below).double().mean()))
    assert max(shares[0::2]) < 0.25
    assert min(shares[1::2]) > 0.5
