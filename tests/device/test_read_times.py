"""Reads from the cache are told from reads from memory."""

import pytest
import torch

pytestmark = pytest.mark.gpu


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
