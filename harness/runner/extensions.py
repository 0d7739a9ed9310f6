"""The stand-in for ``torch.utils.cpp_extension`` in a submission's process: it compiles nothing.

Before the submission starts, the judge has built what a recording of it asked for; ``load_inline``
and ``load`` answer with those libraries. In a recording they write down what is asked for.
"""

import importlib
import importlib.machinery
import importlib.util
import inspect
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn, Protocol

from harness.runner.library import reopenable
from harness.wire.extensions import (
    MAX_EXTENSIONS,
    ExtensionRequest,
    SourceFile,
    is_cuda,
    write_request,
)

MODULE = "torch.utils.cpp_extension"
_CUDA_HOME = "/usr/local/cuda"
_ONE_FILE = "a submission is one file: give the source as text, with load_inline"
_MAX_SOURCE = 1 << 20


class ExtensionError(RuntimeError):
    """An extension that did not compile, as torch says it."""


class ExtensionRefused(RuntimeError):
    """An extension that is not built here at all."""


class Unbuilt(BaseException):
    """An extension is wanted that is not built yet: no ``except Exception`` may go on without."""


class RecordingOver(BaseException):
    """A recorded extension was called: from here on nothing could be recorded."""


class Answer(Protocol):
    """What a stand-in does with a request."""

    def __call__(self, request: ExtensionRequest) -> object:
        """What ``load_inline`` or ``load`` returns for it."""


class Asked:
    """Writes down what is asked for, where the judge reads it."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._place = 0
        self._seen: set[str] = set()

    def add(self, request: ExtensionRequest) -> None:
        """Write down a request, once.

        Raises:
            ExtensionRefused: it cannot be built, or there is no room for it.
        """
        if fault := request.fault():
            raise ExtensionRefused(f"extension {request.name!r}: {fault}")
        digest = request.digest
        if digest in self._seen:
            return
        if len(self._seen) == MAX_EXTENSIONS:
            raise ExtensionRefused(f"a submission may have {MAX_EXTENSIONS} extensions")
        try:
            self._place = write_request(self._fd, self._place, request)
        except ValueError as error:
            raise ExtensionRefused(str(error)) from error
        self._seen.add(digest)


class _Recorded(ModuleType):
    """A module with every name in it; what is called ends the recording."""

    def __getattr__(self, name: str) -> Callable[..., NoReturn]:
        if name.startswith("__"):
            raise AttributeError(name)

        def called(*_args: object, **_named: object) -> NoReturn:
            raise RecordingOver(f"{self.__name__}.{name} is not built yet")

        return called


class Recorder:
    """Answers each request with a module that has no code."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked

    def __call__(self, request: ExtensionRequest) -> object:
        """Write it down."""
        self._asked.add(request)
        return _Recorded(request.name)


class Library:
    """Answers requests with what the judge has built."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self._files: dict[str, int] = {}
        self._errors: dict[str, Exception] = {}
        self._loaded: dict[str, object] = {}

    def add(self, digest: str, file: int | None, error: str, *, refused: bool) -> None:
        """Take over what became of the request with this digest: a library, or an error."""
        if file is not None:
            self._files[digest] = file
        else:
            self._errors[digest] = (ExtensionRefused if refused else ExtensionError)(error)

    def __call__(self, request: ExtensionRequest) -> object:
        """The extension, loaded once.

        Raises:
            ExtensionError, ExtensionRefused: the judge could not build it.
            Unbuilt: it was never asked for before.
        """
        digest = request.digest
        if digest in self._errors:
            raise self._errors[digest]
        if digest not in self._files:
            self._asked.add(request)
            raise Unbuilt(
                f"extension {request.name!r} is another one each time: its sources are made at run "
                "time"
            )
        if digest not in self._loaded:
            self._loaded[digest] = _load(request, self._files[digest])
        return self._loaded[digest]


def _load(request: ExtensionRequest, fd: int) -> object:
    """Load a library; a Python module's name is that which it was built under."""
    path, name = f"/proc/self/fd/{reopenable(fd)}", request.built_name
    if not request.python_module:
        import torch

        torch.ops.load_library(path)  # type: ignore[no-untyped-call]
        return path
    loader = importlib.machinery.ExtensionFileLoader(name, path)
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def own_folders(folder: Path) -> tuple[Path, ...]:
    """The folders that a submission confined to ``folder`` can write files to."""
    return (folder, Path("/tmp"))  # noqa: S108 - the sandbox's own


def stand_in(answer: Answer, own: Iterable[Path]) -> None:
    """Put the stand-in into this process, where imports of any form find it.

    ``load`` reads sources in the folders ``own``, which the submission has written itself.
    """
    module = _real()
    inline, files = (_signature(module, name) for name in ("load_inline", "load"))
    folders = [folder.resolve() for folder in own]

    def load_inline(*args: Any, **named: Any) -> object:
        return answer(_inline(_arguments(inline, args, named)))

    def load(*args: Any, **named: Any) -> object:
        return answer(_from_files(_arguments(files, args, named), folders))

    vars(module).update(
        load_inline=load_inline,
        load=load,
        is_ninja_available=lambda: True,
        verify_ninja_availability=lambda: None,
        CUDA_HOME=vars(module).get("CUDA_HOME") or os.environ.get("CUDA_HOME") or _CUDA_HOME,
    )


