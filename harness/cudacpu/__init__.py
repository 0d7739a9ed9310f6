"""Executes CUDA C++ submissions functionally on a CPU; see docs/explanation/cpu-executor.md."""

from __future__ import annotations

from harness.cudacpu.build import (
    ASAN_EXIT_STATUS,
    ASAN_OPTIONS,
    INCLUDE,
    asan_runtime,
    compile_command,
)
from harness.cudacpu.features import Unsupported
from harness.cudacpu.rewrite import translate

__all__ = [
    "ASAN_EXIT_STATUS",
    "ASAN_OPTIONS",
    "INCLUDE",
    "Unsupported",
    "asan_runtime",
    "compile_command",
    "translate",
]
