"""The command lines that turn a translated submission into a shared library."""

import platform
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

INCLUDE = Path(__file__).parent / "include"

# For the process that loads a sanitized library (with `asan_runtime` in LD_PRELOAD): the first
# report goes to stderr and ends the process with a status of its own.
ASAN_EXIT_STATUS = 99
ASAN_OPTIONS = ":".join(
    [
        f"exitcode={ASAN_EXIT_STATUS}",
        "halt_on_error=1",
        "abort_on_error=0",
        "detect_leaks=0",
        "detect_stack_use_after_return=0",  # its fake stacks do not know our fibers
        "detect_odr_violation=0",
        "allow_user_poisoning=1",
        "allocator_may_return_null=1",
        "color=never",
        "print_legend=0",
        "symbolize=1",
    ]
)


def compile_command(
    *,
    source: Path,
    output: Path,
    var: str,
    headers: Sequence[str] = (),
    sanitize: bool,
    compiler: str = "g++",
) -> list[str]:
    """The argv that builds `source` (a result of `translate`) into the library `output`.

    `var` is the C++ type that the macro VAR stands for in the source, `headers` are those of CUDA
    that define it. With `sanitize` every access is checked, by AddressSanitizer and for its
    alignment; without, the build is for speed.
    """
    includes = [word for name in ("cuda_runtime.h", *headers) for word in ("-include", name)]
    flags = [*_SANITIZED] if sanitize else ["-O2"]
    if sanitize and _library(compiler, "libubsan.so"):  # alignment.h answers this check
        flags.append("-fsanitize=alignment")
    flags += _SEMANTICS
    if "clang" not in Path(compiler).name:
        flags += _GCC
        if platform.machine() in ("x86_64", "AMD64"):
            flags.append("-mtls-dialect=gnu2")
    return [
        compiler,
        "-std=c++17",
        "-shared",
        "-fPIC",
        "-pthread",
        "-w",  # warnings are nvcc's task
        *flags,
        f"-I{INCLUDE}",
        *includes,
        f"-DVAR={var}",
        "-x",
        "c++",
        str(source),
        "-o",
        str(output),
    ]


_SANITIZED = ("-O1", "-g1", "-fsanitize=address", "-fno-omit-frame-pointer")
_SEMANTICS = (
    # Kernels reinterpret memory (float4 loads) and rely on wrapping, as nvcc lets them.
    "-fno-strict-aliasing",
    "-fwrapv",
    "-ffp-contract=off",
    "-fno-math-errno",
    # Several libraries may live in one process, each with its own state, for ever.
    "-Wl,-Bsymbolic",
    "-Wl,-z,nodelete",
)
# GCC 12 takes double → float → double for nothing at all where it does two side by side.
_GCC = ("-fno-gnu-unique", "-fno-tree-slp-vectorize")


@cache
def asan_runtime(compiler: str = "g++") -> Path:
    """AddressSanitizer's shared runtime, which must be in LD_PRELOAD of the loading process.

    Raises:
        FileNotFoundError: the compiler has none.
    """
    path = _library(compiler, "libasan.so")
    if path is None:
        raise FileNotFoundError(f"{compiler} has no AddressSanitizer runtime")
    return path


@cache
def _library(compiler: str, name: str) -> Path | None:
    """A library that comes with the compiler, if it does."""
    try:
        done = subprocess.run(
            [compiler, f"-print-file-name={name}"], capture_output=True, text=True
        )
    except FileNotFoundError:
        return None  # there is no such compiler at all
    path = Path(done.stdout.strip())  # the bare name where there is no such file
    return path.resolve() if path.is_absolute() and path.exists() else None
