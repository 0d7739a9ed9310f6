import pytest
import torch

from harness.device import choose as module
from harness.device import present
from harness.device.choose import gpu_present, open_device
from harness.errors import NoDeviceError


def _machine(monkeypatch: pytest.MonkeyPatch, *, gpu: bool, torch_sees_it: bool) -> None:
    monkeypatch.setattr(module, "gpu_present", lambda: gpu)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: torch_sees_it)
    monkeypatch.setattr(module, "CudaDevice", lambda: "the GPU")


def test_open_device_cpu_works_beside_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    _machine(monkeypatch, gpu=True, torch_sees_it=True)
    device = open_device("cpu")
    assert (device.kind, device.torch_device) == ("cpu", "cpu")
    assert device.name
    assert device.free_bytes() > 1 << 20
    device.flush()
    device.synchronize()


def test_open_device_without_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    _machine(monkeypatch, gpu=False, torch_sees_it=False)
    assert open_device("auto").kind == "cpu"
    with pytest.raises(NoDeviceError, match="use --device cpu") as raised:
        open_device("cuda")
    assert raised.value.exit_code == 4


@pytest.mark.parametrize("wanted", ["auto", "cuda"])
def test_open_device_with_a_gpu(monkeypatch: pytest.MonkeyPatch, wanted: str) -> None:
    _machine(monkeypatch, gpu=True, torch_sees_it=True)
    assert open_device(wanted) == "the GPU"


@pytest.mark.parametrize("wanted", ["auto", "cuda"])
def test_a_gpu_that_torch_cannot_use_is_no_reason_to_go_on_quietly(
    monkeypatch: pytest.MonkeyPatch, wanted: str
) -> None:
    _machine(monkeypatch, gpu=True, torch_sees_it=False)
    with pytest.raises(NoDeviceError, match="install a CUDA build of torch"):
        open_device(wanted)


@pytest.mark.gpu
def test_open_device_on_a_real_gpu() -> None:
    assert gpu_present()
    device = open_device("auto")
    assert (device.kind, device.torch_device) == ("cuda", "cuda:0")
    assert device.driver_version
    arena = device.arena(1000)
    arena.bytes.fill_(7)
    device.flush()
    device.synchronize()
    assert bool((arena.bytes == 7).all())
    arena.close()


def test_gpu_present_is_false_for_a_driver_without_a_device(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Driver:
        def __init__(self, status: int) -> None:
            self.cuInit = lambda _: status
            self.cuDeviceGetCount = lambda _: 0

    for status in (0, 100):
        monkeypatch.setattr(present.ctypes, "CDLL", lambda _, status=status: Driver(status))
        assert not gpu_present()
    monkeypatch.setattr(present.ctypes, "CDLL", _no_driver)
    assert not gpu_present()


def _no_driver(_: str) -> None:
    raise OSError
