"""Has Triton's autotuners choose sooner.

By default an autotuner runs each of its configurations for 125 ms, a thousand times where a call is
short, for every key that it meets: much of the time that a file with one takes to be checked. A
hundred runs tell configurations apart as well, so here each is run for 25 ms. A submission that
names ``warmup``, ``rep`` or ``do_bench`` itself gets what it names.
"""

import contextlib
import sys
from collections.abc import Callable
from functools import partial

_WARM_UP_MS, _REPEAT_MS = 5, 20


def tune_briefly() -> None:
    """Shorten what autotuners measure, if this process has imported Triton for a GPU."""
    if "triton" not in sys.modules:
        return
    with contextlib.suppress(ImportError):  # of a version that has others
        from triton.backends.nvidia.driver import CudaDriver

        CudaDriver.get_benchmarker = _benchmarker


def _benchmarker(_driver: object) -> Callable[..., object]:
    from triton.testing import do_bench

    return partial(do_bench, warmup=_WARM_UP_MS, rep=_REPEAT_MS)
