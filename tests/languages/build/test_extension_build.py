"""Compiling an extension: slim headers first, PyTorch's own where those do not do."""

import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.languages.build.cache import BuildOutcome, Cache
from harness.languages.build.compiler import CompilerCall
from harness.languages.build.extension import ExtensionBuild, undeclared
from harness.languages.build.extension_calls import ExtensionCalls
from harness.languages.build.toolchain import find_host_compiler, find_nvcc
from harness.languages.build.torch_headers import installed_torch
from harness.records.result import Verdict
from harness.solution.model import Target
from harness.wire.extensions import ExtensionRequest, SourceFile

PLAIN = "torch::Tensor f(torch::Tensor x) { return torch::empty_like(x); }"
CARD, CPU = Target(kind="cuda"), Target(kind="cpu")


def _request(text: str = PLAIN, name: str = "main.cpp", **changes: Any) -> ExtensionRequest:
    source = SourceFile(name=name, text=text)
    return replace(ExtensionRequest(name="made", sources=(source,)), **changes)


def _calls(request: ExtensionRequest, target: Target = CPU) -> ExtensionCalls:
    nvcc = find_nvcc() if request.cuda else None
    return ExtensionCalls(request, target, installed_torch(), find_host_compiler(), nvcc)


def test_the_headers_that_a_source_names_are_tried_first() -> None:
    slim, whole = _calls(_request()).compiling()["main.cpp"]
    assert "slim/torch/extension.h" in slim.inputs
    assert "slim/torch/extension.h" not in whole.inputs
    assert slim.command == whole.command


def test_what_needs_all_of_pytorch_is_compiled_so_at_once() -> None:
    (whole,) = _calls(_request("torch::nn::Linear f();")).compiling()["main.cpp"]
    assert list(whole.inputs) == ["main.cpp"]


@pytest.mark.nvcc
def test_options_reach_the_compiler_that_they_are_for() -> None:
    sources = (
        SourceFile(name="main.cpp", text=PLAIN),
        SourceFile(name="cuda.cu", text="__global__ void k() {}"),
    )
    flags = {"cflags": ("-mavx2", "-DA=1"), "cuda_cflags": ("--use_fast_math",)}
    calls = _calls(
        _request(
            sources=sources,
            ldflags=("-lm", "-Wl,--as-needed"),
            **flags,
            include_paths=(str(installed_torch().include),),
        ),
        CARD,
    )
    compiling = calls.compiling()
    host, cuda = (compiling[name][0].command for name in ("main.cpp", "cuda.cu"))
    assert "-Xcompiler=-mavx2" in host
    assert "-DA=1" in host
    assert f"-I{installed_torch().include}" in host
    assert "--use_fast_math" in cuda
    assert "-gencode=arch=compute_90a,code=sm_90a" in cuda
    assert not {"-mavx2", "-DA=1"} & {*cuda}
    linking = calls.linking().command
    assert {"-lm", "-Xlinker=--as-needed", "-ltorch_cuda", "-lc10_cuda"} <= {*linking}


@pytest.mark.corpus
@pytest.mark.nvcc
def test_launches_without_a_stream_go_to_pytorchs_current_one(tmp_path: Path) -> None:
    """As far as shows without a card: the launch calls ours, which asks PyTorch."""
    kernel = "__global__ void k() {}\nvoid launch() { k<<<1, 1>>>(); }\n"
    calls = _calls(_request(kernel, "k.cu"), CARD)
    for call, *_ in calls.compiling().values():
        for name in call.inputs:
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        assert call.run(tmp_path, 120.0).ok
    linking = calls.linking()
    absent = ("-lc10_cuda", "-ltorch_cuda")  # of a PyTorch for CUDA
    command = tuple(word for word in linking.command if word not in absent)
    assert linking._replace(command=command).run(tmp_path, 120.0).ok
    listed = ["nm", "-C", str(tmp_path / "extension.so")]
    symbols = subprocess.run(listed, capture_output=True, text=True, check=True).stdout
    assert " t __wrap___cudaPushCallConfiguration" in symbols
    assert " U c10::cuda::getCurrentCUDAStream(" in symbols


@pytest.mark.nvcc
def test_an_architecture_of_its_own_replaces_the_targets() -> None:
    request = _request("", "k.cu", cuda_cflags=("-arch=sm_80",))
    command = _calls(request, CARD).compiling()["k.cu"][0].command
    assert [word for word in command if "sm_" in word] == ["-arch=sm_80"]


@pytest.fixture
def compilers(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], list[bool]]:
    """Compilers that fail on slim headers with these words; whether each call had such."""
    tried: list[bool] = []

    def failing_on_slim(words: str) -> list[bool]:
        def build(call: CompilerCall, folder: Path, *_: object) -> BuildOutcome:
            slim = any(name.startswith("slim/") for name in call.inputs)
            tried.append(slim)
            if slim:
                failure = {"verdict": Verdict.COMPILE_ERROR, "message": words}
                return BuildOutcome.model_validate({"failure": failure, "log": words})
            folder.mkdir(exist_ok=True)
            (folder / f"{call.source}.o").touch()
            (folder / "extension.so").touch()
            return BuildOutcome()

        monkeypatch.setattr(CompilerCall, "build", build)
        return tried

    return failing_on_slim


