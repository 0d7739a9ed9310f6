"""The adaptors by the names of their formats."""

from collections.abc import Callable, Mapping
from pathlib import Path

from harness.formats.process.adaptor import Adaptor
from harness.formats.process.flashinfer import FlashInfer
from harness.formats.process.gpumode import GpuMode
from harness.formats.process.kernelbench import KernelBench
from harness.formats.process.leetgpu import LeetGpu
from harness.formats.process.parts import Parts
from harness.formats.process.task import told_task
from harness.formats.process.tensara import Tensara


def _gpumode(path: Path) -> Adaptor:
    """By the contract that reading has found."""
    return Parts(path) if "parts" in told_task(path) else GpuMode(path)


ADAPTORS: Mapping[str, Callable[[Path], Adaptor]] = {
    "flashinfer": FlashInfer,
    "gpumode": _gpumode,
    "kernelbench": KernelBench,
    "leetgpu": LeetGpu,
    "tensara": Tensara,
}
