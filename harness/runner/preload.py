"""What the zygote imports before it forks runners of Python submissions, one function for each way.

Each returns what the zygote can do when nobody waits for a runner, or None. What cannot be imported
here is for the runner to complain about.
"""

import contextlib
import importlib
from collections.abc import Callable


def compiled() -> Callable[[], None]:
    """Import torch and Triton, whose kernels are compiled."""
    with contextlib.suppress(Exception):
        for name in ("torch", "harness.runner.python", "triton.language"):
            importlib.import_module(name)
        # Triton looks for its types at the first launch, which takes 0.1 s where nothing is cached.
        importlib.import_module("triton.experimental.gluon")
    return _hash_triton


def interpreted() -> None:
    """Import torch and Triton, whose kernels are interpreted on the CPU."""
    with contextlib.suppress(Exception):
        importlib.import_module("harness.runner.python")
        from harness.runner.triton import cpu

        cpu.enable()


def _hash_triton() -> None:
    """Have Triton hash itself, which takes a second in every process that launches a kernel."""
    with contextlib.suppress(Exception):
        from triton.runtime.cache import triton_key

        triton_key()
