"""The compilers' calls for an extension of PyTorch: what its own build would call, and slimmer."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from harness.languages.build.compiler import CompilerCall
from harness.languages.build.extension_flags import (
    check_folders,
    cxx_flags,
    link_flags,
    nvcc_flags,
)
from harness.languages.build.toolchain import HostCompiler, Nvcc
from harness.languages.build.torch_headers import CUDA_MACROS, Torch, python_headers, slim_headers
from harness.solution.model import Target
from harness.wire.extensions import ExtensionRequest, SourceFile, is_cuda

LIBRARY = "extension.so"

_SLIM, _LACKING = "slim", "lacking"
"""Folders of headers that are made for a call: before PyTorch's, and what that lacks."""
_OF_TORCH = (
    "-D__CUDA_NO_HALF_OPERATORS__",
    "-D__CUDA_NO_HALF_CONVERSIONS__",
    "-D__CUDA_NO_BFLOAT16_CONVERSIONS__",
    "-D__CUDA_NO_HALF2_OPERATORS__",
    "--expt-relaxed-constexpr",
)
"""What PyTorch's own build gives nvcc."""
_STREAM = SourceFile(
    name=".stream.cpp",  # no source of a submission begins with a dot
    text="""#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime.h>
extern "C" unsigned __real___cudaPushCallConfiguration(dim3, dim3, size_t, CUstream_st*);
extern "C" __attribute__((visibility("hidden"))) unsigned __wrap___cudaPushCallConfiguration(
    dim3 grid, dim3 block, size_t shared, CUstream_st* stream) {
  if (stream == nullptr) stream = c10::cuda::getCurrentCUDAStream().stream();
  return __real___cudaPushCallConfiguration(grid, block, shared, stream);
}
""",
)
"""Launches that name no stream go to PyTorch's current one, so that calls can be recorded."""
_WRAP = "-Xlinker=--wrap=__cudaPushCallConfiguration"
_ARCHITECTURE = re.compile(r"-?-(?:arch|gencode|generate-code|gpu-architecture)\b")
_STANDARD = re.compile(r"-?-std=")


