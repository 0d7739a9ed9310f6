"""The lengths that fft-filter's fused.cu has plans for. Those are the ones timed on a GPU, longer
than any that is drawn without one, so that nothing else runs them there."""

import ctypes
import subprocess
from pathlib import Path

import numpy as np
import pytest

from harness.cudacpu import compile_command, translate

SAMPLE = Path(__file__).parents[2] / "solutions/fft-filter/samples/fused.cu"


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("var", "dtype"), [("cuFloatComplex", np.complex64), ("cuDoubleComplex", np.complex128)]
)
def test_lengths_with_a_plan_are_right(tmp_path, var, dtype):
    source, output = tmp_path / "fused.cpp", tmp_path / "fused.so"
    source.write_text(translate(SAMPLE.read_text(), SAMPLE.name))
    command = compile_command(
        source=source, output=output, var=var, headers=["cuComplex.h"], sanitize=False
    )
    subprocess.run(command, check=True)
    library = ctypes.CDLL(str(output))
    random = np.random.default_rng(1)
    for order in range(3):  # a missing barrier shows in one of them
        library.cudacpu_configure(order, ctypes.c_ulonglong(7), 2)
        for batch, n in [(1, 960), (9, 960), (9, 1024), (3, 2401), (2, 4096), (2, 20020)]:
            parts = random.standard_normal((2, batch, n, 2))
            x, response = parts.view(np.complex128)[..., 0].astype(dtype)
            y = np.full((batch, n), np.nan, dtype)
            addresses = [ctypes.c_void_p(array.ctypes.data) for array in (x, response, y)]
            library.solution(*addresses, ctypes.c_size_t(batch), ctypes.c_size_t(n))
            assert library.cudacpu_take_error(None, ctypes.c_size_t(0)) == 0
            want = np.fft.ifft(np.fft.fft(x.astype(np.complex128)) * response)
            wrong = np.linalg.norm(y - want, axis=1) / np.linalg.norm(want, axis=1)
            assert wrong.max() < 10 * np.finfo(dtype).eps, (order, batch, n)
