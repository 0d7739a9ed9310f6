"""Tells what an emulator lacks from what a submission does wrong, by where an error arose."""

import re
import sys
from itertools import takewhile
from types import CodeType, TracebackType

from harness.frameworks import FRAMEWORKS

_INTERPRETER = "triton/runtime/interpreter.py"
_INSIDE = ("numpy/", "harness/runner/triton/")
"""Files that the interpreter calls for its operations."""

_ITS_OWN = re.compile(
    r"(_Builder|InterpreterBuilder|TensorHandle|BlockPointerHandle|TensorDescHandle)\."
    r"|_convert_float|_get_np_dtype|_np_dtype|_patch_lang_core\.<locals>\._new_to_ir"
)
"""The operations of the interpreter and what they are made of: a kernel cannot get them wrong."""

_CHECKS = re.compile(r".*\.(create_assert|create_assume|validate|set_grid_idx|__bool__)$")
"""Those among them that look whether a kernel is right."""

_NO_CUDA = re.compile(
    r"Could not run 'aten::[^']*' with arguments from the '\w*CPU|not implemented for '\w+'"
    r"|not compiled with CUDA|[Nn]o NVIDIA driver|No CUDA GPUs|Cannot access accelerator device"
    r"|CUDA_HOME environment variable|libcuda\.so|ATen_cuda|requires CUDA|'_cuda_\w+'"
    r"|NVTX functions not installed|dummy base class"
)
"""What torch says where only its operation for a card would do."""

_CUDA_LIBRARY = re.compile(
    r"(?:^|/)(lib(?:cuda|cudart|cublas|cublasLt|cudnn|cufft|curand|cusolver|cusparse|nccl|nvrtc"
    r"|nvidia-ml)(?:[-_.]\S*)?)$"
)
_opened: list[str] = []
"""CUDA's libraries that were opened with ctypes since :func:`watch_libraries`."""

_FRAMEWORKS = {each.imported.partition(".")[0]: each.title for each in FRAMEWORKS.values()}
"""Titles by the package that is imported."""


def watch_libraries() -> None:
    """From now on note which of CUDA's libraries are opened with ctypes: their calls need a card.

    Whatever the library answers without one, the submission makes an error of its own of it.
    """
    sys.addaudithook(_note_library)


def _note_library(event: str, arguments: tuple[object, ...]) -> None:
    if event == "ctypes.dlopen" and (found := _CUDA_LIBRARY.search(str(arguments[0]))):
        _opened.append(found[1])


def _package(error: ModuleNotFoundError) -> str:
    return (error.name or "").partition(".")[0]


def lack(error: BaseException) -> str:
    """What the emulator cannot do, if that is why ``error`` was raised; else empty."""
    about = f"{type(error).__name__}: {error}"
    frames = _frames(error.__traceback__)
    called = takewhile(lambda code: "/torch/" in code.co_filename, reversed(frames))
    if any("/torch/cuda/" in code.co_filename for code in called) or _NO_CUDA.search(str(error)):
        return f"needs a GPU: {about}"
    if _opened:
        return f"needs a GPU, which {_opened[0]} answers for: {about}"
    if isinstance(error, ModuleNotFoundError) and (title := _FRAMEWORKS.get(_package(error))):
        return f"{title} runs on NVIDIA GPUs alone, and there is none here"
    if isinstance(error, AttributeError) and _is_interpreters(error.obj):
        return f"Triton's interpreter cannot do this: {about}"
    while frames and any(part in frames[-1].co_filename for part in _INSIDE):
        if "numpy/" not in frames[-1].co_filename and _ITS_OWN.match(frames[-1].co_qualname):
            break
        frames.pop()
    return _lack_at(frames[-1], error) if frames else ""


def _lack_at(place: CodeType, error: BaseException) -> str:
    """The same of an error that arose at ``place``."""
    about = f"{type(error).__name__}: {error}"
    unfinished = isinstance(error, NotImplementedError) and "/triton/" in place.co_filename
    inside = any(part in place.co_filename for part in (_INTERPRETER, *_INSIDE))
    name = place.co_qualname
    if unfinished or (inside and _ITS_OWN.match(name) and not _CHECKS.match(name)):
        return f"Triton's interpreter cannot do this ({place.co_name}): {about}"
    return ""


def _is_interpreters(thing: object) -> bool:
    """Whether it is an object of Triton's interpreter, which a kernel never sees."""
    classes = type(thing).__mro__
    return any(each.__module__ == "triton.runtime.interpreter" for each in classes)


def _frames(trace: TracebackType | None) -> list[CodeType]:
    found = []
    while trace is not None:
        found.append(trace.tb_frame.f_code)
        trace = trace.tb_next
    return found