@pytest.mark.parametrize(
    ("words", "again"),
    [
        ("main.cpp:1: error: 'foo' is not a member of 'torch'", True),
        ('cuda.cu:1: error: identifier "foo" is undefined', True),
        ("main.cpp:1: fatal error: a.h: No such file or directory", True),
        ("main.cpp:1: error: expected ';' before '}' token", False),
    ],
)
def test_pytorchs_own_headers_are_tried_where_they_may_help(
    compilers: Callable[[str], list[bool]], tmp_path: Path, words: str, again: bool
) -> None:
    tried = compilers(words)
    outcome = ExtensionBuild(_calls(_request()), 10.0, Cache(tmp_path)).outcome()
    assert tried == ([True, False, False] if again else [True])  # the last one links
    assert (outcome.failure is None) == again


@pytest.mark.parametrize(
    ("bound", "words", "again"),
    [
        ("own", "main.cpp:4:5: error: ‘own’ was not declared in this scope", False),
        ("own", "main.cpp:4:5: error: 'own' was not declared in this scope", False),
        ("relu", "main.cpp:4:5: error: ‘relu’ was not declared in this scope", True),
        ("own", "main.cpp:4:5: error: ‘other’ was not declared in this scope", True),
        (
            "own",
            "a.cpp:4: error: ‘own’ was not declared in this scope\n"
            "a.cpp:5: error: ‘f’ is not a member of ‘torch’",
            True,
        ),
    ],
)
def test_no_header_declares_a_function_of_the_submissions_own(
    compilers: Callable[[str], list[bool]], tmp_path: Path, bound: str, words: str, again: bool
) -> None:
    tried = compilers(words)
    request = _request(f'm.def("f", torch::wrap_pybind_function({bound}), "f");')
    ExtensionBuild(_calls(request), 10.0, Cache(tmp_path)).outcome()
    assert tried == ([True, False, False] if again else [True])


@pytest.mark.parametrize(
    ("words", "tried"),
    [
        ("main.cpp:4:5: error: ‘own’ was not declared in this scope", [True]),
        ("a.cpp:4: error: 'foo' is not a member of 'torch'", [True, False, True, False, False]),
    ],
)
def test_what_binds_a_function_that_it_does_not_declare_is_compiled_first(
    compilers: Callable[[str], list[bool]], tmp_path: Path, words: str, tried: list[bool]
) -> None:
    binding = SourceFile(name="main.cpp", text='m.def("own", torch::wrap_pybind_function(own));')
    request = _request()
    other = replace(request.sources[0], name="other.cpp")
    request = replace(request, sources=(other, binding))
    found = compilers(words)
    ExtensionBuild(_calls(request), 10.0, Cache(tmp_path)).outcome()
    assert found == tried


@pytest.mark.parametrize(
    ("before", "names"),
    [("", {"own"}), ("int own(int);", set()), ("int owner(int); // own2", {"own"})],
)
def test_functions_that_are_bound_and_not_declared(before: str, names: set[str]) -> None:
    binding = 'm.def("own", torch::wrap_pybind_function(own), "own");'
    module = f"PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {{\n{binding}\n}}"
    assert undeclared(f"{before}\n{module}") == names


@pytest.mark.nvcc
def test_without_a_card_cuda_is_compiled_and_not_linked(
    compilers: Callable[[str], list[bool]], tmp_path: Path
) -> None:
    tried = compilers("")
    request = _request("torch::nn::Linear f();", "k.cu")
    outcome = ExtensionBuild(_calls(request), 10.0, Cache(tmp_path)).outcome()
    assert tried == [False]
    assert outcome.failure is not None
    assert outcome.failure.verdict is Verdict.NOT_EXECUTABLE_HERE
    assert "it compiles for sm_90 with nvcc" in outcome.failure.message


def test_without_nvcc_a_card_is_asked_for_all_the_same(tmp_path: Path) -> None:
    calls = _calls(_request())._replace(request=_request("", "k.cu"))
    failure = ExtensionBuild(calls, 10.0, Cache(tmp_path)).outcome().failure
    assert failure is not None
    assert failure.verdict is Verdict.NOT_EXECUTABLE_HERE
    assert "there is no nvcc either" in failure.message


def test_options_that_are_not_taken_are_named(tmp_path: Path) -> None:
    calls = _calls(_request(cflags=("-fplugin=x",)))
    failure = ExtensionBuild(calls, 10.0, Cache(tmp_path)).outcome().failure
    assert failure is not None
    assert failure.verdict is Verdict.INVALID_SUBMISSION
    assert "-fplugin=x" in failure.message
