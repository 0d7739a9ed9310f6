"""Matrix products of a warp: values, rounding, layouts, and what goes wrong."""

import itertools

import numpy as np
import pytest

DIVERGENCE, MISALIGNED = 10001, 716
SHAPES = {"16x16": (16, 16, 16), "32x8": (32, 8, 16), "8x32": (8, 32, 16)}
LAYOUTS = list(itertools.product([0, 1], repeat=3))
"""Whether a, b, and c with the result are row-major."""
ALIKE = [layouts for layouts in LAYOUTS if layouts[0] == layouts[1]]
"""Those that are built for every type; half_float has all."""


def brain(values):
    """The bits of float32 `values` as bfloat16, cut off."""
    return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


def widened(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


def laid_out(matrix, is_row_major, gap):
    """`matrix` in memory, its rows (columns) `gap` elements further apart, and the step."""
    rows = matrix if is_row_major else matrix.T
    memory = np.zeros((rows.shape[0], rows.shape[1] + gap), rows.dtype)
    memory[:, : rows.shape[1]] = rows
    return memory, memory.shape[1]


def multiply(library, name, a, b, c, out_type, layouts, scale=1, satf=0, gap=16):
    (a_memory, lda), (b_memory, ldb) = laid_out(a, layouts[0], gap), laid_out(b, layouts[1], gap)
    c_memory, ldc = laid_out(c, layouts[2], gap)
    d_memory = np.zeros(c_memory.shape, out_type)
    library.call(name, a_memory, b_memory, c_memory, d_memory, *layouts, lda, ldb, ldc, scale, satf)
    error = library.take_error()
    assert error.code == 0, error.message
    assert not d_memory[:, -gap:].any(), "nothing between the rows"
    d = d_memory[:, :-gap]
    return d if layouts[2] else d.T


def summed_in_order(a, b, c, dtype):
    """c + a b: exact products, added one after the other in `dtype`."""
    total = c.astype(dtype)
    for p in range(a.shape[1]):
        total = (total + (np.outer(a[:, p], b[p]).astype(dtype))).astype(dtype)
    return total


def factors(m, n, k, seed, dtype):
    random = np.random.default_rng(seed)
    return random.normal(size=(m, k)).astype(dtype), random.normal(size=(k, n)).astype(dtype)


HALVES = {
    "half_float": (np.float32, np.float32),
    "half_half": (np.float16, np.float16),
    "half_up": (np.float16, np.float32),
    "half_down": (np.float32, np.float16),
}


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("name", "shape"),
    [
        *itertools.product(["half_float", "half_half"], SHAPES),
        ("half_up", "16x16"),
        ("half_down", "16x16"),
    ],
)
def test_halves(load, name, shape):
    library = load("wmma")
    (c_type, out_type), (m, n, k) = HALVES[name], SHAPES[shape]
    all_layouts = LAYOUTS if name == "half_float" else ALIKE
    for order, layouts in itertools.product(range(3), all_layouts):
        library.configure(order, seed=5)
        a, b = factors(m, n, k, order, np.float16)
        c = np.random.default_rng(9).normal(size=(m, n)).astype(c_type)
        got = multiply(library, f"{name}_{shape}", a, b, c, out_type, layouts, scale=2)
        wide = summed_in_order(a.astype(np.float32), b.astype(np.float32), c, np.float32)
        np.testing.assert_array_equal(got, wide.astype(out_type) * out_type(2))


@pytest.mark.corpus
@pytest.mark.parametrize("shape", SHAPES)
def test_bfloat16(load, shape):
    library = load("wmma")
    m, n, k = SHAPES[shape]
    a, b = (brain(x) for x in factors(m, n, k, 1, np.float32))
    c = np.random.default_rng(2).normal(size=(m, n)).astype(np.float32)
    for layouts in ALIKE:
        got = multiply(library, f"bfloat_{shape}", a, b, c, np.float32, layouts)
        expected = summed_in_order(widened(a), widened(b), c, np.float32)
        np.testing.assert_array_equal(got, expected)


@pytest.mark.corpus
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("name", "dtype"), [("signed", np.int8), ("unsigned", np.uint8)])
def test_bytes(load, shape, name, dtype):
    library = load("wmma")
    m, n, k = SHAPES[shape]
    random, limits = np.random.default_rng(3), np.iinfo(dtype)
    a, b = (
        random.integers(limits.min, limits.max, size, dtype, endpoint=True)
        for size in ((m, k), (k, n))
    )
    c = random.integers(-(2**31), 2**31, (m, n), np.int64).astype(np.int32)
    exact = a.astype(np.int64) @ b.astype(np.int64) + c
    for layouts in ALIKE:
        got = multiply(library, f"{name}_{shape}", a, b, c, np.int32, layouts)
        np.testing.assert_array_equal(got, exact.astype(np.int32), "wraps")
        got = multiply(library, f"{name}_{shape}", a, b, c, np.int32, layouts, satf=1)
        np.testing.assert_array_equal(got, np.clip(exact, -(2**31), 2**31 - 1))


