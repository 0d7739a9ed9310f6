"""What compute-sanitizer says is read with care, and named with the fault; on a GPU, all of it."""

import re
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.device.choose import open_device
from harness.device.cpu import CpuDevice
from harness.grading.grader import Grader
from harness.grading.job import Job, Options
from harness.judge.memcheck import TOOL, first_report, is_memory_fault
from harness.languages.build.toolchain import find_tool
from harness.languages.read import read_solution
from harness.problem.format.load import load_problem
from harness.problem.terms import Limits
from harness.progress.progress import NoProgress
from harness.records.result import Verdict
from harness.session.programs import RunnerProgram
from harness.session.session import Session

GEMM = load_problem(Path(__file__).parents[2] / "problems/gemm-multiply-leakyrelu")

REPORT = """the submission says hello
========= COMPUTE-SANITIZER
========= Invalid __global__ read of size 4 bytes
=========     at kernel(const float *, float *, unsigned long)+0xd0 in {place}
=========     by thread (31,1,0) in block (2,0,5)
=========     Access at 0x7f0000000000 is out of bounds
=========     Saved host backtrace up to driver entry point at kernel launch time
=========
========= ERROR SUMMARY: 1 error
"""
LINE = " by thread (31,1,0) in block (2,0,5)"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (
            REPORT.format(place="/home/x/solution.cu:17"),
            f"Invalid __global__ read of size 4 bytes at solution.cu:17{LINE}",
        ),
        (
            REPORT.format(place="solution.cu:17:kernel(void)"),
            f"Invalid __global__ read of size 4 bytes at solution.cu:17{LINE}",
        ),
        (REPORT.format(place="other.cu:3"), f"Invalid __global__ read of size 4 bytes{LINE}"),
        (
            "========= Misaligned Shared or Local Address\n=========     in solution.cu:5\n",
            "Misaligned Shared or Local Address at solution.cu:5",
        ),
        ("========= ERROR SUMMARY: 0 errors\n", None),
        ("Invalid __global__ read of size 4 bytes\n", None),
        ("", None),
    ],
)
def test_reports(text: str, wanted: str | None) -> None:
    assert first_report(text) == wanted


@given(st.text(alphabet="=\n I nvalid(1,)solution.cu:9by thread\x1b", max_size=400))
def test_any_text_can_be_read(text: str) -> None:
    report = first_report("========= Invalid\n" + text)
    assert report is not None
    assert "\n" not in report
    assert len(report) < 400


def test_a_flood_takes_no_time() -> None:
    assert first_report("========= Invalid" + "=" * 10_000_000) is None
    assert first_report("========= Invalid\n" + "========= x\n" * 1_000_000) == "Invalid"


@pytest.mark.parametrize(
    ("message", "is_one"),
    [
        ("an illegal memory access was encountered (CUDA error 700)", True),
        ("misaligned address (CUDA error 716)", True),
        ("unspecified launch failure (CUDA error 719)", True),
        ("invalid configuration argument (CUDA error 9)", False),
        ("device-side assert triggered (CUDA error 710)", False),
        ("was killed by SIGSEGV", False),
    ],
)
def test_is_memory_fault_knows_the_errors_of_cuda(message: str, is_one: bool) -> None:
    assert is_memory_fault(message) is is_one


@pytest.mark.corpus
def test_a_command_can_start_the_runner(tmp_path: Path) -> None:
    said = "print('wrapped', flush=True)"
    start = f"import os, sys; {said}; os.execv(sys.argv[1], sys.argv[1:])"
    source = b"print('loaded')\ndef solution(*_): ..."
    wrapper = (sys.executable, "-I", "-S", "-c", start)
    program = RunnerProgram(kind="python", source=source, wrapper=wrapper)
    with Session(program, CpuDevice(), Limits()) as session:
        assert session.load() is None
        assert re.search("wrapped\n.*loaded\n", session.output(), re.DOTALL)
        assert session.layers


_SOLUTION = """
__global__ void kernel(VAR* o, size_t n) {
  if (threadIdx.x == 3)
    BROKEN
}
extern "C" void solution(const VAR* a, const VAR* b, const VAR* c, float alpha, VAR* o, size_t m,
                         size_t n, size_t k) {
  kernel<<<1, 32>>>(o, m * n);
}
"""
BROKEN = {
    "a write": ("o[n + (size_t(1) << 36)] = VAR(1);", "Invalid __global__ write of size 4 bytes"),
    "a read": ("o[0] = o[n - (size_t(1) << 36)];", "Invalid __global__ read of size 4 bytes"),
    "a null pointer": ("*(volatile VAR*)nullptr = VAR(1);", "Invalid __global__ write"),
    "misaligned": ("*(volatile float*)((char*)o + 1) = 1;", "Invalid __global__ write"),
}


@pytest.mark.gpu
@pytest.mark.parametrize("name", BROKEN)
def test_a_fault_on_a_gpu_is_located(name: str, tmp_path: Path) -> None:
    if find_tool(TOOL) is None:
        pytest.skip(f"no {TOOL} here")
    broken, words = BROKEN[name]
    path = tmp_path / "broken.cu"
    path.write_text(_SOLUTION.replace("BROKEN", broken))
    job = Job(path=path.name, solution=read_solution(path, problem=GEMM.slug), problem=GEMM)
    with Grader(open_device("cuda"), NoProgress()) as grader:
        result = grader.grade(job, Options(timing=False, shrink_s=2.0))
    assert result.verdict is Verdict.RUNTIME_ERROR
    assert is_memory_fault(result.message)
    assert result.shrunk is not None
    assert result.shrunk.case.spec.startswith("m=1,n=1,k=1,")
    first, _, located = result.message.partition("\n")
    assert "CUDA error 7" in first
    assert located.startswith(words), result.message
    place = f"{path}:4 by thread (3,0,0) in block (0,0,0)"
    assert located.endswith(place), result.message
