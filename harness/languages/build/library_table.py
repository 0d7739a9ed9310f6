"""What there is to know of each CUDA library, and whose headers a file includes."""

import re
from collections.abc import Iterable
from typing import NamedTuple


class Library(NamedTuple):
    """One library: how it is found, and what goes with it."""

    header: str
    """The header that it is found by."""
    version: tuple[str, str]
    """The header that defines its version, and the prefix of the macros there."""
    package: str
    """pip's packages are ``nvidia-<package>``, or ``nvidia-<package>-cu<major>``."""
    linked: str = ""
    """The shared object that is linked, ``lib<linked>.so``; empty if it has headers alone."""
    loads: tuple[str, ...] = ()
    """Other shared objects that this one loads."""
    needs: tuple[str, ...] = ()
    """Libraries whose headers its own include."""
    includes: str = ""
    """Pattern of the headers that belong to it."""
    folders: tuple[str, ...] = ()
    """The folders that its headers are in, where it has some of its own."""


TABLE = {
    "cublas": Library(
        header="cublas_v2.h",
        version=("cublas_api.h", "CUBLAS_VER_"),
        package="cublas",
        linked="cublas",
        loads=("cublasLt",),
        includes=r"cublas(_v2|_api|Xt)?\.h",
    ),
    "cublasLt": Library(
        header="cublasLt.h",
        version=("cublas_api.h", "CUBLAS_VER_"),
        package="cublas",
        linked="cublasLt",
        includes=r"cublasLt\.h",
    ),
    "cufft": Library(
        header="cufft.h",
        version=("cufft.h", "CUFFT_VER_"),
        package="cufft",
        linked="cufft",
        loads=("nvJitLink",),
        includes=r"cufft\w*\.h",
    ),
    "curand": Library(
        header="curand.h",
        version=("curand.h", "CURAND_VER_"),
        package="curand",
        linked="curand",
        includes=r"curand\w*\.h",
    ),
    "cusolver": Library(
        header="cusolverDn.h",
        version=("cusolver_common.h", "CUSOLVER_VER_"),
        package="cusolver",
        linked="cusolver",
        loads=("cublas", "cublasLt", "cusparse", "nvJitLink"),
        needs=("cublas", "cusparse"),
        includes=r"cusolver\w*\.h",
    ),
    "cusparse": Library(
        header="cusparse.h",
        version=("cusparse.h", "CUSPARSE_VER_"),
        package="cusparse",
        linked="cusparse",
        loads=("nvJitLink",),
        includes=r"cusparse\w*\.h",
    ),
    "cudnn": Library(
        header="cudnn.h",
        version=("cudnn_version.h", "CUDNN_"),
        package="cudnn",
        linked="cudnn",
        loads=("cublas", "cublasLt"),
        includes=r"cudnn\w*\.h",
    ),
    "cutlass": Library(
        header="cutlass/cutlass.h",
        version=("cutlass/version.h", "CUTLASS_"),
        package="cutlass",
        includes=r"(cutlass|cute)/.+",
        folders=("cutlass", "cute"),
    ),
    "nvtx": Library(
        header="nvtx3/nvToolsExt.h",
        version=("nvtx3/nvToolsExt.h", "NVTX_"),
        package="nvtx",
        includes=r"nvtx3/.+|nvToolsExt\w*\.h",
        folders=("nvtx3",),
    ),
}
EXECUTABLE = frozenset({"nvtx"})
"""Those of which the CPU executor has what programs use (``harness/cudacpu/include``)."""

_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[<\"]([^>\"\n]+)[>\"]", re.MULTILINE)


def owner(header: str) -> str | None:
    """The library that a header belongs to, by its name as included; None for others."""
    return next((n for n, each in TABLE.items() if re.fullmatch(each.includes, header)), None)


def forbidden_owner(path: str, allowed: Iterable[str]) -> str | None:
    """The library that the header at ``path`` is of, if none that includes it is ``allowed``.

    NVTX is not asked about: CUB includes it by itself.
    """
    name = owner(re.sub(r".*/include/(?:[^/]*-linux-gnu/)?", "", path))
    fine = {"nvtx", *allowed, *(each for one in allowed for each in TABLE[one].needs)}
    return None if name in fine else name


def included(text: str) -> dict[str, str]:
    """The libraries whose headers ``text`` includes, each with the first such header."""
    found: dict[str, str] = {}
    for match in _INCLUDE.finditer(text):
        if name := owner(match[1]):
            found.setdefault(name, match[1])
    return found


_OF_TORCH = ("torch/", "ATen/", "c10/", "pybind11/", "Python.h")


def undeclared(text: str, uses: Iterable[str], complaints: str) -> str:
    """The hint for a build that failed for want of a line ``uses``; empty if it did not.

    ``complaints`` name a header of a library that ``text`` does not say it uses, or its functions.
    """
    declared = frozenset(uses)
    headers = {n: h for n, h in included(text).items() if n not in declared and h in complaints}
    missing = re.findall(r"undefined reference to `(\w+)'", complaints)
    for name in TABLE.keys() - declared - headers.keys():
        if any(_symbol_of(name, symbol) for symbol in missing):
            headers[name] = ""
    if not headers:
        return ""
    names = ", ".join(name for name in TABLE if name in {*headers, *declared})
    what = ", ".join(name for name in TABLE if name in headers)
    return f"{what} must be asked for: add the line // uses: {names}"


def not_included(log: str) -> str:
    """What to do about a header that a compiler did not find; empty if it found all."""
    found = re.search(r"fatal error: ([\w./+-]{1,200}): No such file", log)
    found = found or re.search(r'could not open source file "([\w./+-]{1,200})"', log)
    if found is None:
        return ""
    if found[1].startswith(_OF_TORCH):
        return (
            "a .cu file is compiled without PyTorch: take pointers, as the problem's entry point "
            "does, or submit a Python file that builds this one with load_inline"
        )
    if f'"{found[1]}"' in log or found[1].endswith((".cuh", ".cu")):
        return "a submission is one file: put what it includes into it"
    return ""


def _symbol_of(name: str, symbol: str) -> bool:
    if name == "cublas" and symbol.startswith("cublasLt"):
        return False
    return bool(TABLE[name].linked) and symbol.startswith(name)