@pytest.mark.corpus
def test_tf32_takes_no_more_than_eleven_bits(load):
    library = load("wmma")
    a, b = factors(16, 16, 8, 4, np.float32)
    c = np.zeros((16, 16), np.float32)
    cut = [(x.view(np.uint32) & 0xFFFFE000).view(np.float32) for x in (a, b)]
    for layouts in ALIKE:
        got = multiply(library, "tf32_16x16", a, b, c, np.float32, layouts)
        np.testing.assert_array_equal(got, summed_in_order(*cut, c, np.float32))


@pytest.mark.corpus
def test_rounding_to_tf32(load):
    library = load("wmma")
    ulp = 2.0**-10
    x = np.array(
        [1, 1 + ulp / 2, 1 + ulp / 2 - 2**-23, -1 - ulp / 2, 3e38, np.inf, -np.inf, np.nan, 0],
        np.float32,
    )
    y = np.zeros_like(x)
    library.call("to_tf32", x, y, x.size)
    expected = np.array([1, 1 + ulp, 1, -1 - ulp, y[4], np.inf, -np.inf, np.nan, 0], np.float32)
    np.testing.assert_array_equal(y, expected)
    assert abs(y[4] / x[4] - 1) <= ulp / 2


@pytest.mark.corpus
def test_doubles(load):
    library = load("wmma")
    a, b = factors(8, 8, 4, 5, np.float64)
    c = np.random.default_rng(6).normal(size=(8, 8))
    for layouts in ALIKE:
        got = multiply(library, "double_8x8", a, b, c, np.float64, layouts)
        np.testing.assert_array_equal(got, summed_in_order(a, b, c, np.float64))


@pytest.mark.corpus
def test_accumulators_lie_in_the_lanes_as_on_a_gpu(load):
    library = load("wmma")
    out = np.zeros((16, 16), np.float32)
    library.call("labels", out)
    lane, i = np.divmod(out.astype(int), 8)
    row, column = np.indices((16, 16))
    np.testing.assert_array_equal(row, lane // 4 + i // 2 % 2 * 8)
    np.testing.assert_array_equal(column, lane % 4 * 2 + i % 2 + i // 4 * 8)


def run_wrong(library, which):
    x, out = np.ones((16, 16), np.float16), np.zeros((16, 16), np.float32)
    library.call("wrong", x, out, which)
    return out, library.take_error()


@pytest.mark.corpus
@pytest.mark.parametrize("order", [0, 1, 2])
def test_what_goes_wrong_in_a_warp(load, marked_line, order):
    library = load("wmma_faults")
    library.configure(order)
    unfilled, error = run_wrong(library, 0)
    assert error.code == 0
    assert np.isnan(unfilled).all()
    partly_changed, error = run_wrong(library, 5)
    assert error.code == 0
    assert np.isnan(partly_changed).all(), "one element is held twice, and differs"
    for which, markers in ((1, ["HALF"]), (2, ["ODD", "EVEN"]), (3, ["GONE"]), (4, [])):
        error = run_wrong(library, which)[1]
        assert error.code == DIVERGENCE
        assert "barrier divergence: " in error.message
        lines = [f"line {marked_line('wmma_faults', marker)}" for marker in markers]
        assert any(line in error.message for line in lines) or not lines
    assert "16 of this one have exited or do not exist" in error.message


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("function", "step", "is_right"),
    [
        ("store_even", 16, True),
        ("store_even", 17, False),
        ("store_columns", 17, True),
        ("load_global", 18, True),
        ("load_global", 17, False),
        ("load_shared", 24, True),
        ("load_shared", 18, False),
    ],
)
def test_rows_must_be_aligned_as_the_gpus_instructions_need(
    build, call_guarded, marked_line, function, step, is_right
):
    done = call_guarded(build("wmma_faults", sanitize=True), function, 512, passed=step)
    assert "ran to the end" in done.stdout, done.stderr
    assert (f"{MISALIGNED} " in done.stdout) is not is_right, done.stdout
    if not is_right:
        marker = "STORE" if function.startswith("store") else "LOAD"
        assert f"line {marked_line('wmma_faults', marker)}" in done.stdout


@pytest.mark.corpus
def test_accesses_beyond_the_matrix_are_found(build, call_guarded):
    done = call_guarded(build("wmma_faults", sanitize=True), "store_even", 255, passed=16)
    assert "AddressSanitizer" in done.stderr
    assert "wmma_faults.cu" in done.stderr
