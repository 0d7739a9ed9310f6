"""Choosing where to run."""

import ctypes

from harness.device.base import Device
from harness.device.cpu import CpuDevice
from harness.device.cuda import CudaDevice
from harness.errors import NoDeviceError


def gpu_present() -> bool:
    """Whether the CUDA driver is here and sees a device; does not import torch."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    count = ctypes.c_int(0)
    failed = driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count))
    return not failed and count.value > 0


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
    raise NoDeviceError("no NVIDIA GPU or driver here: use --device cpu")
