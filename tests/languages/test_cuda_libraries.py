"""CUDA files that use libraries: made-up ones with nvcc, and in a sandbox without it."""

import ctypes
import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from support.corpus import rest_in_corpus
from support.toolkits import add_headers, add_shared, libraries
from support.tools import needs_nvcc

from harness.device.base import Device
from harness.device.choose import open_device
from harness.languages import LANGUAGES, cuda
from harness.languages.build import toolchain
from harness.languages.build.cache import Cache
from harness.languages.build.libraries import Libraries
from harness.languages.build.toolchain import Nvcc, NvccNotFound
from harness.languages.read import read_solution
from harness.problem.package import Problem
from harness.problem.terms import Limits
from harness.records.result import Verdict
from harness.session.programs import RunnerProgram
from harness.session.session import Session
from harness.solution.model import Artifact, BuildFailure, Solution, Target

CARD = Target(kind="cuda")
CPU = Target(kind="cpu")
SIGNATURE = (
    'extern "C" void solution('
    "const VAR* a, const VAR* b, VAR* out, float alpha, size_t m, size_t n, size_t k)"
)
USES_CUBLAS = f"""// uses: cublas
#include <cublas_v2.h>
__global__ void fill(VAR* out, float value) {{ out[threadIdx.x] = value; }}
{SIGNATURE} {{ fill<<<1, 32>>>(out, cublasAnswer()); }}
extern "C" __attribute__((visibility("default"))) float answer() {{ return cublasAnswer(); }}
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """pip's folder for CUDA 13, the one place with libraries."""
    places = libraries(tmp_path, tmp_path / "bin/nvcc")

    def made_up(nvcc: Nvcc) -> Libraries:
        return replace(places, nvcc=replace(nvcc, version="13.0.88"))

    monkeypatch.setattr(cuda, "libraries_for", made_up)
    return tmp_path / "site-packages/nvidia/cu13"


@pytest.fixture
def cublas(here: Path) -> Path:
    """A library that needs another one of its folder, as the real one does."""
    add_headers(here / "include", "cublas")
    add_shared(here / "lib", "cublasLt")
    return add_shared(here / "lib", "cublas", calls="cublasLt")


def build(
    folder: Path, text: str, problem: Problem, cache: Cache, target: Target = CARD
) -> Artifact | BuildFailure:
    path = folder / "mine.cu"
    path.write_text(text)
    solution = read_solution(path)
    assert isinstance(solution, Solution), solution
    return LANGUAGES["cuda"].build(solution, problem, "float32", target, cache)


def failed(
    folder: Path, text: str, problem: Problem, cache: Cache, target: Target = CARD
) -> BuildFailure:
    failure = build(folder, text, problem, cache, target)
    assert isinstance(failure, BuildFailure)
    return failure


@pytest.mark.corpus
@needs_nvcc
def test_a_library_is_linked_and_found_by_the_loader(
    tmp_path: Path, problem: Problem, cache: Cache, cublas: Path
) -> None:
    artifact = build(tmp_path, USES_CUBLAS, problem, cache)
    assert isinstance(artifact, Artifact), artifact
    assert artifact.loads == (cublas, cublas.with_name("libcublasLt.so.13"))
    library = ctypes.CDLL(str(artifact.library))
    library.answer.restype = ctypes.c_float
    assert library.answer() == 84.0
    again = build(tmp_path, USES_CUBLAS, problem, cache)
    assert again.build is not None
    assert again.build.cached
    os.utime(cublas, (1, 1))
    replaced = build(tmp_path, USES_CUBLAS, problem, cache)
    assert replaced.build is not None
    assert not replaced.build.cached


@needs_nvcc
@pytest.mark.usefixtures("cublas")
@pytest.mark.parametrize("target", rest_in_corpus([CPU, CARD]), ids=["cpu", "card"])
def test_a_header_that_is_not_asked_for(
    tmp_path: Path, problem: Problem, cache: Cache, target: Target
) -> None:
    text = USES_CUBLAS.partition("\n")[2]
    failure = failed(tmp_path, text, problem, cache, target)
    assert failure.verdict is Verdict.COMPILE_ERROR
    assert failure.message.endswith("cublas must be asked for: add the line // uses: cublas")


@pytest.mark.corpus
@needs_nvcc
@pytest.mark.usefixtures("cublas")
def test_a_cpu_does_not_execute_it_but_nvcc_looks(
    tmp_path: Path, problem: Problem, cache: Cache
) -> None:
    failure = failed(tmp_path, USES_CUBLAS, problem, cache, CPU)
    assert failure.verdict is Verdict.NOT_EXECUTABLE_HERE
    assert failure.message == "compiled for sm_90; not executable on a CPU: it uses cublas"
    wrong = failed(tmp_path, USES_CUBLAS.replace("Answer())", "Answr())"), problem, cache, CPU)
    assert wrong.verdict is Verdict.COMPILE_ERROR
    assert "mine.cu:4: error" in wrong.message


