"""What one process has compiled is not compiled again by the next."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.device.base import sealed_memory
from harness.runner.triton.kernel_cache import pack, packed, unpack
from harness.wire.arguments import ScalarArgument, TensorShape
from harness.wire.messages import Compile, Compiled

SIZE = 1 << 20

KERNEL = """
import triton
import triton.language as tl

@triton.autotune([triton.Config({"B": 64}), triton.Config({"B": 128})], key=[])
@triton.jit
def double(x, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)

def solution(x, n):
    double[(1,)](x, n)
"""


def _moved(folder: Path, to: Path, size: int = SIZE) -> bytes:
    """As two runners and the judge between them do it; what the judge carried."""
    fd = sealed_memory("kernels", size)
    try:
        pack(folder, fd)
        carried = packed(fd)
    finally:
        os.close(fd)
    file = to.with_suffix(".tar")
    file.write_bytes(carried)
    unpack(os.open(file, os.O_RDONLY), to)
    return carried


def _files(folder: Path) -> dict[str, bytes]:
    return {str(f.relative_to(folder)): f.read_bytes() for f in folder.rglob("*") if f.is_file()}


@settings(max_examples=30)
@given(
    contents=st.dictionaries(st.from_regex(r"[A-Z2-7]{4}/[a-z]{1,9}", fullmatch=True), st.binary())
)
def test_files_of_a_cache_arrive_unchanged(
    contents: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory
) -> None:
    here, there = tmp_path_factory.mktemp("here"), tmp_path_factory.mktemp("there")
    for name, data in contents.items():
        (here / name).parent.mkdir(exist_ok=True)
        (here / name).write_bytes(data)
    _moved(here, there)
    assert _files(there) == _files(here)


def test_lists_name_the_files_of_the_new_cache(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    (here / "KEY").mkdir(parents=True)
    listed = {"child_paths": {"k.cubin": str(here / "KEY/k.cubin")}}
    (here / "KEY/__grp__k.json").write_text(json.dumps(listed))
    (here / "KEY/link").symlink_to("/etc/passwd")
    _moved(here, there)
    wanted = {"child_paths": {"k.cubin": str(there / "KEY/k.cubin")}}
    assert json.loads((there / "KEY/__grp__k.json").read_text()) == wanted
    assert not (there / "KEY/link").exists()


def test_a_cache_that_does_not_fit_is_not_packed(tmp_path: Path) -> None:
    here = tmp_path / "here"
    here.mkdir()
    (here / "large").write_bytes(b"x" * SIZE)
    assert _moved(here, tmp_path / "there") == b""
    assert _files(tmp_path / "there") == {}


@pytest.mark.parametrize("length", [0, 5, 1 << 20, 1 << 63])
def test_unpack_of_garbage_leaves_the_cache_empty(length: int, tmp_path: Path) -> None:
    fd = sealed_memory("kernels", 4096)
    os.pwrite(fd, length.to_bytes(8, "little") + b"garbage", 0)
    carried = packed(fd)
    os.close(fd)
    assert len(carried) == min(length, 4096 - 8)
    file = tmp_path / "carried"
    file.write_bytes(carried)
    unpack(os.open(file, os.O_RDONLY), tmp_path / "there")
    assert _files(tmp_path / "there") == {}


MESSAGE = Compile(
    calls=tuple(
        (
            TensorShape(dtype="float32", shape=(n,), strides=(1,)),
            ScalarArgument(ctype="size_t", value=n),
        )
        for n in (64, 100)
    ),
    arch=90,
    seconds=600,
)


@pytest.mark.corpus
def test_triton_finds_its_kernels(
    compiled: Callable[[Path, Compile, Path, int], Compiled], tmp_path: Path
) -> None:
    source = tmp_path / "solution.py"
    source.write_text(KERNEL)
    first = compiled(source, MESSAGE, tmp_path / "here", 64)
    assert first.status == "ok", first
    # Both configurations, and the chosen one again for a number that 16 does not divide; with
    # registers, so ptxas was asked.
    assert len(first.kernels) == 3
    assert all(kernel.registers for kernel in first.kernels)
    _moved(tmp_path / "here", tmp_path / "there")
    again = compiled(source, MESSAGE, tmp_path / "there", 64)
    assert again.status == "ok"
    assert len(again.kernels) == 3
    assert not any(kernel.registers for kernel in again.kernels), "compiled again"
