"""How kernels are written, launched, and share memory."""

import numpy as np
import pytest


@pytest.mark.parametrize("order", [0, 1, 2])
def test_all_forms_of_launches_run(load, order):
    library = load("language")
    library.configure(order)
    for n in (1, 40, 64):
        x = np.arange(n, dtype=np.float32)
        library.call("launches", x, n)
        expected = (np.arange(n, dtype=np.float32) * 2 + 1) + 2
        expected = expected**2 + 3 + 0.5 + 1.5 + 6
        expected[0] = 60 + (0 if n > 3 else 7)
        assert library.take_error().code == 0
        np.testing.assert_array_equal(x, expected)


def test_strings_and_comments_are_not_translated(load):
    library = load("language")
    assert library.text("not_a_launch") == 'k<<<1, 1>>>(x) /* // */ " __shared__ '
    assert library.text("raw_string") == 'k<<<1,\n 1>>>() )" asm("") '


@pytest.mark.parametrize("order", [0, 1, 2])
def test_all_forms_of_shared_memory_work(load, order):
    library = load("language")
    library.configure(order)
    x = np.arange(160, dtype=np.float32)
    d = np.arange(32, dtype=np.float64)
    library.call("shared_forms", x, d)
    assert library.take_error().code == 0
    np.testing.assert_array_equal(x[:32], np.arange(32)[::-1])
    np.testing.assert_array_equal(x[32:64], 7 * np.arange(32, 64)[::-1] + 1 + 7)
    np.testing.assert_array_equal(x[64:128], 7 * np.arange(64, 128)[::-1] + 1 + 7)
    assert np.isnan(x[128:]).all(), "shared memory that nobody wrote is NaN"
    np.testing.assert_array_equal(d, np.arange(32)[::-1])


def test_symbols(load):
    library = load("language")
    x = np.zeros(4, np.float32)
    assert library.call("symbols", x) == 9
    np.testing.assert_array_equal(x, [10, 11, 12, 13])


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("workers", [0, 1, 3])
def test_every_thread_of_every_block_runs_once(load, order, workers):
    library = load("language")
    library.configure(order, seed=workers, workers=workers)
    out = np.zeros(3 * 5 * 7 * 60, np.int32)
    library.call("every_thread_once", out)
    block, thread = np.divmod(np.arange(out.size), 60)
    np.testing.assert_array_equal(out, 1 + thread + 1000 * block)


def test_big_local_arrays(load):
    library = load("language")
    x = np.ones(257, np.float32)
    library.call("big_locals", x)
    np.testing.assert_array_equal(x[1:], np.float32(1 + 1025))
