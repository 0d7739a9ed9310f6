"""The Python frameworks that kernels may be written in, beside Triton: one entry says all of each.

From an entry the judge recognizes a file, the command line offers a starter, ``harness doctor``
looks for the package, the sandbox gives its compiler a cache and the runner imports it. They run on
NVIDIA GPUs only, and each is an extra of its name; none is imported before a submission needs it.

This package imports only the standard library: runners see it inside of their sandbox.
"""

import contextlib
import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

_TEMPLATES = Path(__file__).parent / "templates"

ALL_DTYPES = frozenset(
    {
        *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
        *("float64", "float32", "float16", "bfloat16", "complex64", "complex128", "bool"),
    }
)
"""Every data type that a problem may have; their facts are in :mod:`harness.problem.dtypes`."""

_TRIED = frozenset({"float32", "float64", "float16", "bfloat16", "int32"})
"""What the samples of ``solutions/`` have shown to compile."""

TOGETHER = "install versions that go together"
"""The remedy where another package is too new or too old for a framework."""


def installed_version(*distributions: str) -> str | None:
    """The version of the first package that is installed, from its metadata; None for none."""
    from importlib import metadata  # takes too long for a command that only lists names

    for name in distributions:
        with contextlib.suppress(metadata.PackageNotFoundError):
            return metadata.version(name)
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Framework:
    """One framework."""

    name: str
    """How results and commands call it, the fences of language models, and our extra."""

    title: str
    """How messages and pages call it."""

    imported: str
    """The module or package that a file written in it imports."""

    module: str
    """What such a file needs, imported before it; whether it launches is seen by it, too."""

    distributions: tuple[str, ...]
    """The packages that it may come in, the usual one first."""

    capability: int
    """The oldest compute capability that it compiles for: 80 for 8.0."""

    starter: str
    """File name of a starting point. Not a package's: beside others it would be imported for it."""

    template: Path
    """Jinja template of a starting point, without its head comment: :mod:`harness.starter`."""

    takes: frozenset[str] = ALL_DTYPES
    """The data types that tensors of a starting point may have."""

    before: str = ""
    """A module to import first, if it is there: a package's ``.pth`` file would, had the runner's
    interpreter read any."""

    caches: tuple[str, ...] = ()
    """Environment variables that name folders where it keeps what it has compiled."""

    compile_errors: frozenset[str] = frozenset()
    """Names of the exceptions by which its compiler refuses a kernel."""

    completing: Callable[[ModuleType], None] | None = None
    """Given :attr:`module`, imports what it leaves for the first kernel that it compiles: a part
    that is unfit for this machine is to be found before a submission is run, not by it."""

    builds_on: tuple[tuple[str, str], ...] = ()
    """Names of other frameworks, each after a pattern of what a file needs it for."""

    launching: Callable[[ModuleType, int], AbstractContextManager[object]] | None = None
    """Given :attr:`module` and a CUDA stream handle, makes it launch there where a submission names
    no stream; None where it asks torch, or takes a stream at each launch."""

    @property
    def remedy(self) -> str:
        """The command that installs it."""
        return f"pip install 'kernel-harness[{self.name}]'"

    def version(self) -> str | None:
        """The installed version, None if it is not installed."""
        return installed_version(*self.distributions)

    def load(self) -> None:
        """Import it.

        Raises:
            ImportError: it cannot be imported here; the message names the remedy.
        """
        try:
            if self.before:
                with contextlib.suppress(ModuleNotFoundError):
                    importlib.import_module(self.before)
            module = importlib.import_module(self.module)
            if self.completing is not None:
                self.completing(module)
        except Exception as error:  # a package of which half is missing may raise anything
            reason = f"{type(error).__name__}: {error}".splitlines()[0][:300]
            raise ImportError(self._unfit(reason)) from error

    def _unfit(self, reason: str) -> str:
        """What to say, and to do, where it cannot be imported."""
        numpy = installed_version("numpy") if "numpy" in reason.lower() else None
        if numpy is None:
            return f"{self.title} cannot be imported here ({reason}): {self.remedy}"
        own = f"{self.title} {self.version() or ''}".strip()
        return f"{own} does not work with this machine's NumPy {numpy} ({reason}): {TOGETHER}"


