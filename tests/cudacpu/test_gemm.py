"""Tiled matrix multiplication: right as written, wrong without either of its barriers."""

import numpy as np
import pytest


def multiply(library, n):
    random = np.random.default_rng(n)
    a, b = (random.random((n, n), np.float32) for _ in range(2))
    c = np.full((n, n), np.nan, np.float32)
    library.call("solution", a, b, c, n, n, n)
    assert library.take_error().code == 0
    return bool(np.allclose(c, a @ b, rtol=1e-5))


@pytest.mark.parametrize("order", [0, 1, 2])
def test_tiled_gemm_is_right(load, order):
    library = load("gemm")
    library.configure(order, seed=7)
    assert [multiply(library, n) for n in (1, 16, 33, 100)] == [True] * 4


@pytest.mark.corpus
@pytest.mark.parametrize("missing", ["NO_FIRST", "NO_SECOND"])
def test_a_missing_barrier_gives_a_wrong_result(load, missing):
    library = load("gemm", defines=(missing,))
    for order in range(3):
        library.configure(order)
        assert not multiply(library, 48)
