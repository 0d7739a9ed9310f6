"""The card's clock tells when the judge's kernels ran."""

import time

import pytest
import torch

pytestmark = pytest.mark.gpu


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