def _cupy_on(cupy: Any, stream: int) -> AbstractContextManager[object]:
    """CuPy's own current stream becomes ``stream``, a handle."""
    current: AbstractContextManager[object] = cupy.cuda.ExternalStream(stream)
    return current


def _part(package: ModuleType, name: str) -> ModuleType | None:
    """A module of a package; None for another version than we know: the first kernel will tell."""
    whole = f"{package.__name__}.{name}"
    return None if importlib.util.find_spec(whole) is None else importlib.import_module(whole)


def _numba_registries(cuda: ModuleType) -> None:
    """Fill the tables of Numba's compiler, as it would at its first kernel."""
    target = getattr(_part(cuda, "descriptor"), "cuda_target", None)
    for context in ("typing_context", "target_context"):
        if refresh := getattr(getattr(target, context, None), "refresh", None):
            refresh()


def _tile_compiler(tile: ModuleType) -> None:
    """Look for cuTile's compiler, a program of another package, as at its first kernel."""
    if find := getattr(_part(tile, "_compile"), "_find_compiler_bin", None):
        find()


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
            starter="tilelang_kernel.py",
            template=_TEMPLATES / "tilelang.py.jinja",
            takes=_TRIED - {"float64"},
            caches=("TILELANG_CACHE_DIR", "TVM_FFI_CACHE_DIR"),
        ),
        Framework(
            name="cute",
            title="CuTe DSL",
            imported="cutlass",
            module="cutlass.cute",
            distributions=("nvidia-cutlass-dsl",),
            capability=80,
            starter="cute_kernel.py",
            template=_TEMPLATES / "cute.py.jinja",
            takes=_TRIED,
            caches=("CUTE_DSL_CACHE_DIR",),
        ),
        Framework(
            name="cutile",
            title="cuTile",
            imported="cuda.tile",
            module="cuda.tile",
            distributions=("cuda-tile",),
            capability=80,
            starter="cutile_kernel.py",
            template=_TEMPLATES / "cutile.py.jinja",
            takes=_TRIED,
            caches=("CUDA_TILE_CACHE_DIR",),
            compile_errors=frozenset(
                {"UnsupportedSyntaxError", "TypeCheckingError", "StaticAssertionError"}
            ),
            completing=_tile_compiler,
        ),
        Framework(
            name="nvmath",
            title="nvmath-python",
            imported="nvmath",
            module="nvmath",
            distributions=("nvmath-python",),
            capability=70,
            starter="nvmath_calls.py",
            template=_TEMPLATES / "nvmath.py.jinja",
            before="_numba_cuda_redirector",
            # Its callbacks are compiled by Numba.
            builds_on=((r"\b(?:compile_prolog|compile_epilog|nvmath\.device)\b", "numba"),),
        ),
        Framework(
            name="numba",
            title="Numba-CUDA",
            imported="numba",
            module="numba.cuda",
            distributions=("numba-cuda",),
            capability=70,
            starter="numba_kernel.py",
            template=_TEMPLATES / "numba.py.jinja",
            takes=ALL_DTYPES - {"float16", "bfloat16"},
            before="_numba_cuda_redirector",
            caches=("NUMBA_CACHE_DIR",),
            compile_errors=frozenset({"TypingError", "LoweringError"}),
            completing=_numba_registries,
            launching=_numba_on,
        ),
        Framework(
            name="cupy",
            title="CuPy",
            imported="cupy",
            module="cupy",
            distributions=("cupy-cuda13x", "cupy-cuda12x", "cupy"),
            capability=70,
            starter="cupy_arrays.py",
            template=_TEMPLATES / "cupy.py.jinja",
            takes=ALL_DTYPES - {"bfloat16"},
            caches=("CUPY_CACHE_DIR",),
            compile_errors=frozenset({"CompileException"}),
            launching=_cupy_on,
        ),
    )
}
"""By name, in the order in which they claim a file: what builds on another comes first."""


@contextlib.contextmanager
def launching_on(stream: int) -> Iterator[None]:
    """Let the frameworks that are imported launch on ``stream``, a CUDA stream handle.

    That is where a submission names no stream itself.
    """
    with contextlib.ExitStack() as stack:
        for framework in FRAMEWORKS.values():
            module = sys.modules.get(framework.module)
            if framework.launching is not None and module is not None:
                stack.enter_context(framework.launching(module, stream))
        yield
