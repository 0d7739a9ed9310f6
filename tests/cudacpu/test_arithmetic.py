"""16-bit floats bit by bit, and the scalar intrinsics."""

from fractions import Fraction

import numpy as np
import pytest

N = 4096


def bf16_to_float(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


def float_to_bf16(values):
    """Round to nearest even, in integers; NaNs are CUDA's 0x7fff."""
    bits = np.asarray(values, np.float32).view(np.uint32).astype(np.uint64)
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    return np.where(np.isnan(values), np.uint16(0x7FFF), rounded)


def random_bits(seed):
    random = np.random.default_rng(seed)
    specials = np.array([0, 0x8000, 1, 0x8001, 0x7C00, 0xFC00, 0x7F80, 0xFF80, 0x7BFF, 0x3C00])
    bits = random.integers(0, 1 << 16, N).astype(np.uint16)
    bits[: specials.size] = random.permutation(specials)
    return bits


def same(actual, expected, to_float):
    """Equal bits, or both NaN."""
    both_nan = np.isnan(to_float(actual)) & np.isnan(to_float(expected))
    return ((actual == expected) | both_nan).all()


def half_to_float(bits):
    return bits.view(np.float16).astype(np.float32)


FORMATS = {"float16": half_to_float, "bfloat16": bf16_to_float}


def exactly_rounded(value, name):
    """The float16 or bfloat16 bits nearest to a Fraction, ties to even; no overflow wanted."""
    if value == 0:
        return 0
    digits, least = (11, -24) if name == "float16" else (8, -133)
    sign, magnitude = (0x8000, -value) if value < 0 else (0, value)
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    if Fraction(2) ** exponent > magnitude:
        exponent -= 1
    unit_exponent = max(exponent - digits + 1, least)
    units = round(magnitude / Fraction(2) ** unit_exponent)  # Python's round is to even
    # A significand with its implicit bit, in the encoding's own units, carries by itself.
    return sign | (((unit_exponent - least) << (digits - 1)) + units)


@pytest.fixture(params=["float16", "bfloat16"])
def name(request):
    return request.param


def test_every_small_float_decodes(load, name):
    library = load("arithmetic")
    bits = np.arange(1 << 16).astype(np.uint16)
    out = np.zeros(bits.size, np.float32)
    library.call(f"decode_{name}", bits, out, bits.size)
    np.testing.assert_array_equal(out, FORMATS[name](bits))


def test_encoding_rounds_to_nearest_even(load, name):
    library = load("arithmetic")
    random = np.random.default_rng(1)
    decode = FORMATS[name]
    finite = decode(np.arange(0x7BFF if name == "float16" else 0x7F7F).astype(np.uint16))
    finite = finite.astype(np.float64)
    middles = ((finite[:-1] + finite[1:]) / 2)[::7]
    wide = random.choice([-1, 1], N) * 2.0 ** random.uniform(-30, 20, N)
    values = np.concatenate(
        [
            finite,
            middles,
            -middles,
            np.nextafter(middles, np.inf),  # only a double tells these from the middle
            np.nextafter(middles, -np.inf),
            wide,
            [np.nan, np.inf, -np.inf, 65519.999, 65520.0, 1e300, -1e300, 3.3961e38],
        ]
    )
    from_float, from_double = (np.zeros(values.size, np.uint16) for _ in range(2))
    library.call(f"encode_{name}", values, from_float, from_double, values.size)
    with np.errstate(over="ignore", invalid="ignore"):
        floats = values.astype(np.float32)
        if name == "float16":
            expected = floats.astype(np.float16).view(np.uint16)
            expected_double = values.astype(np.float16).view(np.uint16)
        else:
            expected = float_to_bf16(floats)
            expected_double = expected.copy()
            for i in np.flatnonzero(np.isfinite(values) & (np.abs(values) < 3.3895e38)):
                if floats[i] != values[i]:
                    expected_double[i] = exactly_rounded(Fraction(values[i]), name)
    keep = (from_double != 0x8000) & (expected_double != 0x8000)  # -0 from a tiny negative
    assert same(from_float, expected, decode)
    assert same(from_double[keep], expected_double[keep], decode)


def test_operations_are_rounded_once(load, name):
    library = load("arithmetic")
    decode = FORMATS[name]
    a, b, c = (random_bits(seed) for seed in (1, 2, 3))
    # Half of the triples where the fma's sum cancels or ties.
    half = slice(N // 2, N)
    c[half] = (a[half] ^ 0x8000) & 0xF800
    out = np.zeros((8, N), np.uint16)
    library.call(f"operate_{name}", a, b, c, out, N)
    with np.errstate(all="ignore"):
        x, y = decode(a), decode(b)
        floats = [x + y, x - y, x * y, x / y, None, np.sqrt(x), np.fmin(x, y), np.fmax(x, y)]
        for row, value in zip(out, floats, strict=True):
            if value is None:
                continue
            expected = (
                value.astype(np.float16).view(np.uint16)
                if name == "float16"
                else float_to_bf16(value)
            )
            zero = decode(expected) == 0  # min(-0, +0) may be either for numpy
            assert same(row[~zero], expected[~zero], decode)
            assert (decode(row[zero]) == 0).all()


def test_fma_is_exact_before_it_is_rounded(load, name):
    library = load("arithmetic")
    decode = FORMATS[name]
    a, b, c = (random_bits(seed) for seed in (4, 5, 6))
    third = slice(0, N, 3)
    with np.errstate(all="ignore"):  # c near -a*b: everything depends on the last bits
        product = -(decode(a) * decode(b))[third]
        rounded = product.astype(np.float16).view(np.uint16)
        c[third] = rounded if name == "float16" else float_to_bf16(product)
    out = np.zeros((8, N), np.uint16)
    library.call(f"operate_{name}", a, b, c, out, N)
    checked = 0
    largest = Fraction(65504) if name == "float16" else Fraction(255 * 2**120)
    for x, y, z, result in zip(decode(a), decode(b), decode(c), out[4], strict=True):
        if not np.isfinite([x, y, z]).all():
            continue
        exact = Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
        if abs(exact) > largest:
            continue
        expected = exactly_rounded(exact, name)
        assert int(result) in {expected, 0x8000 if expected == 0 else expected}
        checked += 1
    assert checked > N // 4


def test_directed_rounding_to_half(load):
    library = load("arithmetic")
    random = np.random.default_rng(3)
    x = (random.choice([-1, 1], N) * 2.0 ** random.uniform(-26, 15.9, N)).astype(np.float32)
    x[:8] = [0, -0.0, 1, -1, 2.0**-25, -(2.0**-25), 2048.5, -2048.5]
    out = np.zeros((4, N), np.float16)
    library.call("directed_half", x, out, N)
    nearest, zero, up, down = out.astype(np.float64)
    np.testing.assert_array_equal(out[0], x.astype(np.float16))
    assert (up >= x).all()
    assert (down <= x).all()
    assert (np.abs(zero) <= np.abs(x)).all()
    np.testing.assert_array_equal(zero, np.where(x > 0, down, up))
    assert ((nearest == up) | (nearest == down)).all()
    inexact = up != down
    following = np.nextafter(out[3], np.float16(np.inf))
    np.testing.assert_array_equal(following[inexact], out[2][inexact])


def test_directed_rounding_of_floats(load):
    library = load("arithmetic")
    random = np.random.default_rng(4)
    values = random.standard_normal((3, 500)) * 4.0 ** random.integers(-9, 9, (3, 500))
    a, b, c = values.astype(np.float32)
    a[:3], b[:3], c[:3] = [1, 1, 3], [2.0**-60, 3, 7], [0, 0, 2.0**-80]
    out = np.zeros((4, 4, 500), np.float32)
    library.call("directed_float", a, b, c, out, 500)
    for i in range(500):
        x, y, z = (Fraction(float(v[i])) for v in (a, b, c))
        for results, exact in zip(out[:, :, i], (x + y, x * y, x / y, x * y + z), strict=True):
            nearest, zero, up, down = (Fraction(float(v)) for v in results)
            assert down <= exact <= up
            assert zero == (down if exact > 0 else up)
            assert abs(nearest - exact) == min(up - exact, exact - down)
            if down != exact:
                assert np.nextafter(results[3], np.float32(np.inf)) == results[2]


def test_scalar_intrinsics(load):
    library = load("arithmetic")
    failed = np.full(1, -1, np.int32)
    library.call("scalar_checks", failed)
    assert failed[0] == 0, f"arithmetic.cu:{failed[0]}"


@pytest.mark.corpus
@pytest.mark.parametrize("var", ["float16", "bfloat16", "float64"])
def test_var_is_the_problems_type(load, var):
    library = load("arithmetic", var=var)
    x = np.arange(300) % 50 - 20.0
    if var == "bfloat16":
        values, out = float_to_bf16(x), float_to_bf16(x * 2)
        library.call("solution", values, out, 2.0, 300)
        np.testing.assert_array_equal(bf16_to_float(out), x * 4)
    else:
        values, out = x.astype(var), (x * 2).astype(var)
        library.call("solution", values, out, 2.0, 300)
        np.testing.assert_array_equal(out, x * 4)
