"""cuComplex.h against NumPy's complex numbers."""

import numpy as np
import pytest

N = 64


@pytest.mark.corpus
@pytest.mark.parametrize(("var", "dtype"), [("complex64", "c8"), ("complex128", "c16")])
def test_every_function_of_complex_numbers(load, var, dtype):
    single = dtype == "c8"
    library = load("complex", var=var, defines=("SINGLE",) if single else ())
    generator = np.random.default_rng(5)
    # Magnitudes whose squares would overflow or vanish.
    scale = 10.0 ** generator.uniform(*((-15, 15) if single else (-120, 120)), (2, N))
    parts = generator.standard_normal((2, 2, N))
    a, b = ((parts[0] + 1j * parts[1]) * scale).astype(dtype)
    out = np.zeros((9, N), dtype)
    library.call("solve", a, b, out, N)
    assert library.take_error().code == 0
    wide = np.clongdouble
    x, y = a.astype(wide), b.astype(wide)
    third = x[::-1]
    wanted = [x + y, x - y, x * y, x / y, x.conj(), abs(x), x * y + third, x.imag + 1j * y.real]
    near = 8 * np.finfo(dtype).eps
    magnitude = [abs(x) + abs(y)] * 2 + [abs(x * y), abs(x / y), abs(x), abs(x)]
    magnitude += [abs(x * y) + abs(third), abs(x) + abs(y)]
    for row, (want, size) in enumerate(zip(wanted, magnitude, strict=True)):
        assert (abs(out[row] - want) <= near * size).all(), row
    if single:
        assert (out[8] == a.imag + 1j * a.real).all()
    else:
        with np.errstate(over="ignore"):
            rounded = a.astype("c8")
        finite = np.isfinite(rounded)
        assert finite.any() and (out[8] == rounded)[finite].all()
