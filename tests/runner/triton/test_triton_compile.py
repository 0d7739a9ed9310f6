"""Triton compiled for a card that is not there."""

from collections.abc import Callable
from pathlib import Path

import pytest

from harness.runner.triton.compile import parse_ptxas
from harness.wire.arguments import CompiledKernel, ScalarArgument, TensorShape
from harness.wire.messages import Compile, Compiled

CompileOne = Callable[[Path, Compile, Path], Compiled]

_HEADER = "import triton, triton.language as tl, torch\n"
_SQUARE = """
@triton.jit
def square(x_ptr, n, SIZE: tl.constexpr):
    i = tl.arange(0, SIZE)
    at = i[:, None] * SIZE + i[None, :]
    total = tl.zeros((SIZE, SIZE), tl.float32)
    for step in range(n):
        a = tl.load(x_ptr + at + step * SIZE)
        total = tl.dot(a, tl.load(x_ptr + at + 2 * step * SIZE), total)
    tl.store(x_ptr + at, total)
def solution(x, n):
    """

SOURCES = {
    "two launches": """
@triton.jit
def scale(x_ptr, count, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x_ptr + at, 2 * tl.load(x_ptr + at, mask=at < count), mask=at < count)
def solution(x, n):
    print('noise')
    scale[(1,)](x, n, BLOCK=128)
    scale[(1,)](x.float(), n, BLOCK=1024, num_warps=8)
    assert x.is_cuda and not x.any()
""",
    "tuned": """
@triton.autotune([triton.Config({"SIZE": 64}, num_stages=20), triton.Config({"SIZE": 64}),
                  triton.Config({"SIZE": 32})], key=["n"])"""
    + _SQUARE
    + "square[(1,)](x, n)\n",
    "too big": _SQUARE + "square[(1,)](x, n, SIZE=64, num_stages=20)\n",
    "helper": """
@triton.jit
def helper(x):
    return x.no_such_thing(3)
@triton.jit
def outer(x_ptr):
    tl.store(x_ptr, helper(tl.load(x_ptr)))
def solution(x, n):
    outer[(1,)](x)
""",
    "raises": "def solution(x, n):\n    raise ValueError('mine')\n",
    "no entry": "def other(): pass\n",
    "stream": "def solution(x, n):\n    torch.cuda.Stream()\n",
    "syntax": "def solution(x, n)\n    pass\n",
}


ARGUMENTS = (
    TensorShape(dtype="bfloat16", shape=(256, 256), strides=(256, 1)),
    ScalarArgument(ctype="size_t", value=100),
)
MESSAGE = Compile(calls=(ARGUMENTS,), arch=90, seconds=600)


def _source(folder: Path, text: str) -> Path:
    source = folder / "solution.py"
    source.write_text(_HEADER + text)
    return source


@pytest.fixture(scope="module")
def answers(compiled: CompileOne, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Compiled]:
    folders = {name: tmp_path_factory.mktemp("source") for name in SOURCES}
    return {
        name: compiled(_source(folder, SOURCES[name]), MESSAGE, folder / "cache")
        for name, folder in folders.items()
    }


def test_every_launch_is_compiled_and_none_executed(answers: dict[str, Compiled]) -> None:
    answer = answers["two launches"]
    assert (answer.status, answer.line) == ("ok", None), answer
    assert [kernel.name for kernel in answer.kernels] == ["scale", "scale"]
    assert all(kernel.registers > 0 for kernel in answer.kernels)


def test_autotuner_skips_what_does_not_fit(answers: dict[str, Compiled]) -> None:
    """As on a card: a configuration that asks for too much shared memory is passed over."""
    answer = answers["tuned"]
    assert answer.status == "ok", answer
    assert answer.configurations == 3
    assert len(answer.kernels) == 1
    assert 0 < answer.kernels[0].shared_bytes < 65536


def test_too_much_shared_memory_is_an_error_by_itself(answers: dict[str, Compiled]) -> None:
    answer = answers["too big"]
    assert (answer.status, answer.line) == ("compile_error", 13), answer
    assert "shared memory" in answer.message
    assert "232448" in answer.message


@pytest.mark.parametrize(
    ("name", "status", "line", "message"),
    [
        ("helper", "compile_error", 5, "no_such_thing"),
        ("raises", "failed", 3, "ValueError: mine"),
        ("no entry", "no_entry_point", None, "no function"),
        ("stream", "unsupported", 3, "Stream"),
        ("syntax", "compile_error", 2, "SyntaxError"),
    ],
)
def test_a_submission_that_does_not_compile_has_its_status(
    answers: dict[str, Compiled], name: str, status: str, line: int | None, message: str
) -> None:
    answer = answers[name]
    assert (answer.status, answer.line) == (status, line), answer
    assert message in answer.message


def test_parse_ptxas_reads_registers_and_spills() -> None:
    log = (
        "ptxas info    : Compiling entry function 'k' for 'sm_90a'\n"
        "    16 bytes stack frame, 12 bytes spill stores, 8 bytes spill loads\n"
        "ptxas info    : Used 255 registers, used 1 barriers, 16 bytes cumulative stack size\n"
    )
    assert parse_ptxas(log, "k", 7) == CompiledKernel(
        name="k", registers=255, shared_bytes=7, spill_store_bytes=12, spill_load_bytes=8
    )
    assert parse_ptxas("", "k", 0) == CompiledKernel(name="k")
