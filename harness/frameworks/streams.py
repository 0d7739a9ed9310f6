"""Make frameworks that do not follow torch's current stream launch on it."""

import contextlib
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any


def cupy_on(cupy: Any, stream: int) -> AbstractContextManager[object]:
    """CuPy's own current stream becomes ``stream``, a handle."""
    current: AbstractContextManager[object] = cupy.cuda.ExternalStream(stream)
    return current


@contextlib.contextmanager
def numba_on(cuda: Any, stream: int) -> Iterator[None]:
    """Numba has no current stream: launches on its default one go to ``stream`` instead."""
    dispatcher: Any = sys.modules.get("numba.cuda.dispatcher")
    driver: Any = getattr(getattr(cuda, "cudadrv", None), "driver", None)
    if dispatcher is None or not hasattr(driver, "_to_core_stream"):
        yield  # another version than we know: what it launches is not recorded
        return
    kernel = dispatcher._Kernel
    ours = driver._to_core_stream(driver.Stream(stream))
    launch = kernel.launch

    def redirected(
        self: Any, args: Any, griddim: Any, blockdim: Any, stream: Any = 0, sharedmem: int = 0
    ) -> Any:
        default = int(driver._to_core_stream(stream).handle) == 0
        return launch(self, args, griddim, blockdim, ours if default else stream, sharedmem)

    kernel.launch = redirected
    try:
        yield
    finally:
        kernel.launch = launch
