"""The driver that Triton talks to where there is no GPU.

Triton asks its active driver for the target, the limits of the card, a benchmarker, and to load and
launch compiled kernels. This one answers for a named architecture, loads nothing and launches
nothing. Import it only after the choice between interpreter and compiler is made
(``TRITON_INTERPRET``), since that reaches into Triton's own standard library at import.
"""

import contextlib
from collections.abc import Callable, Sequence
from types import SimpleNamespace

import torch
import triton
import triton.testing
from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase

from harness.runner.triton.fake_cuda import MULTIPROCESSORS, shared_bytes

Bench = Callable[[Callable[[], object]], float]
"""Maps a launch to the time to report for it, milliseconds."""

Load = Callable[[str, bytes], tuple[int, int]]
"""Maps a kernel's name and cubin to its registers per thread and spilled words."""


def activate(arch: int, *, bench: Bench, load: Load, launchers: bool = False) -> None:
    """Make a driver for a card of ``arch`` that is not there Triton's only one.

    With ``launchers`` the code by which Triton's own driver launches a kernel is built.
    """
    driver = _StubDriver(arch, bench, load, _launcher_builder() if launchers else _Launcher)
    triton.runtime.driver.set_active(driver)
    triton.testing.do_bench = driver.bench
    triton.testing.do_bench_cudagraph = driver.bench


class _Launcher:
    """Takes a launch and does nothing."""

    def __init__(self, _src: object, _metadata: object) -> None:
        self.launch_cooperative_grid = False

    def __call__(self, *_args: object, **_kwargs: object) -> None:
        pass


def _launcher_builder() -> type[_Launcher]:
    """Make a launcher that builds what Triton's own driver would launch a kernel by.

    That compiles C for each signature in some versions of Triton, and for the driver in all.
    """
    from triton.backends.nvidia import driver

    with contextlib.suppress(Exception):  # without it there is more to compile on the card
        driver.CudaUtils()

    class Built(_Launcher):
        def __init__(self, src: object, metadata: object) -> None:
            super().__init__(src, metadata)
            with contextlib.suppress(Exception):
                driver.CudaLauncher(src, metadata)

    return Built


class _StubDriver(DriverBase):  # type: ignore[misc]
    """The only device is the one that is current; nothing is launched on it."""

    def __init__(self, arch: int, bench: Bench, load: Load, launcher: type[_Launcher]) -> None:
        self._target = GPUTarget("cuda", arch, 32)
        self._bench = bench
        limits = {
            "max_shared_mem": shared_bytes(arch),
            "max_num_regs": 65536,
            "multiprocessor_count": MULTIPROCESSORS,
            "warpSize": 32,
            "sm_clock_rate": 1980000,
            "mem_clock_rate": 2619000,
            "mem_bus_width": 5120,
        }
        self.launcher_cls = launcher
        self.utils = SimpleNamespace(
            get_device_properties=lambda _device: limits,
            load_binary=lambda name, kernel, _shared, _device: (1, 1, *load(name, kernel), 1024),
            set_printf_fifo_size=lambda _size: None,
            unload_module=lambda _module: None,
        )
        self.get_current_device = lambda: 0
        self.set_current_device = lambda _device: None
        self.get_current_stream = lambda _device=None: 0
        self.get_device_capability = lambda _device=None: divmod(arch, 10)
        self.get_device_interface = lambda: torch.cuda  # the fake one
        self.get_empty_cache_for_benchmark = lambda: torch.empty(0)  # there is nothing to flush
        self.clear_cache = lambda _cache: None

    @classmethod
    def is_active(cls) -> bool:
        return True

    def map_python_to_cpp_type(self, ty: str) -> str:
        return ty  # only a launcher needs these, and ours looks at no arguments

    def get_current_target(self) -> GPUTarget:
        return self._target

    def get_active_torch_device(self) -> torch.device:
        return torch.device("cpu")  # where tensors really are

    def get_benchmarker(self) -> Callable[..., float | list[float]]:
        return self.bench

    def bench(
        self,
        kernel_call: Callable[[], object],
        *_args: object,
        quantiles: Sequence[float] | None = None,
        **_kwargs: object,
    ) -> float | list[float]:
        """Time like ``triton.testing.do_bench``: one number, or one for each quantile."""
        time_ms = self._bench(kernel_call)
        return time_ms if quantiles is None else [time_ms] * len(quantiles)
