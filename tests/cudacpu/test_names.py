"""Kernels and device functions that are called like functions of the C and C++ libraries."""

import re
from pathlib import Path

import numpy as np
import pytest

SOURCE = Path(__file__).parent / "kernels/names.cu"


@pytest.mark.corpus
def test_kernels_named_like_library_functions_run(load):
    library = load("names")
    source = SOURCE.read_text()
    listed = source[source.index("#define KERNELS(X)") : source.index("KERNELS(KERNEL)")]
    names = re.findall(r"\bX\((\w+)\)", listed)
    assert len(names) > 50
    x = np.arange(60, dtype=np.float32)
    for name in names:
        y = np.full(64, -1, np.float32)
        library.call(f"run_{name}", x, y, x.size)
        np.testing.assert_array_equal(y, np.r_[2 * x, [-1] * 4], err_msg=name)
    assert library.take_error().code == 0


@pytest.mark.corpus
def test_arguments_of_such_kernels(load):
    library = load("names")
    x = np.arange(8, dtype=np.float32)
    library.call("few_arguments", x, x.size)
    np.testing.assert_array_equal(x, np.arange(8) * -3)


def test_a_kernel_and_functions_with_one_name(load):
    library = load("names")
    x = np.linspace(-2, 2, 50, dtype=np.float32)
    y = np.zeros(50, np.float32)
    library.call("run_relu", x, y, x.size)
    np.testing.assert_array_equal(y, np.maximum(x, 0))


def test_device_functions_beside_libms(load):
    library = load("names")
    x = np.zeros(4, np.float32)
    library.call("functions", x)
    np.testing.assert_array_equal(x, np.full(4, 3 + 2 + 2 + 2 + 2.5))
