"""A complete package to load, or to spoil."""

from collections.abc import Callable
from pathlib import Path

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

REFERENCE = """
def reference(x, s, n):
    return x * s

def magnitude(x, s, n):
    return (x * s).abs()
"""

Write = Callable[..., Path]
"""Writes a package and returns its folder: see the fixture `write`."""
