"""The options by which nvcc finds CUDA libraries, and a test that a library links."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from harness.languages.build.cache import BuildOutcome, Cache, key_of
from harness.languages.build.compiler import CompilerCall
from harness.languages.build.diagnostics import first_error
from harness.languages.build.libraries import SYSTEM, FoundLibrary, include_folders
from harness.languages.build.toolchain import HostCompiler, Nvcc

PROBE_S = 60.0
"""Seconds that the test of one library may take: on a quiet machine it takes one or two."""
_PROBE = "probe.cpp"
_PROBES = {
    "cublas": ("cublas_v2.h", "cublasGetCudartVersion()"),
    "cublasLt": ("cublasLt.h", "cublasLtGetVersion()"),
    "cufft": ("cufft.h", "cufftGetVersion(&version)"),
    "curand": ("curand.h", "curandGetVersion(&version)"),
    "cusolver": ("cusolverDn.h", "cusolverGetVersion(&version)"),
    "cusparse": ("cusparse.h", "cusparseGetErrorString(CUSPARSE_STATUS_SUCCESS)"),
    "cudnn": ("cudnn.h", "cudnnGetVersion()"),
    "cutlass": ("cutlass/cutlass.h", "cutlassGetStatusString(cutlass::Status::kSuccess)"),
    "nvtx": ("nvtx3/nvToolsExt.h", 'nvtxMarkA("probe")'),
}
"""Of each library a header, and a call."""


def header_options(libraries: Iterable[FoundLibrary], nvcc: Nvcc) -> Iterator[str]:
    """The options for headers that are not nvcc's own, which go first in all folders.

    Folders of pip's packages go last: they may hold headers of the compiler, of another version.
    """
    own = {each.resolve() for each in include_folders(nvcc)}
    folders = dict.fromkeys(path for each in libraries for path in each.includes)
    for folder in sorted(folders, key=lambda each: "site-packages" in each.parts):
        if folder.resolve() not in own and folder != SYSTEM / "include":
            yield from ("-isystem", str(folder))


def link_options(libraries: Sequence[FoundLibrary]) -> Iterator[str]:
    """The options that link libraries, which the loader then finds where they are now.

    RPATH, not RUNPATH: that counts for what the libraries load, too.
    """
    for library in libraries:
        if library.linked is not None:
            yield from (f"-L{library.linked.parent}", f"-l:{library.linked.name}")
    folders = dict.fromkeys(folder for each in libraries for folder in each.folders)
    if folders:
        yield "-Xlinker=--disable-new-dtags"
    for folder in folders:
        yield f"-Xlinker=-rpath,{folder}"


def readable(libraries: Iterable[FoundLibrary]) -> tuple[Path, ...]:
    """What a compiler has to see of libraries."""
    return tuple(part for each in libraries for part in (*each.includes, *each.loaded))


def fails_to_link(library: FoundLibrary, nvcc: Nvcc, host: HostCompiler, cache: Cache) -> str:
    """The complaint of nvcc about a small program that uses ``library``; empty if it links."""
    header, call = _PROBES[library.name]
    headers = "".join(f"#include <{each}>\n" for each in ("cuda_runtime.h", header))
    text = f"{headers}void probe() {{ int version = 0; {call}; (void)version; }}\n"
    probe = CompilerCall(
        tool="nvcc",
        version=f"{nvcc.version}, {host.version}, {library.identity}",
        tools=(nvcc.path, host.path),
        command=(
            *(str(nvcc.path), f"-ccbin={host.path}", "-std=c++17", *nvcc.arguments),
            *header_options([library], nvcc),
            *("-shared", "-Xcompiler=-fPIC", "-Xlinker=-z,defs", "-o", "probe.so", _PROBE),
            *link_options([library]),
        ),
        inputs={_PROBE: text.encode()},
        readable=readable([library]),
    )

    def build(folder: Path) -> BuildOutcome:
        outcome = probe.build(folder, PROBE_S)
        # What is wrong may have been put right when it is asked for again.
        return outcome.model_copy(update={"reusable": outcome.failure is None})

    outcome = cache.fetch(key_of({"probe": repr(probe)}), build)
    if outcome.failure is None:
        return ""
    return first_error(outcome.log) or outcome.failure.message
