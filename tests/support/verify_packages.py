"""Small packages to verify, written where a test wants them."""

from collections.abc import Callable
from pathlib import Path

import pytest

MATTER = """---
slug: {slug}
title: A row's sum, scaled
difficulty: EASY
author: us
tags: [rows]
parameters:
  - {{name: x, type: "[VAR]", pointer: true, const: true, shape: [m, n], values: {values}}}
  - {{name: s, type: float, pointer: false, values: {{distribution: uniform, low: -2, high: 2}},
     always: [0, 1, -1]}}
  - {{name: y, type: "[VAR]", pointer: true, const: false, shape: [m]}}
  - {{name: m, type: size_t, pointer: false, range: [1, 40], always: [1, 33]}}
  - {{name: n, type: size_t, pointer: false, range: [1, 300], always: [1, 257]}}
dtypes: [{dtypes}]
cases: 4
benchmarks:
  - {{m: {rows}, n: 4096, s: 0.5}}
cpu_benchmarks:
  - {{m: 10, n: 10, s: 0.5}}
tolerance: {{length: n, roundings: 2, constant: {constant}}}
flops: m*n
bytes: m*n*sizeof(VAR)
baselines: {{plain: baseline.py}}
---

{statement}
"""

STATEMENT = "Sum each of the `m` rows of `x`, `n` numbers long, and multiply by `s`: `y`."

REFERENCE = """
def reference(x, s, m, n):
    return x.sum(1) * s


def magnitude(x, s, m, n):
    return x.abs().sum(1) * abs(s)
"""

Package = Callable[..., Path]


@pytest.fixture
def package(tmp_path: Path) -> Package:
    """Writes a package that sums rows; says what is to be otherwise."""

    def write(
        reference: str = REFERENCE,
        *,
        slug: str = "row-sum",
        values: str = "{distribution: normal, mean: 0, std: 1}",
        dtypes: str = "float32",
        rows: int = 8192,
        constant: float = 16,
        statement: str = STATEMENT,
        matter: str = MATTER,
    ) -> Path:
        folder = tmp_path / "problems" / slug
        folder.mkdir(parents=True)
        text = matter.format(
            slug=slug,
            values=values,
            dtypes=dtypes,
            rows=rows,
            constant=constant,
            statement=statement,
        )
        (folder / "problem.md").write_text(text)
        (folder / "reference.py").write_text(reference)
        (folder / "baseline.py").write_text(
            "def solution(x, s, y, m, n):\n    y[:] = x.sum(1) * s\n"
        )
        return folder

    return write
