"""PyTorch's headers, and slim stand-ins for the largest of them, made for one source.

``torch/extension.h`` declares all of PyTorch, and costs a compiler ten to fifty seconds. Most
extensions need a tensor and a few operations. A folder that is searched first has headers of the
same names that bring those; what does not compile with them is compiled with PyTorch's own.
"""

import importlib.util
import re
import sysconfig
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path

from harness.errors import MachineError

SHADOWED = ("torch/extension.h", "torch/types.h", "torch/torch.h", "torch/all.h", "ATen/ATen.h")
SLIM = "harness_torch.h"
CUDA_MACROS = "c10/cuda/impl/cuda_cmake_macros.h"
"""What a PyTorch without CUDA lacks of its CUDA headers."""

_WIDE = re.compile(
    r"requires_grad|\btorch::(?:nn|autograd|jit|optim|data|serialize|indexing|fft|linalg|"
    r"special|sparse|nested|cuda|utils)\b"
)
"""Words of sources that the slim headers do not serve, or not as PyTorch's own do."""

_GUARD = "ATen/DeviceGuard.h"
"""Each operation's header brings it, and it brings the types of TorchScript for one function on a
list of tensors, which take nvcc longer than all else: 14 of 36 s."""
_LISTS = re.compile(r"\bdevice_of\b|TensorListRef\b")
"""Words of sources, and of operations' headers, that need it whole."""

_QUALIFIED = re.compile(r"\b(?:torch|at)::(\w+)")
_CALLED = re.compile(r"\b(\w+)\s*\(")
_WANTED = {
    r"\bAT_(?:DISPATCH|PRIVATE)": ("ATen/Dispatch.h",),
    r"\bAT_DISPATCH_V2": ("ATen/Dispatch_v2.h",),
    r"\bpy::|\bPYBIND11|\bpybind11\b": ("torch/csrc/Exceptions.h", "torch/csrc/utils/pybind.h"),
    r"\bTORCH_LIBRARY|\btorch::Library\b": ("torch/library.h",),
    r"\bparallel_for\b|\bparallel_reduce\b|get_num_threads": ("ATen/Parallel.h",),
    r"\bNoGradGuard\b|\bGradMode\b": ("ATen/core/grad_mode.h",),
    r"\bOptionalDeviceGuard\b|\bDeviceGuard\b|device_of": (_GUARD,),
    r"\bTensorAccessor|packed_accessor|\baccessor<": ("ATen/core/TensorAccessor.h",),
    r"\bStorage\b": ("ATen/Storage.h",),
    r"\bglobalContext\b|\bContext\b": ("ATen/Context.h",),
}
_STANDARD = (
    *("algorithm", "array", "cmath", "cstdint", "cstdio", "cstdlib", "cstring", "functional"),
    *("iostream", "iterator", "limits", "map", "memory", "mutex", "numeric", "optional", "sstream"),
    *("stdexcept", "string", "tuple", "unordered_map", "utility", "vector"),
)
_TYPES = """
namespace torch {
using namespace at;
using std::nullopt;
using std::optional;
using Dtype = at::ScalarType;
constexpr auto kUInt8 = at::kByte;
constexpr auto kInt8 = at::kChar;
constexpr auto kInt16 = at::kShort;
constexpr auto kInt32 = at::kInt;
constexpr auto kInt64 = at::kLong;
constexpr auto kFloat16 = at::kHalf;
constexpr auto kFloat32 = at::kFloat;
constexpr auto kFloat64 = at::kDouble;
constexpr auto kU8 = kUInt8;
constexpr auto kI8 = kInt8;
constexpr auto kI16 = kInt16;
constexpr auto kI32 = kInt32;
constexpr auto kI64 = kInt64;
constexpr auto kF16 = kFloat16;
constexpr auto kF32 = kFloat32;
constexpr auto kF64 = kFloat64;
}
"""
"""As ``torch/types.h`` has them: names of at's, and types by their widths."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Torch:
    """The PyTorch that extensions are built for."""

    version: str
    root: Path
    """The folder of the package."""
    standard: str
    """The standard of C++ that its headers want: ``c++20``."""

    @property
    def include(self) -> Path:
        """Its folder of headers."""
        return self.root / "include"


@cache
def installed_torch() -> Torch:
    """The PyTorch of this interpreter.

    Raises:
        MachineError: it has no headers, or Python has none.
    """
    spec = importlib.util.find_spec("torch")
    assert spec is not None
    assert spec.submodule_search_locations
    root = Path(spec.submodule_search_locations[0]).resolve()
    own = root / "utils" / "cpp_extension.py"
    standard = re.search(r"-std=(c\+\+\d+)", own.read_text(encoding="utf-8"))
    assert standard is not None
    found = Torch(version=metadata.version("torch"), root=root, standard=standard[1])
    if not (found.include / "torch" / "extension.h").is_file():
        raise MachineError(f"PyTorch in {root} has no headers, so it gets no extensions")
    if not (python_headers() / "Python.h").is_file():
        raise MachineError(
            f"no Python.h in {python_headers()}, so extensions of PyTorch cannot be built: install "
            "Python's headers (apt-get install python3-dev)"
        )
    return found


def python_headers() -> Path:
    """The folder of ``Python.h``."""
    return Path(sysconfig.get_path("include", scheme="posix_prefix"))


def slim_headers(text: str, include: Path) -> dict[str, str] | None:
    """The headers for a source, by path below a folder to be searched first.

    None where the source surely needs PyTorch's own. ``include`` is PyTorch's folder of headers.
    """
    if _WIDE.search(text):
        return None
    words = set(_QUALIFIED.findall(text))
    if re.search(r"\busing\s+namespace\s+(?:torch|at)\b", text):
        words |= set(_CALLED.findall(text))
    wanted = ["ATen/core/Tensor.h"]
    operations = [f"ATen/ops/{word}.h" for word in sorted(words)]
    operations = [name for name in operations if (include / name).is_file()]
    wanted += operations
    wanted += [name for sign, names in _WANTED.items() if re.search(sign, text) for name in names]
    lines = [f"#include <{name}>" for name in _STANDARD]
    lines += [f"#include <{name}>" for name in wanted if (include / name).is_file()]
    slim = "\n".join(["#pragma once", *lines, _TYPES])
    made = {SLIM: slim} | dict.fromkeys(SHADOWED, f"#pragma once\n#include <{SLIM}>\n")
    read = (text, *((include / name).read_text(encoding="utf-8") for name in operations))
    if not any(map(_LISTS.search, read)):
        made[_GUARD] = "#pragma once\n#include <c10/core/DeviceGuard.h>\n"
    return made
