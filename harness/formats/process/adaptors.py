"""The adaptors by the names of their formats."""

from collections.abc import Callable, Mapping
from pathlib import Path

from harness.formats.process.adaptor import Adaptor
from harness.formats.process.kernelbench import KernelBench
from harness.formats.process.leetgpu import LeetGpu

ADAPTORS: Mapping[str, Callable[[Path], Adaptor]] = {
    "kernelbench": KernelBench,
    "leetgpu": LeetGpu,
}
