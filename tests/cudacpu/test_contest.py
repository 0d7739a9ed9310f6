"""Whole solutions: a matrix product on tensor cores, prefix sums, softmax."""

import numpy as np
import pytest


@pytest.fixture(params=[0, 1, 2], ids=["forward", "reversed", "shuffled"])
def library(load, request):
    loaded = load("contest")
    loaded.configure(request.param, seed=8)
    yield loaded
    error = loaded.take_error()
    assert error.code == 0, error.message


@pytest.mark.parametrize("m,n,k", [(1, 1, 1), (64, 32, 16), (65, 33, 17), (100, 40, 72)])
def test_a_matrix_product_with_tails(library, m, n, k):
    random = np.random.default_rng(m)
    a, b = random.normal(size=(m, k)), random.normal(size=(k, n))
    a, b = a.astype(np.float16), b.astype(np.float16)
    c = random.normal(size=(m, n)).astype(np.float32)
    got = c.copy()
    library.call("gemm", a, b, got, m, n, k, 0.5, -2.0)
    expected = 0.5 * (a.astype(np.float64) @ b.astype(np.float64)) - 2.0 * c
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("n", [1, 511, 512, 513, 20_000])
def test_prefix_sums(library, n):
    x = np.random.default_rng(n).integers(-1000, 1000, n).astype(np.int32)
    out = np.zeros(n, np.int32)
    library.call("scan", x, out, n)
    np.testing.assert_array_equal(out, x.cumsum())


@pytest.mark.parametrize("m,n", [(1, 1), (9, 5), (16, 128), (3, 129), (2, 1000)])
def test_softmax(library, m, n):
    x = (np.random.default_rng(n).normal(size=(m, n)) * 10 - 100).astype(np.float32)
    y = np.zeros_like(x)
    library.call("softmax", x, y, m, n)
    terms = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    np.testing.assert_allclose(y, terms / terms.sum(axis=1, keepdims=True), rtol=1e-5, atol=1e-9)