def _real() -> ModuleType:
    """The module of torch, or an empty one of its name where it cannot be imported."""
    try:
        return importlib.import_module(MODULE)
    except Exception:  # it wants setuptools, and asks for compilers
        import torch.utils

        module = ModuleType(MODULE)
        sys.modules[MODULE] = module
        setattr(torch.utils, "cpp_extension", module)  # noqa: B010 - no stub has it
        return module


_INLINE = (
    "name cpp_sources cuda_sources sycl_sources functions extra_cflags extra_cuda_cflags "
    "extra_sycl_cflags extra_ldflags extra_include_paths build_directory verbose with_cuda "
    "with_sycl is_python_module with_pytorch_error_handling keep_intermediates use_pch "
    "no_implicit_headers"
)
_FILES = (
    "name sources extra_cflags extra_cuda_cflags extra_sycl_cflags extra_ldflags "
    "extra_include_paths build_directory verbose with_cuda with_sycl is_python_module "
    "is_standalone keep_intermediates"
)
_NEEDED = ("name", "cpp_sources", "sources")


def _signature(module: ModuleType, name: str) -> inspect.Signature:
    """The parameters of one of torch's functions; those of 2.13 where torch's cannot be had."""
    if callable(found := vars(module).get(name)):
        return inspect.signature(found)
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return inspect.Signature(
        [
            inspect.Parameter(each, kind, default=inspect.Parameter.empty)
            if each in _NEEDED
            else inspect.Parameter(each, kind, default=True if each in _ON else None)
            for each in (_INLINE if name == "load_inline" else _FILES).split()
        ]
    )


_ON = ("is_python_module", "with_pytorch_error_handling", "keep_intermediates")


def _arguments(
    signature: inspect.Signature, args: tuple[Any, ...], named: dict[str, Any]
) -> Mapping[str, Any]:
    bound = signature.bind(*args, **named)
    bound.apply_defaults()
    given = bound.arguments
    for lacking in ("sycl_sources", "with_sycl", "is_standalone"):
        if given.get(lacking):
            raise ExtensionRefused(f"extension {given['name']!r}: {lacking} is not built here")
    return given


def _inline(given: Mapping[str, Any]) -> ExtensionRequest:
    """The request of ``load_inline``: its files are those that torch would write."""
    implicit = not given.get("no_implicit_headers")
    cpp, cuda = _texts(given["cpp_sources"]), _texts(given.get("cuda_sources") or None)
    if implicit:
        cpp = ["#include <torch/extension.h>", *cpp]
    if (functions := given.get("functions")) is not None:
        cpp += _bindings(functions, handled=bool(given.get("with_pytorch_error_handling", True)))
    sources = [SourceFile(name="main.cpp", text="\n".join(cpp))]
    if cuda:
        headers = ("torch/types.h", "cuda.h", "cuda_runtime.h") if implicit else ()
        cuda = [*(f"#include <{header}>" for header in headers), *cuda]
        sources.append(SourceFile(name="cuda.cu", text="\n".join(cuda)))
    return _request(given, sources)


def _bindings(functions: Any, *, handled: bool) -> list[str]:
    """The lines that make a Python module of these functions."""
    if isinstance(functions, str):
        functions = [functions]
    if isinstance(functions, list):
        functions = {each: each for each in functions}
    if not isinstance(functions, dict):
        raise ValueError(f"Expected 'functions' to be a list or dict, but was {type(functions)}")
    lines = ["PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {"]
    for name, doc in functions.items():
        called = f"torch::wrap_pybind_function({name})" if handled else str(name)
        lines.append(f'm.def("{name}", {called}, "{doc}");')
    return [*lines, "}"]


def _from_files(given: Mapping[str, Any], own: Iterable[Path]) -> ExtensionRequest:
    """The request of ``load``, with the contents of files that the submission has written."""
    paths = [Path(path) for path in _texts(given["sources"])]
    return _request(given, [_read(path, own) for path in paths])


def _read(path: Path, own: Iterable[Path]) -> SourceFile:
    real = path.resolve()
    try:
        if not any(real.is_relative_to(folder) for folder in own):
            raise ExtensionRefused(f"{path} is not part of the submission; {_ONE_FILE}")
        with real.open("rb") as file:
            text = file.read(_MAX_SOURCE + 1)
    except OSError as error:
        reason = f"{path} cannot be read ({error.strerror}); {_ONE_FILE}"
        raise ExtensionRefused(reason) from error
    if len(text) > _MAX_SOURCE:
        raise ExtensionRefused(f"{path} is larger than {_MAX_SOURCE >> 20} MiB")
    return SourceFile(name=path.name, text=text.decode("utf-8", "replace"))


def _request(given: Mapping[str, Any], sources: list[SourceFile]) -> ExtensionRequest:
    flags = {
        field: tuple(each.strip() for each in _texts(given.get(f"extra_{field}")))
        for field in ("cflags", "cuda_cflags", "ldflags", "include_paths")
    }
    return ExtensionRequest(
        name=str(given["name"]),
        sources=tuple(sources),
        with_cuda=bool(given.get("with_cuda")) or any(map(is_cuda, sources)),
        python_module=bool(given.get("is_python_module", True)),
        **flags,
    )


def _texts(given: Any) -> list[str]:
    """One text or path, several, or none, as a list."""
    if given is None:
        return []
    if isinstance(given, str | os.PathLike):
        return [os.fspath(given)]
    return [os.fspath(each) for each in given]
