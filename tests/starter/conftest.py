"""A problem that has everything which a front matter may declare."""

from dataclasses import replace

import pytest

from harness.problem.expressions import Expression
from harness.problem.format.load import load_problem
from harness.problem.package import Problem

HARD = """---
slug: hard
title: 'Everything at once \\'
parameters:
  - {name: row, type: "[VAR]", pointer: true, const: true, shape: [m, 2*n], strides: [ld, 2],
     alignment: sizeof(VAR)}
  - {name: place, type: "[VAR]", pointer: true, direction: inout, shape: [n, m, 3],
     strides: [1, n + 1, (n + 1)*m + 5]}
  - {name: element, type: unsigned char, pointer: true, const: false, shape: [m // 2 + 1]}
  - {name: norm, type: double, pointer: true, const: false, shape: [ceil(n/4), 2**2]}
  - {name: dtypes, type: float, pointer: false, values: {distribution: uniform, low: 0, high: 1}}
  - {name: scale, type: double, pointer: false, equals: 1/n}
  - {name: m, type: int, pointer: false, range: [1, 20], always: [1, 7]}
  - {name: n, type: int64_t, pointer: false, range: [1, 20]}
  - {name: ld, type: size_t, pointer: false, range: [4*n, 4*n + 3]}
dtypes: [complex64, complex128]
cases: 2
benchmarks: [{m: 64, n: 64, ld: 256, dtypes: 0.5}]
cpu_benchmarks: [{m: 4, n: 4, ld: 16, dtypes: 0.5}]
tolerance: {length: 1}
flops: m*n
bytes: sizeof(VAR)*m*n
baselines: {pytorch: baseline.py}
---

Outputs of every kind.
"""
HARD_REFERENCE = """
import torch
def _all(row, place, n, m):
    counts = torch.arange(1, m // 2 + 2, dtype=torch.int64, device=row.device) % 200
    norms = torch.ones((-(-n // 4), 4), dtype=torch.float64, device=row.device)
    return counts, norms
def reference(row, place, dtypes, scale, m, n, ld):
    counts, norms = _all(row, place, n, m)
    return {"place": place + 1, "element": counts, "norm": norms}
def magnitude(row, place, dtypes, scale, m, n, ld):
    counts, norms = _all(row, place, n, m)
    return {"place": place.abs() + 1, "element": counts.double(), "norm": norms}
"""


@pytest.fixture(scope="session")
def hard(tmp_path_factory: pytest.TempPathFactory) -> Problem:
    """Strides, inout, several outputs, complex numbers, names that collide with the skeleton's."""
    folder = tmp_path_factory.mktemp("problems") / "hard"
    folder.mkdir()
    (folder / "problem.md").write_text(HARD, encoding="utf-8")
    (folder / "reference.py").write_text(HARD_REFERENCE, encoding="utf-8")
    (folder / "baseline.py").write_text("def solution(*_): ...\n", encoding="utf-8")
    return load_problem(folder)


@pytest.fixture(scope="session")
def layouts(hard: Problem) -> Problem:
    """The same shapes and strides with real numbers, in types that every framework knows."""
    types = {"element": "int", "norm": "float"}
    parameters = (replace(p, type=types.get(p.name, p.type)) for p in hard.parameters)
    return replace(hard, parameters=tuple(parameters), dtypes=("float32", "bfloat16"))


@pytest.fixture(scope="session")
def single(layouts: Problem) -> Problem:
    """Single elements, read and written, and a size that is not passed in a shape."""
    changed = {"row": (), "element": (), "norm": (Expression.parse("groups"),)}
    parameters = tuple(
        replace(p, shape=changed[p.name], strides=()) if p.name in changed else p
        for p in layouts.parameters
    )
    m = next(p for p in layouts.sizes if p.name == "m")
    groups = replace(m, name="groups", type="int64_t", always=())
    return replace(layouts, slug="single", parameters=parameters, unpassed=(groups,))
