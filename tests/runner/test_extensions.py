"""The stand-in for ``torch.utils.cpp_extension``: what it asks for, and how it answers."""

import inspect
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.utils.cpp_extension as real

from harness.runner.extensions import (
    Asked,
    ExtensionError,
    ExtensionRefused,
    Library,
    Recorder,
    RecordingOver,
    Unbuilt,
    stand_in,
)
from harness.wire.extensions import MAX_EXTENSIONS, ROOM, ExtensionRequest, read_requests
from harness.wire.memory import sealed_memory

CPP = "torch::Tensor f(torch::Tensor x) { return x; }"
CUDA = "__global__ void k() {}"


@pytest.fixture
def memory() -> Iterator[int]:
    fd = sealed_memory("asked", ROOM)
    yield fd
    os.close(fd)


@pytest.fixture
def module() -> Iterator[Any]:
    """PyTorch's module; as it was, after."""
    before = dict(vars(real))
    yield real
    vars(real).clear()
    vars(real).update(before)


@pytest.fixture
def asks(module: Any, memory: int, tmp_path: Path) -> Callable[[], ExtensionRequest]:
    """Puts a recording stand-in there; the only request since, when called."""
    stand_in(Recorder(Asked(memory)), [tmp_path])
    return lambda: read_requests(memory)[0]


def _of_torch(monkeypatch: pytest.MonkeyPatch, folder: Path, **given: Any) -> dict[str, str]:
    """The sources that PyTorch itself would write for a call of ``load_inline``."""
    monkeypatch.setattr(real, "_jit_compile", lambda *_args, **_named: None)
    real.load_inline(build_directory=str(folder), **given)
    return {file.name: file.read_text() for file in folder.iterdir()}


@pytest.mark.parametrize(
    "given",
    [
        {"cpp_sources": CPP, "functions": ["f"]},
        {"cpp_sources": [CPP, "// more"], "functions": {"f": "what f does"}},
        {"cpp_sources": CPP, "functions": "f", "with_pytorch_error_handling": False},
        {"cpp_sources": CPP, "cuda_sources": CUDA, "functions": ["f"]},
        {"cpp_sources": [], "cuda_sources": [CUDA, CUDA]},
        {"cpp_sources": "", "cuda_sources": CUDA, "functions": []},
        {"cpp_sources": CPP, "cuda_sources": CUDA, "no_implicit_headers": True},
        {"cpp_sources": CPP, "cuda_sources": ""},
    ],
    ids=range(8),
)
def test_the_sources_are_those_that_pytorch_writes(
    given: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    module: Any,
    memory: int,
    tmp_path: Path,
) -> None:
    copied = {k: list(v) if isinstance(v, list) else v for k, v in given.items()}
    wanted = _of_torch(monkeypatch, tmp_path, name="ext", **copied)
    stand_in(Recorder(Asked(memory)), [])
    module.load_inline("ext", **given)
    (request,) = read_requests(memory)
    assert {source.name: source.text for source in request.sources} == wanted
    assert request.cuda == bool(given.get("cuda_sources"))


def test_all_that_decides_the_build_is_asked_for(
    module: Any, asks: Callable[[], ExtensionRequest]
) -> None:
    module.load_inline(
        name="ext",
        cpp_sources=CPP,
        functions=["f"],
        extra_cflags=["-O3", " -g "],
        extra_cuda_cflags=["--use_fast_math"],
        extra_ldflags=["-lcublas"],
        extra_include_paths=[Path("/usr/local/cuda/include")],
        with_cuda=True,
        is_python_module=False,
        verbose=True,
        build_directory="/tmp/x",
    )
    request = asks()
    assert (request.cflags, request.cuda_cflags) == (("-O3", "-g"), ("--use_fast_math",))
    assert (request.ldflags, request.include_paths) == (("-lcublas",), ("/usr/local/cuda/include",))
    assert request.with_cuda
    assert not request.python_module


def test_sources_that_the_submission_wrote_are_read(
    module: Any, asks: Callable[[], ExtensionRequest], tmp_path: Path
) -> None:
    (tmp_path / "a.cu").write_text(CUDA)
    (tmp_path / "b.cpp").write_text(CPP)
    module.load(name="ext", sources=[tmp_path / "a.cu", str(tmp_path / "b.cpp")])
    request = asks()
    assert [(source.name, source.text) for source in request.sources] == [
        ("a.cu", CUDA),
        ("b.cpp", CPP),
    ]
    assert request.cuda