def test_a_cpu_without_nvcc_does_not_execute_it_either(
    tmp_path: Path, problem: Problem, cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent() -> None:
        raise NvccNotFound

    monkeypatch.setattr(toolchain, "find_nvcc", absent)
    failure = failed(tmp_path, USES_CUBLAS, problem, cache, CPU)
    assert failure.verdict is Verdict.NOT_EXECUTABLE_HERE
    assert failure.message == (
        "not compiled (no nvcc here); not executable on a CPU: it uses cublas"
    )


@needs_nvcc
@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("target", [CARD, CPU], ids=["card", "cpu"])
def test_a_library_that_is_not_installed(
    tmp_path: Path, problem: Problem, cache: Cache, target: Target
) -> None:
    failure = failed(tmp_path, USES_CUBLAS, problem, cache, target)
    assert failure.verdict is Verdict.NOT_EXECUTABLE_HERE
    assert failure.message == (
        f"{tmp_path}/mine.cu: not compiled: cublas is not installed here: "
        "pip install 'kernel-harness[cuda-libs]'"
    )


@pytest.mark.parametrize(
    ("allowed", "words"), [((), "none"), (("cufft", "cutlass"), "cufft, cutlass")]
)
def test_a_library_that_the_problem_does_not_allow(
    tmp_path: Path, problem: Problem, cache: Cache, allowed: tuple[str, ...], words: str
) -> None:
    strict = replace(problem, libraries=allowed)
    failure = failed(tmp_path, USES_CUBLAS, strict, cache, CPU)
    assert failure.verdict is Verdict.INVALID_SUBMISSION
    assert failure.message == (
        f"{tmp_path}/mine.cu: uses cublas, and the problem allows these libraries: {words}"
    )


@pytest.mark.corpus
@needs_nvcc
@pytest.mark.usefixtures("cublas")
def test_headers_of_a_library_that_the_problem_does_not_allow(
    tmp_path: Path, problem: Problem, cache: Cache, here: Path
) -> None:
    add_headers(here / "include", "cusparse")
    add_shared(here / "lib", "cusparse")
    # The folder of the one that is allowed holds the headers of others.
    text = USES_CUBLAS.replace("cublasAnswer()", "1.0f").replace("uses: cublas", "uses: cusparse")
    text = text.replace("#include <cublas_v2.h>", "#define H <cublas_v2.h>\n#include H")
    strict = replace(problem, libraries=("cusparse",))
    for target in (CARD, CPU):
        failure = failed(tmp_path, text, strict, cache, target)
        assert failure.verdict is Verdict.INVALID_SUBMISSION
        assert failure.message == (
            f"{tmp_path}/mine.cu: includes cublas_v2.h of cublas, and the problem allows these "
            "libraries: cusparse"
        )
    # cuSOLVER's headers include those of cuBLAS.
    lax = replace(problem, libraries=("cusolver", "cusparse"))
    assert isinstance(build(tmp_path, text, lax, cache), Artifact)


NVTX = f"""// uses: nvtx
#include <nvtx3/nvToolsExt.h>
__global__ void fill(VAR* out) {{ out[threadIdx.x] = 1; }}
{SIGNATURE} {{
  nvtxEventAttributes_t attributes = {{}};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = "fill";
  nvtxRangePushEx(&attributes);
  fill<<<1, 32>>>(out);
  nvtxRangePop();
  nvtxMark("done");
}}
"""


@pytest.mark.corpus
def test_a_cpu_runs_what_marks_ranges(tmp_path: Path, problem: Problem, cache: Cache) -> None:
    for arch in (None, "sm_90") if shutil.which("nvcc") else (None,):
        artifact = build(tmp_path, NVTX, problem, cache, Target(kind="cpu", arch=arch))
        assert isinstance(artifact, Artifact), artifact
        (used,) = artifact.build.libraries
        assert used.name == "nvtx"


@needs_nvcc
def test_templates_of_cutlass_have_more_time(
    tmp_path: Path, problem: Problem, cache: Cache, here: Path
) -> None:
    add_headers(here / "include", "cutlass")
    hasty = replace(problem, limits=Limits(build_s=0.001))
    text = f"// uses: cutlass\n{SIGNATURE} {{}}\n"
    failure = failed(tmp_path, text, hasty, cache)
    assert failure.verdict is Verdict.TIME_LIMIT
    assert "0.003 s, the problem's limit build_s times 3 for cutlass (nvcc was" in failure.message


PLAIN = """
extern float cublasAnswer(void);
int cudacpu_take_error(char* text, unsigned long size) { return 0; }
unsigned long long cudacpu_launches(void) { return 0; }
void solution(void) { cublasAnswer(); }
"""


def loads(program: RunnerProgram, device: Device) -> str:
    """Why a runner cannot load the program; empty if it can."""
    with Session(program, device, Limits()) as session:
        fault = session.load()
        return "" if fault is None else fault.message


def test_a_sandbox_shows_what_was_asked_for_and_nothing_else(tmp_path: Path, cublas: Path) -> None:
    source, library = tmp_path / "plain.c", tmp_path / "plain.so"
    source.write_text(PLAIN)
    command = ["gcc", "-shared", "-fPIC", str(source), f"-L{cublas.parent}", f"-l:{cublas.name}"]
    rpath = f"-Wl,--disable-new-dtags,-rpath,{cublas.parent}"
    subprocess.run([*command, rpath, "-o", str(library)], check=True)
    program = RunnerProgram(kind="library", file=library)
    device = open_device("cpu")
    assert "libcublas.so.13: cannot open shared object file" in loads(program, device)
    alone = replace(program, loads=(cublas,))
    assert "libcublasLt.so.13: cannot open shared object file" in loads(alone, device)
    both = replace(program, loads=(cublas, cublas.with_name("libcublasLt.so.13")))
    assert loads(both, device) == ""
