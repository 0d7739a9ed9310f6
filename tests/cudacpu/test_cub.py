"""cub's operations of blocks and warps."""

import numpy as np
import pytest

DIVERGENCE = 10001
THREADS, ITEMS = 128, 3


@pytest.fixture(params=[0, 1, 2], ids=["forward", "reversed", "shuffled"])
def library(load, request):
    loaded = load("cub")
    loaded.configure(request.param, seed=77)
    yield loaded
    error = loaded.take_error()
    assert error.code == 0, error.message


@pytest.mark.parametrize("valid", [1, 31, 32, 100, 128])
def test_reductions_of_a_block(library, valid):
    random = np.random.default_rng(valid)
    x = random.normal(size=THREADS * ITEMS).astype(np.float32)
    k = random.integers(-1000, 1000, THREADS * ITEMS).astype(np.int32)
    out, whole = np.zeros(9, np.float32), np.zeros(8, np.int32)
    library.call("run_reduce", x, k, out, whole, valid)
    for values, got in ((x, out), (k, whole)):
        first = values.reshape(THREADS, ITEMS)[:, 0]
        expected = [
            first.sum(),
            first[:valid].sum(),
            first.max(),
            first[:valid].min(),
            values.sum(),
            values.max(),
        ]
        np.testing.assert_allclose(got[:6], expected, rtol=1e-5, atol=1e-5)
    assert out[7] == x[:THREADS][np.abs(x[:THREADS]).argmax()]
    assert (whole[7], out[8]) == (x[:THREADS].argmax(), x[:THREADS].max())
    assert np.isnan(out[6]), "only thread 0 has the result"
    assert whole[6] == -1


def test_sums_of_a_block_are_rounded_as_a_tree(library):
    """Neighbours in each warp, then warp after warp: as cub's BLOCK_REDUCE_WARP_REDUCTIONS."""
    x = np.random.default_rng(3).normal(size=THREADS * ITEMS).astype(np.float32)
    out, whole = np.zeros(9, np.float32), np.zeros(8, np.int32)
    library.call("run_reduce", x, x.view(np.int32), out, whole, THREADS)
    warps = x.reshape(THREADS, ITEMS)[:, 0].reshape(-1, 32)
    while warps.shape[1] > 1:
        warps = warps[:, ::2] + warps[:, 1::2]
    total = warps[0, 0]
    for warp in warps[1:, 0]:
        total += warp
    assert out[0] == total


@pytest.mark.parametrize("n", [1, 383, 384, 1000])
def test_scans_of_a_block(library, n):
    x = np.random.default_rng(n).integers(-50, 50, n).astype(np.int32)
    out = np.full(4 * n + 3, -1, np.int32)
    library.call("run_scan", x, out, n)
    sums = x.cumsum()
    np.testing.assert_array_equal(out[:n], sums - x + 100)
    np.testing.assert_array_equal(out[n : 2 * n], sums)
    blocks = [x[i : i + THREADS * ITEMS] for i in range(0, n, THREADS * ITEMS)]
    maxima = np.concatenate([np.maximum.accumulate(block) for block in blocks])
    np.testing.assert_array_equal(out[2 * n : 3 * n], maxima)
    padded = [max(*block, *([0] * (len(block) < THREADS * ITEMS)), -99) for block in blocks]
    np.testing.assert_array_equal(out[3 * n : 3 * n + len(blocks)], padded)


def test_scans_of_single_values(library):
    x = np.random.default_rng(0).integers(-50, 50, THREADS).astype(np.int32)
    out = np.zeros((6, THREADS), np.int32)
    library.call("run_scan_single", x, out)
    sums = x.cumsum()
    before = np.maximum.accumulate(np.r_[-5, x[:-1]])
    np.testing.assert_array_equal(out[0], sums - x)
    np.testing.assert_array_equal(out[1], sums)
    np.testing.assert_array_equal(out[2], np.full(THREADS, sums[-1]))
    np.testing.assert_array_equal(out[3], before)
    np.testing.assert_array_equal(out[4], np.r_[-1, sums[:-1]], "the first is undefined")
    np.testing.assert_array_equal(out[5], np.minimum.accumulate(x))


@pytest.mark.parametrize(("size", "valid"), [(32, 32), (32, 5), (8, 8), (8, 3)])
def test_warps(library, size, valid):
    x = np.random.default_rng(size).integers(-50, 50, 64).astype(np.int32)
    out = np.zeros((10, 64), np.int32)
    library.call("run_warp", x, out, size, valid)
    warps = x.reshape(-1, size)
    sums = warps.cumsum(axis=1)
    count = len(warps)
    np.testing.assert_array_equal(out[0, :count], warps.sum(axis=1))
    np.testing.assert_array_equal(out[1, :count], warps[:, :valid].max(axis=1))
    np.testing.assert_array_equal(out[2], sums.ravel())
    np.testing.assert_array_equal(out[3], (sums - warps).ravel())
    np.testing.assert_array_equal(out[4], np.repeat(sums[:, -1], size))
    sevens = np.full((count, 1), 7)
    largest = np.maximum.accumulate(np.hstack([sevens, warps[:, :-1]]), axis=1)
    np.testing.assert_array_equal(out[5], largest.ravel())
    np.testing.assert_array_equal(out[6], x)
    np.testing.assert_array_equal(out[7], np.repeat(warps[:, 2], size))
    np.testing.assert_array_equal(out[8, ::4], x.reshape(-1, 4).sum(axis=1))
    np.testing.assert_array_equal(out[9, ::2], x.reshape(-1, 2).sum(axis=1))


@pytest.mark.parametrize(("name", "dtype"), [("floats", np.float32), ("ints", np.int32)])
def test_sorting(library, name, dtype):
    random = np.random.default_rng(1)
    keys = random.normal(size=THREADS * ITEMS) * 20
    keys = np.round(keys).astype(dtype)  # with equal ones, and zeros of either sign
    up, down = np.zeros_like(keys), np.zeros_like(keys)
    places, exchanged = np.zeros(keys.size, np.int32), np.zeros(keys.size, np.int32)
    library.call(f"sort_{name}", keys, up, down, places, exchanged)
    order = np.argsort(keys, kind="stable")
    np.testing.assert_array_equal(up, keys[order])
    np.testing.assert_array_equal(places, order)
    np.testing.assert_array_equal(down, np.sort(keys)[::-1])
    np.testing.assert_array_equal(exchanged, np.arange(keys.size))


def test_storage_used_again_without_a_barrier_shows(load):
    library, x = load("cub"), np.arange(THREADS, dtype=np.int32)
    wrong = []
    for order in range(3):
        library.configure(order, seed=1)
        out = np.zeros(2, np.int32)
        library.call("wrong_block", x, out, 0)
        assert library.take_error().code == 0
        wrong.append(list(out) != [x.sum(), THREADS])
    assert any(wrong)


@pytest.mark.parametrize(
    ("which", "markers"), [(1, ["SOME", "OTHERS"]), (2, ["LANES"])], ids=["block", "warp"]
)
def test_threads_that_do_not_come(load, marked_line, which, markers):
    library, x = load("cub"), np.arange(THREADS, dtype=np.int32)
    library.call("wrong_block", x, np.zeros(THREADS, np.int32), which)
    error = library.take_error()
    assert error.code == DIVERGENCE
    lines = [f"line {marked_line('cub', marker)}" for marker in markers]
    assert any(line in error.message for line in lines), error.message