@pytest.mark.parametrize("name", ["missing.cu", "../b.cpp", "link.cpp", "folder.cpp", "/etc/x.cu"])
def test_other_files_are_refused(
    module: Any, asks: Callable[[], ExtensionRequest], tmp_path: Path, name: str
) -> None:
    (tmp_path.parent / "b.cpp").write_text(CPP)
    (tmp_path / "link.cpp").symlink_to(tmp_path.parent / "b.cpp")
    (tmp_path / "folder.cpp").mkdir()
    with pytest.raises(ExtensionRefused, match="one file: give the source as text"):
        module.load("ext", [str(tmp_path / name)])


@pytest.mark.parametrize(
    "given",
    [{"name": "a-b"}, {"sycl_sources": "x"}, {"cpp_sources": "x" * (ROOM + 1)}],
    ids=["name", "sycl", "size"],
)
def test_what_is_not_built_here_is_refused(
    module: Any, asks: Callable[[], ExtensionRequest], given: dict[str, Any]
) -> None:
    with pytest.raises(ExtensionRefused):
        module.load_inline(**{"name": "ext", "cpp_sources": CPP, **given})


def test_more_than_the_most_are_refused(module: Any, asks: Callable[[], ExtensionRequest]) -> None:
    for number in range(MAX_EXTENSIONS):
        module.load_inline("ext", f"// {number}")
    module.load_inline("ext", "// 0")
    with pytest.raises(ExtensionRefused, match="16"):
        module.load_inline("ext", "// another")


def test_wrong_arguments_are_the_callers_fault(
    module: Any, asks: Callable[[], ExtensionRequest]
) -> None:
    with pytest.raises(TypeError):
        module.load_inline("ext", CPP, no_such=1)
    with pytest.raises(ValueError, match="functions"):
        module.load_inline("ext", CPP, functions=7)


def test_a_recorded_extension_ends_the_recording_when_called(
    module: Any, asks: Callable[[], ExtensionRequest]
) -> None:
    extension = module.load_inline("ext", CPP, functions=["f"])
    assert callable(extension.f)
    with pytest.raises(RecordingOver):
        extension.f(1)


def test_imports_of_any_form_find_it(module: Any, asks: Callable[[], ExtensionRequest]) -> None:
    from torch.utils import cpp_extension
    from torch.utils.cpp_extension import load_inline

    assert cpp_extension.load_inline is load_inline is module.load_inline
    assert module.verify_ninja_availability() is None
    assert module.is_ninja_available()
    assert module.CUDA_HOME
    assert module.include_paths()


class TestAnswers:
    def test_an_error_is_raised_as_pytorch_would(self, module: Any, memory: int) -> None:
        library, pytorchs = Library(Asked(memory)), dict(vars(module))
        stand_in(Recorder(Asked(memory)), [])
        module.load_inline("ext", CPP)
        vars(module).update(pytorchs)
        library.add(read_requests(memory)[0].digest, None, "cuda.cu:3: no", refused=False)
        stand_in(library, [])
        with pytest.raises(RuntimeError, match=r"cuda\.cu:3: no") as raised:
            module.load_inline("ext", CPP)
        assert isinstance(raised.value, ExtensionError)

    def test_one_that_is_unknown_is_asked_for(self, module: Any, memory: int) -> None:
        stand_in(Library(Asked(memory)), [])
        with pytest.raises(Unbuilt):
            module.load_inline("ext", CPP)
        assert len(read_requests(memory)) == 1
        assert not issubclass(Unbuilt, Exception)


def test_without_pytorchs_module_it_is_there(
    module: Any, memory: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    inline = inspect.signature(module.load_inline)
    monkeypatch.setitem(sys.modules, "torch.utils.cpp_extension", None)
    monkeypatch.setattr(torch.utils, "cpp_extension", None, raising=False)
    stand_in(Recorder(Asked(memory)), [])
    made = sys.modules["torch.utils.cpp_extension"]
    made.load_inline(name="ext", cpp_sources=CPP, functions=["f"], extra_cflags=["-O3"])
    made.load_inline("ext", CPP, CUDA)
    assert len(read_requests(memory)) == 2
    assert next(iter(inline.parameters)) == "name"
