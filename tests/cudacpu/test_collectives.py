"""Barriers, shuffles, votes, reductions, cooperative groups."""

import numpy as np
import pytest

LANES = np.arange(32)


@pytest.fixture(params=[0, 1, 2], ids=["forward", "reversed", "shuffled"])
def library(load, request):
    loaded = load("collectives")
    loaded.configure(request.param, seed=1234)
    yield loaded
    error = loaded.take_error()
    assert error.code == 0, error.message


def test_shuffles(library):
    out = np.full((9, 32), -1, np.int32)
    wide = np.zeros(32, np.int64)
    library.call("run_shuffles", out, wide)
    segment8, segment16 = LANES // 8 * 8, LANES // 16 * 16
    sources = [
        np.full(32, 5),
        segment8 + (LANES + 1) % 8,
        np.where(LANES >= 3, LANES - 3, LANES),
        np.where(LANES - segment16 >= 3, LANES - 3, LANES),
        np.where(LANES + 4 < 32, LANES + 4, LANES),
        np.where(segment8 + 8 > LANES + 4, LANES + 4, LANES),
        LANES ^ 1,
        np.where(segment8 + 8 > (LANES ^ 8), LANES ^ 8, LANES),
        np.full(32, 31),
    ]
    np.testing.assert_array_equal(out, np.array(sources) * 10)
    np.testing.assert_array_equal(wide, (1 << 40) + (LANES ^ 2))


def test_votes_matches_and_reductions(library):
    out = np.zeros((14, 32), np.uint32)
    library.call("run_votes", out)
    odd = 0xAAAAAAAA
    expected = [
        sum(1 << int(lane) for lane in LANES if lane % 3 == 0),
        1,
        0,
        1,
        [0x11111111 << int(lane) % 4 for lane in LANES],
        0xFFFFFFFF + 1 & 0xFFFFFFFF,
        0,
        LANES.sum(),
        -7 & 0xFFFFFFFF,
        0xFFFFFFFF,
        0xFFFFFFFF,
        np.where(LANES < 16, odd & 0xFFFF, odd & 0xFFFF0000),
        np.where(LANES % 2, odd, 0),
        0xFFFFFFFF,
    ]
    for row, wanted in zip(out, expected, strict=True):
        np.testing.assert_array_equal(row, np.broadcast_to(wanted, 32).astype(np.uint32))


def test_counting_barriers(library):
    out = np.full((5, 100), -1, np.int32)
    library.call("run_counts", out)
    np.testing.assert_array_equal(out[:, 0], [20, 1, 0, 1, 0])
    assert (out == out[:, :1]).all()


@pytest.mark.parametrize("n", [40, 100, 128])
def test_barriers_do_not_wait_for_threads_that_returned(library, n):
    out = np.full(129, -1, np.int32)
    library.call("run_early_exit", out, n)
    np.testing.assert_array_equal(out[:n], np.arange(n)[::-1])
    assert out[n] == n - 2


def test_sum_by_shuffles_and_atomics(library):
    x = (np.arange(100_000) % 7).astype(np.float32)
    total = np.zeros(1, np.float32)
    library.call("run_sum", x, total, x.size)
    assert total[0] == x.sum()


def test_cooperative_groups(library):
    out = np.full((13, 64), -1, np.int32)
    library.call("run_groups", out)
    t = np.arange(64)
    first = t // 8 * 8
    three = 11  # multiples of 3 below 32, and as many from 32 to 63
    rank = np.where(t < 32, t // 3, t // 3 - 11)
    expected = [
        t // 32 * 100 + 2,
        t % 8 * 100 + 8,
        first + 2,
        np.where(t % 8 < 7, t + 1, t),
        np.where(t % 8 > 0, t - 1, t),
        t ^ 4,
        first * 8 + 28,
        t // 32 * 32 + 31,
        np.full(64, 0b10101010),
        (first == 8) * 10 + (first < 40),
        t % 8 + 1,
        first * (t % 8) + (t % 8) * (t % 8 - 1) // 2,
        np.where(t % 3 == 0, rank * 100 + three, -1),
    ]
    np.testing.assert_array_equal(out, np.array(expected))
