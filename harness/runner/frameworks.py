"""The Python frameworks that kernels may be written in, beside Triton: facts, and what each needs.

None of them is imported before a submission that is written in it is loaded. They run on NVIDIA
GPUs alone, and none belongs to the harness's own requirements: each is an extra of its name.
"""

import contextlib
import importlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from typing import Any

from harness.runner.program import Failed
from harness.wire.messages import FaultCode


@dataclass(frozen=True, slots=True, kw_only=True)
class Framework:
    """One framework.

    A file that imports ``imported`` is written in it. ``module`` is what such a file needs,
    ``distributions`` are the packages that it may come in, ``capability`` is the least of a card
    (80 for 8.0), ``before`` a module that must be imported first, if it is there: interpreters of
    runners read no ``.pth`` files, by which some packages would do that.
    """

    name: str
    title: str
    imported: str
    module: str
    distributions: tuple[str, ...]
    capability: int
    before: str = ""

    @property
    def remedy(self) -> str:
        """How to get it."""
        return f"pip install 'kernel-harness[{self.name}]'"

    def version(self) -> str | None:
        """What is installed, from the package's metadata alone."""
        for name in self.distributions:
            with contextlib.suppress(metadata.PackageNotFoundError):
                return metadata.version(name)
        return None

    def load(self) -> None:
        """Import it.

        Raises:
            Failed: it cannot be imported here.
        """
        try:
            if self.before:
                with contextlib.suppress(ModuleNotFoundError):
                    importlib.import_module(self.before)
            importlib.import_module(self.module)
        except Exception as error:  # whatever a package does when half of it is missing
            reason = f"{type(error).__name__}: {error}".splitlines()[0][:300]
            message = f"{self.title} cannot be imported here ({reason}): {self.remedy}"
            raise Failed(FaultCode.UNSUPPORTED, message) from error


FRAMEWORKS = {
    framework.name: framework
    for framework in (
        Framework(
            name="tilelang",
            title="TileLang",
            imported="tilelang",
            module="tilelang",
            distributions=("tilelang",),
            capability=75,
        ),
        Framework(
            name="cute",
            title="CuTe DSL",
            imported="cutlass",
            module="cutlass.cute",
            distributions=("nvidia-cutlass-dsl",),
            capability=80,
        ),
        Framework(
            name="cutile",
            title="cuTile",
            imported="cuda.tile",
            module="cuda.tile",
            distributions=("cuda-tile",),
            capability=80,
        ),
        Framework(
            name="nvmath",
            title="nvmath-python",
            imported="nvmath",
            module="nvmath",
            distributions=("nvmath-python",),
            capability=70,
            before="_numba_cuda_redirector",  # its callbacks are compiled by Numba
        ),
        Framework(
            name="numba",
            title="Numba-CUDA",
            imported="numba",
            module="numba.cuda",
            distributions=("numba-cuda",),
            capability=70,
            before="_numba_cuda_redirector",
        ),
        Framework(
            name="cupy",
            title="CuPy",
            imported="cupy",
            module="cupy",
            distributions=("cupy-cuda13x", "cupy-cuda12x", "cupy"),
            capability=70,
        ),
    )
}
"""By name, in the order in which they claim a file: what builds on another comes first."""


@contextlib.contextmanager
def launching_on(stream: int) -> Iterator[None]:
    """Let what has been imported launch on ``stream`` (a handle) where a submission names none.

    The others ask torch, or are told a stream at each launch.
    """
    with contextlib.ExitStack() as stack:
        if (cupy := sys.modules.get("cupy")) is not None:
            stack.enter_context(cupy.cuda.ExternalStream(stream))
        if (numba := sys.modules.get("numba.cuda")) is not None:
            stack.enter_context(_numba_on(numba, stream))
        yield


@contextlib.contextmanager
def _numba_on(cuda: Any, stream: int) -> Iterator[None]:
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
