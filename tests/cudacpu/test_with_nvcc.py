"""What the executor accepts of CUDA's libraries nvcc accepts as well."""

import subprocess
from pathlib import Path

import pytest
from support.tools import needs_nvcc

from harness.languages.build.cuda import COMMON
from harness.languages.build.toolchain import find_nvcc

KERNELS = Path(__file__).parent / "kernels"
FLAGS = [flag for flag in COMMON if flag.startswith(("-std", "--expt", "--extended"))]

pytestmark = [pytest.mark.nvcc, needs_nvcc]


@pytest.mark.corpus
@pytest.mark.parametrize("name", ["async", "contest", "cub", "names", "wmma", "wmma_faults"])
def test_nvcc_compiles(name: str, tmp_path: Path) -> None:
    nvcc = find_nvcc()
    command = [str(nvcc.path), "-arch=sm_90", *FLAGS, "-Xptxas=-O1", "-w", "-cubin"]
    command += ["-o", str(tmp_path / "k.cubin"), str(KERNELS / f"{name}.cu")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
