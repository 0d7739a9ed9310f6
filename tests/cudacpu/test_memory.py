"""Atomics across workers, and the host API."""

import numpy as np
import pytest


@pytest.mark.corpus
def test_concurrent_atomic_adds_are_complete(load):
    library = load("memory")
    library.configure(workers=4)
    i, u = np.zeros(1, np.int32), np.zeros(1, np.uint32)
    wide, f, d = np.zeros(1, np.uint64), np.zeros(1, np.float32), np.zeros(1, np.float64)
    h, h2, b = np.zeros(1, np.float16), np.zeros(2, np.float16), np.zeros(1, np.uint16)
    library.call("adds", i, u, wide, f, d, h, h2, b)
    n = 25600
    assert (i[0], u[0], wide[0], f[0], d[0]) == (n, 2 * n, 3 * n, n, n / 2)
    assert (h[0], h2[0], h2[1]) == (100, 100, 200)
    assert b[0] == np.float32(100).view(np.uint32) >> 16


def test_other_atomics(load):
    library = load("memory")
    a = np.array([200, 0, 0, -1, 0, 1, 0, 0], np.int32)
    u = np.array([0, 3, 0], np.uint32)
    library.call("others", a, u)
    assert a.tolist() == [72, -5, 63, -16, 255, 1, 42, 64]
    inc, dec = 0, 3
    for _ in range(64):
        inc = 0 if inc >= 9 else inc + 1
        dec = 9 if dec == 0 or dec > 9 else dec - 1
    assert u.tolist() == [inc, dec, 63]


def test_a_lock_gives_mutual_exclusion(load):
    library = load("memory")
    plain = np.zeros(1, np.int32)
    for order in range(3):
        library.configure(order, workers=4)
        plain[:] = 0
        library.call("lock", plain)
        assert plain[0] == 64 * 64


def test_histogram(load):
    library = load("memory")
    x = np.random.default_rng(0).integers(0, 256, 100_001).astype(np.uint8)
    bins = np.zeros(256, np.uint32)
    library.call("count_bytes", x, x.size, bins)
    np.testing.assert_array_equal(bins, np.bincount(x, minlength=256))


def test_host_api(load):
    library = load("memory")
    x = np.arange(64, dtype=np.float32)
    assert library.call("api", x, 64) == 0
    assert library.take_error().code == 0