class ExtensionCalls(NamedTuple):
    """An extension, and the tools to build it with."""

    request: ExtensionRequest
    """What is asked for; untrusted."""
    target: Target
    """The device to build for."""
    torch: Torch
    """The PyTorch to build for."""
    host: HostCompiler
    """The C++ compiler, for nvcc too."""
    nvcc: Nvcc | None
    """The CUDA compiler, which compiles all of an extension with CUDA; None for one without."""

    def compiling(self) -> dict[str, tuple[CompilerCall, ...]]:
        """The calls for each source, by its name: one after the other until one does.

        Raises:
            RefusedFlag: an option is not taken.
        """
        request, known = self.request, self._known()
        check_folders(request.include_paths, known)
        of_host = cxx_flags(request.cflags, known)
        of_nvcc = nvcc_flags(request.cuda_cflags, known)
        calls = {
            source.name: self._ladder(source, of_nvcc if is_cuda(source) else of_host)
            for source in request.sources
        }
        if self._launches:
            calls[_STREAM.name] = (self._compiling(_STREAM, (), {}),)
        return calls

    def linking(self) -> CompilerCall:
        """The call that makes :data:`LIBRARY` of the objects, in the folder where they lie.

        Raises:
            RefusedFlag: an option is not taken.
        """
        request = self.request
        names = ["c10", "torch_cpu", "torch", "torch_python"]
        names += ["c10_cuda", "torch_cuda"] if request.cuda else []
        libraries = (f"-L{self.torch.root / 'lib'}", *(f"-l{name}" for name in names))
        flags: Iterable[str] = link_flags(request.ldflags, self._known())
        if self.nvcc is not None:  # brings the CUDA runtime
            flags = (*map(_linking_by_nvcc, flags), *self.nvcc.arguments)
        sources = request.sources
        if self._launches:
            sources, flags = (*sources, _STREAM), (*flags, _WRAP)
        objects = (f"{source.name}.o" for source in sources)
        command = (*self._compiler(), "-shared", "-o", LIBRARY, *objects, *flags, *libraries)
        return self._call("the linker", command, {}, f"extension {request.name}")

    @property
    def _launches(self) -> bool:
        """Whether its kernels are to run."""
        return not self.target.emulated and any(map(is_cuda, self.request.sources))

    def _ladder(self, source: SourceFile, flags: tuple[str, ...]) -> tuple[CompilerCall, ...]:
        """With slim headers, unless those surely do not do; then with PyTorch's own."""
        slim = slim_headers(source.text, self.torch.include)
        each = ([] if slim is None else [slim]) + [{}]
        return tuple(self._compiling(source, flags, headers) for headers in each)

    def _compiling(
        self, source: SourceFile, flags: tuple[str, ...], headers: Mapping[str, str]
    ) -> CompilerCall:
        """The call for one source, with ``headers`` before PyTorch's."""
        include = self.torch.include
        inputs = {source.name: source.text.encode("utf-8", "replace")}
        inputs |= {f"{_SLIM}/{name}": text.encode() for name, text in headers.items()}
        if self.nvcc is not None and not (include / CUDA_MACROS).is_file():
            inputs[f"{_LACKING}/{CUDA_MACROS}"] = b"#define C10_CUDA_BUILD_SHARED_LIBS\n"
        folders = (include, include / "torch/csrc/api/include", python_headers())
        command = [
            *self._compiler(),
            f"-DTORCH_EXTENSION_NAME={self.request.built_name}",
            "-DTORCH_API_INCLUDE_EXTENSION_H",
            f"-I{_SLIM}",
            f"-I{_LACKING}",
            *(f"-I{folder}" for folder in self.request.include_paths),
            *(word for folder in folders for word in ("-isystem", str(folder))),
            "-fPIC" if self.nvcc is None else "-Xcompiler=-fPIC",
        ]
        if not any(map(_STANDARD.match, flags)):
            command.append(f"-std={self.torch.standard}")
        if is_cuda(source):
            command += [*_OF_TORCH, "-Xptxas=-v"]
            if not any(map(_ARCHITECTURE.match, flags)):
                number = self.target.code.removeprefix("sm_")
                command.append(f"-gencode=arch=compute_{number},code=sm_{number}")
        elif self.nvcc is not None:
            flags = tuple(map(_compiling_by_nvcc, flags))
        command += [*flags, "-c", source.name, "-o", f"{source.name}.o"]
        tool = "nvcc" if is_cuda(source) else "the C++ compiler"
        return self._call(tool, tuple(command), inputs, source.name)

    def _compiler(self) -> tuple[str, ...]:
        if self.nvcc is None:
            return (str(self.host.path),)
        return str(self.nvcc.path), f"-ccbin={self.host.path}"

    def _call(
        self, tool: str, command: tuple[str, ...], inputs: Mapping[str, bytes], source: str
    ) -> CompilerCall:
        used = [each for each in (self.nvcc, self.host) if each is not None]
        version = ", ".join(each.version for each in used)
        tools = tuple(each.path for each in used)
        return CompilerCall(tool, version, tools, command, inputs, self._readable(), source)

    def _readable(self) -> tuple[Path, ...]:
        return self.torch.root, python_headers()

    def _known(self) -> tuple[Path, ...]:
        """Folders that options may name: PyTorch's, Python's and CUDA's."""
        known = [self.torch.root, python_headers(), Path("/usr/local/cuda")]
        if self.nvcc is not None:
            known.append(self.nvcc.path.resolve().parent.parent)
        return tuple(known)


def _compiling_by_nvcc(flag: str) -> str:
    """An option of the C++ compiler as nvcc takes it."""
    return flag if flag.startswith(("-D", "-U", "-I", "-std")) else f"-Xcompiler={flag}"


def _linking_by_nvcc(flag: str) -> str:
    """An option of the linker as nvcc takes it."""
    if flag.startswith("-Wl,"):
        return f"-Xlinker={flag.removeprefix('-Wl,')}"
    return flag if flag.startswith(("-l", "-L")) else f"-Xcompiler={flag}"
