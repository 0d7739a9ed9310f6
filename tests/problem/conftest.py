"""Packages to load: `write` makes one, `gemm` is the shipped one."""

from pathlib import Path

import pytest
from support.problem_texts import BLOCK, BLOCK_REFERENCE, MINIMAL, REFERENCE, ROOT, Write

from harness.problem.format.load import load_problem
from harness.problem.package import Problem


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a package and return its folder; `files` are further files by name."""

    def make(
        text: str | bytes = MINIMAL, folder: str = "scale", reference: str = REFERENCE, **files: str
    ) -> Path:
        path = tmp_path / folder
        path.mkdir(exist_ok=True)
        content = text.encode() if isinstance(text, str) else text
        (path / "problem.md").write_bytes(content)
        (path / "reference.py").write_text(reference)
        (path / "baseline.py").write_text("def solution(x, s, y, n): ...\n")
        for name, body in files.items():
            (path / name).write_text(body)
        return path

    return make


@pytest.fixture(scope="session")
def gemm() -> Problem:
    """The shipped problem."""
    return load_problem(ROOT / "problems" / "gemm-multiply-leakyrelu")


@pytest.fixture(scope="session")
def block(tmp_path_factory: pytest.TempPathFactory) -> Problem:
    """One with strides, and sizes that depend on each other."""
    folder = tmp_path_factory.mktemp("block")
    (folder / "problem.md").write_text(BLOCK)
    (folder / "reference.py").write_text(BLOCK_REFERENCE)
    (folder / "baseline.py").write_text("def solution(x, s, t, inverse, y, ld, m, n, total): ...\n")
    return load_problem(folder)
