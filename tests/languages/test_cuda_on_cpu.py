"""Building CUDA files for execution on the CPU, with and without an nvcc."""

import ctypes
from dataclasses import replace
from pathlib import Path

import pytest
from support.corpus import rest_in_corpus
from support.tools import needs_nvcc

from harness.languages import LANGUAGES, cuda
from harness.languages.build import compiler, toolchain
from harness.languages.build.cache import BuildError, BuildOutcome, Cache
from harness.languages.build.toolchain import HostCompilerNotFound, NvccNotFound, find_host_compiler
from harness.languages.read import read_solution
from harness.problem.package import Problem
from harness.problem.terms import Limits
from harness.records.result import Verdict
from harness.sandbox import host_memory
from harness.solution.model import Artifact, BuildFailure, Solution, Target

FILES = Path(__file__).parent / "files"
CPU = Target(kind="cpu")
SIGNATURE = (
    "void solution(const VAR* a, const VAR* b, VAR* out, float alpha, size_t m, size_t n, size_t k)"
)


@pytest.fixture
def no_nvcc(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent() -> None:
        raise NvccNotFound

    monkeypatch.setattr(toolchain, "find_nvcc", absent)


def build(
    path: Path, problem: Problem, cache: Cache, dtype: str = "float32"
) -> Artifact | BuildFailure:
    solution = read_solution(path)
    assert isinstance(solution, Solution), solution
    return LANGUAGES["cuda"].build(solution, problem, dtype, CPU, cache)


def text(folder: Path, source: str) -> Path:
    path = folder / "mine.cu"
    path.write_text(source)
    return path


def failed(path: Path, problem: Problem, cache: Cache) -> BuildFailure:
    failure = build(path, problem, cache)
    assert isinstance(failure, BuildFailure)
    return failure


@needs_nvcc
@pytest.mark.nvcc
def test_a_good_file_with_nvcc(problem: Problem, cache: Cache) -> None:
    artifact = build(FILES / "good/tiled.cu", problem, cache)
    assert isinstance(artifact, Artifact), artifact
    assert artifact.build.target == "cpu+sm_90a"
    assert [kernel.name for kernel in artifact.build.kernels] == ["product"]
    assert artifact.checked is not None
    again = build(FILES / "good/tiled.cu", problem, cache)
    assert isinstance(again, Artifact)
    assert again.build.cached


@pytest.mark.usefixtures("no_nvcc")
@pytest.mark.parametrize("dtype", rest_in_corpus(["float32", "bfloat16"]))
def test_a_good_file_without_nvcc(problem: Problem, cache: Cache, dtype: str) -> None:
    artifact = build(FILES / "good/tiled.cu", problem, cache, dtype)
    assert isinstance(artifact, Artifact), artifact
    assert (artifact.build.target, artifact.build.kernels) == ("cpu", ())
    assert artifact.library is not None
    assert ctypes.CDLL(str(artifact.library)).solution


@pytest.mark.corpus
def test_constexpr_functions_and_device_lambdas(problem: Problem, cache: Cache) -> None:
    artifact = build(FILES / "good/relaxed.cu", problem, cache)
    assert isinstance(artifact, Artifact), artifact


@needs_nvcc
@pytest.mark.nvcc
def test_what_only_a_gpu_executes(problem: Problem, cache: Cache, tmp_path: Path) -> None:
    path = text(tmp_path, f'\n__device__ void f() {{ asm("bar.sync 0;"); }}\n{SIGNATURE} {{}}\n')
    failure = failed(path, problem, cache)
    assert failure.verdict is Verdict.NOT_EXECUTABLE_HERE
    assert failure.message.startswith(f"compiled for sm_90; not executable on a CPU: {path}:2: ")


@pytest.mark.corpus
@needs_nvcc
@pytest.mark.nvcc
def test_what_only_the_executor_rejects(problem: Problem, cache: Cache, tmp_path: Path) -> None:
    source = "#ifndef __CUDACC_VER_BUILD__\n#error for nvcc alone\n#endif\n"
    failure = failed(text(tmp_path, source + f"{SIGNATURE} {{}}\n"), problem, cache)
    assert failure.verdict is Verdict.NOT_EXECUTABLE_HERE
    assert "mine.cu:2:" in failure.message


@pytest.mark.corpus
@needs_nvcc
@pytest.mark.nvcc
def test_nvccs_verdict_goes_first(problem: Problem, cache: Cache, tmp_path: Path) -> None:
    path = text(tmp_path, f'__device__ void f() {{ asm("" : nonsense); }}\n{SIGNATURE} {{}}\n')
    failure = failed(path, problem, cache)
    assert failure.verdict is Verdict.COMPILE_ERROR
    assert failure.message.startswith(f"{path}:1: error:")


@pytest.mark.usefixtures("no_nvcc")
@pytest.mark.parametrize(
    ("name", "place"),
    rest_in_corpus([("undefined_name", ":4:"), ("wrong_parameter", ":2:"), ("host_error", "")]),
)
def test_a_compile_error_without_nvcc(
    problem: Problem, cache: Cache, name: str, place: str
) -> None:
    path = FILES / f"bad/{name}.cu"
    failure = failed(path, problem, cache)
    assert failure.verdict is Verdict.COMPILE_ERROR
    if place:
        assert failure.message.startswith(f"{path}{place}"), failure.message


@pytest.mark.usefixtures("no_nvcc")
@pytest.mark.parametrize(
    ("source", "reason"),
    rest_in_corpus(
        [
            ("#include <thrust/sort.h>\n", ":1: the thrust library"),
            ("#include <cub/cub.cuh>\nint f() { cub::DeviceScan s; }\n", ":2: cub::DeviceScan"),
            ("#include <cooperative_groups.h>\ncooperative_groups::strange s;\n", ":2:"),
            ("#include <mma.h>\nnvcuda::wmma::experimental::x s;\n", ":2:"),
            (
                "#include <cub/cub.cuh>\nvoid f(cub::BlockScan<int, 32>::TempStorage& t) {\n"
                "  cub::BlockScan<int, 32>(t).Strange(); }\n",
                ":3:",
            ),
        ]
    ),
)
def test_what_the_executor_lacks_is_no_compile_error_without_nvcc(
    problem: Problem, cache: Cache, tmp_path: Path, source: str, reason: str
) -> None:
    path = text(tmp_path, f"{source}{SIGNATURE} {{}}\n")
    failure = failed(path, problem, cache)
    assert failure.verdict is Verdict.NOT_EXECUTABLE_HERE, failure.message
    assert f"{path}{reason}" in failure.message


@pytest.mark.corpus
def test_a_file_without_solution(problem: Problem, cache: Cache) -> None:
    failure = failed(FILES / "bad/no_solution.cu", problem, cache)
    assert failure.verdict is Verdict.INVALID_SUBMISSION
    assert "the problem asks for" in failure.message


@pytest.mark.corpus
@pytest.mark.usefixtures("no_nvcc")
def test_without_libasan_nothing_is_checked(
    problem: Problem, cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = replace(find_host_compiler(), sanitizer=False)
    monkeypatch.setattr(cuda, "find_host_compiler", lambda: bare)
    artifact = build(FILES / "good/tiled.cu", problem, cache)
    assert isinstance(artifact, Artifact)
    assert artifact.checked is None
    assert "libasan" in artifact.build.log


def test_without_any_compiler_it_is_the_machines_fault(
    problem: Problem, cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent() -> None:
        raise HostCompilerNotFound

    monkeypatch.setattr(cuda, "find_host_compiler", absent)
    with pytest.raises(HostCompilerNotFound):
        build(FILES / "good/tiled.cu", problem, cache)


@pytest.mark.usefixtures("no_nvcc")
def test_a_bomb_for_the_host_compiler_hits_the_time_limit(
    problem: Problem, cache: Cache, tmp_path: Path
) -> None:
    bomb = "#define A(x) x x x x x x x x\n#define B(x) A(A(A(A(x))))\nint z = 0 B(B(B(+ 1)));\n"
    path = text(tmp_path, f"{bomb}{SIGNATURE} {{}}\n")
    limited = replace(problem, limits=Limits(build_s=1.0))
    failure = failed(path, limited, cache)
    assert failure.verdict in (Verdict.TIME_LIMIT, Verdict.MEMORY_LIMIT)
    assert str(path) in failure.message


@pytest.mark.usefixtures("no_nvcc")
def test_a_bomb_for_the_host_compiler_hits_the_memory_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiler, "MEMORY_BYTES", 300 << 20)
    monkeypatch.setattr(host_memory, "build_share", lambda most, _builders: most)  # has room
    bomb = '__asm__(".rept 1000000000\\n.quad 1\\n.endr");\n'
    done = compiler.CompilerCall(
        tool="the host compiler",
        version="",
        tools=(find_host_compiler().path,),
        command=("g++", "-x", "c++", "-c", "mine.cu", "-o", "mine.o"),
        inputs={"mine.cu": bomb.encode()},
    ).build(tmp_path, 30.0)
    assert done.failure is not None
    assert done.failure.verdict is Verdict.MEMORY_LIMIT
    assert "the limit is 300 MiB" in done.failure.message
    assert not done.reusable


@pytest.mark.nvcc
@needs_nvcc
def test_a_host_compiler_that_crashes_is_no_obstacle_of_the_executor(
    problem: Problem, cache: Cache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    crash = "g++: internal compiler error: Segmentation fault signal terminated program cc1plus"

    def build_with(call: compiler.CompilerCall, *_: object, **__: object) -> BuildOutcome:
        if call.tool == "nvcc":
            return BuildOutcome(seconds=1.0)
        failure = BuildError(verdict=Verdict.COMPILE_ERROR, message=f"it itself failed: {crash}")
        return BuildOutcome(failure=failure, log=crash, seconds=1.0, reusable=False)

    monkeypatch.setattr(compiler.CompilerCall, "build", build_with)
    failure = failed(text(tmp_path, f'extern "C" {SIGNATURE} {{}}\n'), problem, cache)
    assert failure.verdict is Verdict.COMPILE_ERROR
    assert crash in failure.message


@pytest.mark.usefixtures("no_nvcc")
def test_a_source_that_exhausts_the_translator_is_no_internal_error(
    problem: Problem, cache: Cache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.languages.build.translation.SECONDS", 0.5)
    path = text(tmp_path, f"{SIGNATURE} {{}}\n" + "a<<<" * 10_000)
    assert failed(path, problem, cache).verdict is not Verdict.INTERNAL_ERROR


def test_a_data_type_without_a_c_type_is_refused(
    tmp_path: Path, problem: Problem, cache: Cache, no_nvcc: None
) -> None:
    path = text(tmp_path, f'extern "C" {SIGNATURE} {{}}\n')
    with pytest.raises(KeyError, match="float33"):
        build(path, problem, cache, dtype="float33")


@pytest.mark.parametrize(
    ("source", "said"),
    rest_in_corpus(
        [
            ("#include <torch/extension.h>\n", "a .cu file is compiled without PyTorch"),
            ("#include <ATen/cuda/CUDAContext.h>\n", "a .cu file is compiled without PyTorch"),
            ("#include <pybind11/pybind11.h>\n", "a .cu file is compiled without PyTorch"),
            ('#include "mine.h"\n', "a submission is one file"),
            ("#include <mine.cuh>\n", "a submission is one file"),
            (
                'extern "C" void solution(const VAR* x) {}\n',
                "solution has other parameters than the",
            ),
        ]
    ),
)
def test_what_to_do_about_a_compile_error(
    source: str, said: str, tmp_path: Path, problem: Problem, cache: Cache
) -> None:
    failure = failed(text(tmp_path, source), problem, cache)
    assert failure.verdict is Verdict.COMPILE_ERROR
    assert said in failure.message


def test_a_named_nvcc_that_is_not_there(
    tmp_path: Path, problem: Problem, cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARNESS_NVCC", "/nonexistent/nvcc")
    with pytest.raises(NvccNotFound, match=r"HARNESS_NVCC=/nonexistent/nvcc: .*unset it"):
        build(FILES / "good/tiled.cu", problem, cache)


@pytest.mark.corpus
@needs_nvcc
@pytest.mark.nvcc
def test_a_compile_error_shows_the_line_as_it_was_typed(
    tmp_path: Path, problem: Problem, cache: Cache
) -> None:
    line = "__global__ void f(VAR* x) { *x = missing; }"
    failure = failed(text(tmp_path, line + "\n"), problem, cache)
    assert failure.build is not None
    assert f"  {line}\n  {' ' * line.index('missing')}^" in failure.build.log
