"""The adaptors by the names of their formats."""

from collections.abc import Callable, Mapping
from pathlib import Path

from harness.formats.process.adaptor import Adaptor
from harness.formats.process.flashinfer import FlashInfer
from harness.formats.process.gpumode import GpuMode
from harness.formats.process.kernelbench import KernelBench
from harness.formats.process.leetgpu import LeetGpu
from harness.formats.process.tensara import Tensara

ADAPTORS: Mapping[str, Callable[[Path], Adaptor]] = {
    "flashinfer": FlashInfer,
    "gpumode": GpuMode,
    "kernelbench": KernelBench,
    "leetgpu": LeetGpu,
    "tensara": Tensara,
}
