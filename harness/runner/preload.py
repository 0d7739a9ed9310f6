"""What the zygote imports before it forks runners of Python submissions, one function for each way.

Each returns what the zygote can do when nobody waits for a runner, or None. What cannot be imported
here is for the runner to complain about.
"""

import contextlib
import os
from collections.abc import Callable


def compiled() -> Callable[[], None]:
    """Import torch and Triton, whose kernels are compiled."""
    with contextlib.suppress(Exception):
        _import_torch()
        import triton.language  # noqa: F401
    return _hash_triton


def interpreted() -> None:
    """Import torch and Triton, whose kernels are interpreted on the CPU."""
    with contextlib.suppress(Exception):
        _import_torch()
        from harness.runner.triton import cpu

        cpu.enable(os.environ)


def _import_torch() -> None:
    import torch  # noqa: F401

    from harness.runner import python  # noqa: F401


def _hash_triton() -> None:
    """Have Triton hash itself, which its cache asks of every process that launches a kernel.

    It takes a second.
    """
    with contextlib.suppress(Exception):
        from triton.runtime.cache import triton_key

        triton_key()
