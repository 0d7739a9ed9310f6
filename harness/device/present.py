"""Whether there is a GPU: known at once, for torch is not imported."""

import ctypes

NO_GPU = "no NVIDIA GPU or driver here: use --device cpu"


def gpu_present() -> bool:
    """Whether the CUDA driver is here and sees a device."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    count = ctypes.c_int(0)
    failed = driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count))
    return not failed and count.value > 0
