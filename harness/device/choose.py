"""Choosing where to run."""

from harness.device.base import Device
from harness.device.cpu import CpuDevice
from harness.device.cuda import CudaDevice
from harness.device.present import NO_GPU, gpu_present
from harness.errors import NoDeviceError


def open_device(wanted: str) -> Device:
    """The device for ``auto``, ``cuda`` or ``cpu``.

    Raises:
        NoDeviceError: a GPU was asked for and there is none.
    """
    import torch

    if wanted == "cpu":
        return CpuDevice()
    if torch.cuda.is_available():
        return CudaDevice()
    if gpu_present():
        raise NoDeviceError(
            f"there is a GPU, but torch {torch.__version__} is built without CUDA or for a newer "
            "driver: install a CUDA build of torch, or use --device cpu"
        )
    if wanted == "auto":
        return CpuDevice()
    raise NoDeviceError(NO_GPU)
