"""An executor of CUDA C++ on a CPU: a translator to C++, and headers that stand for CUDA's.

In goes a submission's source. Out comes C++ (`translate`), and the command that compiles it to a
library with the submission's entry point (`compile_command`). See docs/explanation/cpu-executor.md.
"""

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
