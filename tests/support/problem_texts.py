"""A complete package to load, or to spoil."""

from collections.abc import Callable, Mapping
from pathlib import Path

from harness.problem.expressions import Number
from harness.problem.model import Parameter

ROOT = Path(__file__).resolve().parents[2]

MINIMAL = """---
slug: scale
title: Scale a vector
difficulty: EASY
author: us
tags: [vector]
parameters:
  - name: x
    type: "[VAR]"
    pointer: true
    const: true
    shape: [n]
  - name: s
    type: float
    pointer: false
    values: {distribution: uniform, low: -2, high: 2}
    always: [0, 1e-30]
  - name: y
    type: "[VAR]"
    pointer: true
    const: false
    shape: [n]
  - name: n
    type: size_t
    pointer: false
    range: [1, 100]
    always: [1, 33]
dtypes: [float32, float16]
cases: 4
benchmarks:
  - {n: 1000, s: 0.5}
cpu_benchmarks:
  - {n: 10, s: 0.5}
tolerance: {length: 1}
flops: n
bytes: 2*n*sizeof(VAR)
baselines: {pytorch: baseline.py}
---

Multiply by $s$.
"""

BLOCK = """---
slug: block
title: Scale a block of a larger matrix
parameters:
  - {name: x, type: "[VAR]", pointer: true, const: true, shape: [m, n], strides: [ld, 1],
     alignment: sizeof(VAR), nonfinite: true}
  - {name: s, type: float, pointer: false, values: {distribution: normal}, always: [0, 1, 0.5]}
  - {name: t, type: double, pointer: false, values: {distribution: normal}, always: [2]}
  - {name: inverse, type: float, pointer: false, equals: 1/n}
  - {name: y, type: "[VAR]", pointer: true, direction: inout, shape: [m, n], strides: [ld, 1]}
  - {name: ld, type: int, pointer: false, range: [n, n + 16], always: [64]}
  - {name: m, type: int, pointer: false, range: [1, 40], always: [1, 33]}
  - {name: n, type: int, pointer: false, range: [1, 100], always: [1, 100]}
  - {name: total, type: int, pointer: false, equals: m*n}
dtypes: [float32, float16, complex64]
cases: 4
benchmarks:
  - {m: 300, n: 200, ld: 208, s: 0.1, t: 1}
cpu_benchmarks:
  - {m: 3, n: 5, ld: 5, s: 0.5, t: 1}
tolerance: {length: 1, inputs: {float32: tf32}}
flops: total
bytes: 2*total*sizeof(VAR)
baselines: {pytorch: baseline.py}
---

Sizes and scalars that depend on each other, and a matrix with gaps.
"""
"""Every key that relates parameters to each other."""

BLOCK_REFERENCE = """
def reference(x, s, t, inverse, y, ld, m, n, total):
    return x * (s * inverse) + (y * t if t else 0)

def magnitude(x, s, t, inverse, y, ld, m, n, total):
    return (x * (s * inverse)).abs() + (y * t).abs()
"""

REFERENCE = """
def reference(x, s, n):
    return x * s

def magnitude(x, s, n):
    return (x * s).abs()
"""

Write = Callable[..., Path]
"""Writes a package and returns its folder: see the fixture `write`."""


def span(tensor: Parameter, values: Mapping[str, Number]) -> int:
    """Elements from the first to the last of a tensor, gaps included."""
    lengths, steps = tensor.dimensions(values), tensor.steps(values)
    return 1 + sum((n - 1) * step for n, step in zip(lengths, steps, strict=True))
