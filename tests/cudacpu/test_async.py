"""Asynchronous copies, and the barriers and pipelines that wait for them."""

import numpy as np
import pytest

DIVERGENCE, MISALIGNED = 10001, 716
THREADS, TILE = 64, 256
WAYS = ["primitives", "groups", "barrier", "own pipeline", "two stages", "four stages", "roles"]


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("way", range(len(WAYS)), ids=WAYS)
def test_tiles_arrive(load, way, order):
    library = load("async")
    library.configure(order, seed=3)
    for tiles in (1, 2, 7):
        x = np.random.default_rng(tiles).integers(-99, 99, (tiles, TILE)).astype(np.float32)
        out = np.zeros(TILE, np.float32)
        library.call("add_tiles", x, out, tiles, way)
        error = library.take_error()
        assert error.code == 0, error.message
        np.testing.assert_array_equal(out, x.sum(axis=0))


def test_bytes_that_are_not_read_are_zero(load):
    library = load("async")
    x, out = np.ones((2, TILE), np.float32), np.zeros(TILE, np.float32)
    library.call("add_tiles", x, out, 2, 7)
    np.testing.assert_array_equal(out.reshape(-1, 4), [[2, 2, 2, 0]] * THREADS)


@pytest.mark.parametrize("which", [0, 1, 2], ids=["wait", "commit", "barrier"])
def test_what_is_forgotten_shows(load, which):
    library = load("async")
    x = np.arange(THREADS, dtype=np.float32)
    for order in range(3):
        library.configure(order)
        out = np.zeros(THREADS, np.float32)
        library.call("mistakes", x, out, which)
        assert library.take_error().code == 0
        assert np.isnan(out).any()


def test_a_barrier_that_waits_for_ever(load, marked_line):
    library = load("async")
    library.call("mistakes", np.zeros(80, np.float32), np.zeros(80, np.float32), 4)
    error = library.take_error()
    assert error.code == DIVERGENCE
    place = f"a cuda::barrier or pipeline, line {marked_line('async', 'FEW')}"
    assert f"64 of 64 threads wait at {place}" in error.message


def test_a_copy_must_be_aligned(load, marked_line):
    library = load("async")
    library.call("mistakes", np.zeros(80, np.float32), np.zeros(80, np.float32), 3)
    error = library.take_error()
    assert error.code == MISALIGNED
    assert f"line {marked_line('async', 'ODD')}" in error.message


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("function", "marker"), [("read_async", "BEYOND"), ("write_async", "OUTSIDE")]
)
def test_copies_beyond_a_buffer_are_found_at_the_call(
    build, call_guarded, marked_line, function, marker
):
    library = build("async", sanitize=True)
    assert "ran to the end" in call_guarded(library, "read_async", THREADS).stdout
    done = call_guarded(library, function, THREADS - 3)
    assert "AddressSanitizer" in done.stderr
    assert f"async.cu:{marked_line('async', marker)}" in done.stderr
