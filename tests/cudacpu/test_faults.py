"""Errors that the runner gets when a launch or a kernel goes wrong."""

import ctypes
import os
import subprocess
import sys

import numpy as np
import pytest

INVALID_VALUE, INVALID_CONFIGURATION, NOT_SUPPORTED = 1, 9, 801
DIVERGENCE, UNSUPPORTED, TRAP = 10001, 10002, 10003


@pytest.fixture
def x():
    return np.zeros(256, np.int32)


@pytest.mark.parametrize(
    ("grid", "block", "shared", "code"),
    [
        ((1, 1, 1), (1024, 1, 1), 0, 0),
        ((1, 1, 1), (16, 16, 4), 49152, 0),
        ((70000, 1, 1), (1, 1, 1), 0, 0),
        ((1, 1, 1), (1025, 1, 1), 0, INVALID_CONFIGURATION),
        ((1, 1, 1), (32, 33, 1), 0, INVALID_CONFIGURATION),
        ((1, 1, 1), (1, 1, 65), 0, INVALID_CONFIGURATION),
        ((1, 1, 1), (0, 1, 1), 0, INVALID_CONFIGURATION),
        ((0, 1, 1), (1, 1, 1), 0, INVALID_CONFIGURATION),
        ((1, 65536, 1), (1, 1, 1), 0, INVALID_CONFIGURATION),
        ((1, 1, 65536), (1, 1, 1), 0, INVALID_CONFIGURATION),
        ((1, 1, 1), (1, 1, 1), 49153, INVALID_VALUE),
    ],
)
def test_launch_limits(load, x, grid, block, shared, code):
    library = load("faults")
    assert library.call("launch", x, *grid, *block, ctypes.c_size_t(shared)) == code
    error = library.take_error()
    assert error.code == code
    assert x[0] == (code == 0)
    assert ("touch" in error.message) == (code != 0)
    assert library.take_error().code == 0, "taken once"


def test_more_shared_memory_on_request(load, x):
    library = load("faults")
    assert library.call("launch_with_more_shared", x, 100_000, ctypes.c_size_t(100_001)) == 1
    assert library.take_error().code == INVALID_VALUE
    assert library.call("launch_with_more_shared", x, 232448, ctypes.c_size_t(232448)) == 0
    assert library.call("launch_with_more_shared", x, 232449, ctypes.c_size_t(0)) == INVALID_VALUE


def test_static_and_dynamic_shared_memory_count_together(load, x):
    library = load("faults")
    assert library.call("static_and_dynamic", x) != 0
    error = library.take_error()
    assert error.code == INVALID_VALUE
    assert "too much shared memory" in error.message


_DIVERGES = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
library.cudacpu_configure(1, ctypes.c_ulonglong(0), 1)
library.diverge((ctypes.c_int * 256)())
message = ctypes.create_string_buffer(4096)
library.cudacpu_take_error(message, ctypes.c_size_t(4096))
print(message.value.decode())
"""


def test_threads_that_have_not_begun_wait_nowhere(build):
    """Whatever the memory that a worker is made in has held."""
    done = subprocess.run(
        [sys.executable, "-c", _DIVERGES, str(build("faults"))],
        env={**os.environ, "MALLOC_PERTURB_": "90"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "22 of 32 threads wait at __syncthreads" in done.stdout
    assert "1 of 32 threads wait at __syncthreads" in done.stdout
    assert "9 have not got there; 0 have exited" in done.stdout


@pytest.mark.parametrize("order", [0, 1, 2])
def test_barrier_divergence(load, marked_line, x, order):
    library = load("faults")
    library.configure(order)
    library.call("diverge", x)
    error = library.take_error()
    assert error.code == DIVERGENCE
    lines = {marked_line("faults", "FIRST"), marked_line("faults", "SECOND")}
    assert "kernel two_barriers, block (" in error.message
    shown = [line for line in lines if f"__syncthreads, line {line}" in error.message]
    assert shown, error.message


@pytest.mark.parametrize("order", [0, 1, 2])
def test_deadlock_is_reported(load, marked_line, x, order):
    library = load("faults")
    library.configure(order)
    library.call("deadlock", x)
    error = library.take_error()
    assert error.code == DIVERGENCE
    barrier, shuffle = marked_line("faults", "BARRIER"), marked_line("faults", "SHUFFLE")
    assert f"48 of 64 threads wait at __syncthreads, line {barrier};" in error.message
    assert f"15 of 64 threads wait at a warp collective, line {shuffle};" in error.message
    assert error.message.endswith("1 have exited")


def test_a_mask_without_the_caller_is_an_error(load, x):
    library = load("faults")
    library.call("wrong_mask", x)
    error = library.take_error()
    assert error.code == DIVERGENCE
    assert "does not name the calling lane" in error.message


def test_trap_and_assert_end_the_kernel_with_a_sticky_error(load, x):
    library = load("faults")
    assert library.call("trapped", x, 1) == 719
    error = library.take_error()
    assert (error.code, "block (1,0,0), thread (5,0,0): __trap()" in error.message) == (TRAP, True)
    assert library.call("trapped", x, 0) == 710
    assert library.call("launch", x, *[1] * 6, ctypes.c_size_t(0)) == 710, "as on a GPU"
    error = library.take_error()
    assert error.code == TRAP
    assert "faults.cu" in error.message
    assert "x == nullptr" in error.message
    assert library.call("launch", x, *[1] * 6, ctypes.c_size_t(0)) == 0


def test_gpu_only_functions_are_reported(load):
    library = load("faults")
    assert library.call("capture") == NOT_SUPPORTED
    error = library.take_error()
    assert error.code == UNSUPPORTED
    assert "stream capture" in error.message
