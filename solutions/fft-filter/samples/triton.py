"""Triton: both transforms as products with a matrix of roots of unity, n * n steps per row.

Triton knows no complex numbers, but the transform of a row is linear, so it is a product of real
matrices as well: the row as 2n reals, real and imaginary parts in turn, times a matrix of 2n x 2n
reals with a block (cos, -sin; sin, cos) for every root. It depends on n alone, so PyTorch computes
it once, outside of the kernel, and it is kept for the next call.

A program computes a tile of the product, ROWS signals by COLUMNS reals. The first launch also
multiplies by the response: `tl.split` takes the pairs apart, `tl.join` puts them together again.
The second launch has the conjugate roots and divides by n. This works for every length; for long
rows an FFT (fused.cu) has far less to do.
"""

import functools
import math

import torch
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["batch", "width"])
def transform(
    x_ptr,
    matrix_ptr,
    response_ptr,
    out_ptr,
    batch,
    width,
    BACK: tl.constexpr,
    REAL: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    DEPTH: tl.constexpr,
):
    # 64-bit, because row * width can pass 2**31.
    rows = (tl.program_id(0) * ROWS + tl.arange(0, ROWS)).to(tl.int64)[:, None]
    columns = (tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)).to(tl.int64)[None, :]
    depth = tl.arange(0, DEPTH).to(tl.int64)
    x_tile = x_ptr + rows * width + depth[None, :]
    matrix_tile = matrix_ptr + depth[:, None] * width + columns

    total = tl.zeros((ROWS, COLUMNS), dtype=REAL)
    for start in range(0, width, DEPTH):
        left = width - start
        x = tl.load(x_tile, mask=(rows < batch) & (depth[None, :] < left), other=0.0)
        matrix = tl.load(
            matrix_tile, mask=(depth[:, None] < left) & (columns < width), other=0.0
        )
        # "ieee": by default float32 factors would be cut to TF32.
        total = tl.dot(x, matrix, total, input_precision="ieee", out_dtype=REAL)
        x_tile += DEPTH
        matrix_tile += DEPTH * width

    place = rows * width + columns
    inside = (rows < batch) & (columns < width)
    if BACK:
        # Not times 1 / n: a number passed to a kernel is a float32.
        total = total / (width // 2)
    else:
        response = tl.load(response_ptr + place, mask=inside, other=0.0)
        real, imag = tl.split(tl.reshape(total, (ROWS, COLUMNS // 2, 2)))
        f_real, f_imag = tl.split(tl.reshape(response, (ROWS, COLUMNS // 2, 2)))
        product = tl.join(real * f_real - imag * f_imag, real * f_imag + imag * f_real)
        total = tl.reshape(product, (ROWS, COLUMNS))
    tl.store(out_ptr + place, total, mask=inside)


@functools.lru_cache(maxsize=4)
def _matrix(n, dtype, device, sign):
    """exp(sign * 2 pi i j k / n) as blocks of a (2n, 2n) real matrix, computed in float64."""
    j = torch.arange(n, device=device)
    angle = (j[:, None] * j % n).double() * (sign * 2 * math.pi / n)
    cos, sin = angle.cos().to(dtype), angle.sin().to(dtype)
    of_real = torch.stack((cos, sin), dim=2)  # what a real part adds to each (real, imaginary)
    of_imag = torch.stack((-sin, cos), dim=2)
    return torch.stack((of_real, of_imag), dim=1).reshape(2 * n, 2 * n)


def solution(signals, responses, filtered, batch, n):
    x, f, y = (torch.view_as_real(t) for t in (signals, responses, filtered))
    single = x.dtype == torch.float32
    spectrum = torch.empty_like(x)
    forward, back = (_matrix(n, x.dtype, x.device, sign) for sign in (-1, 1))
    shape = {"ROWS": 32, "COLUMNS": 128, "DEPTH": 64}
    shape |= {"num_warps": 4 if single else 8, "num_stages": 2}
    grid = (triton.cdiv(batch, shape["ROWS"]), triton.cdiv(2 * n, shape["COLUMNS"]))
    real = tl.float32 if single else tl.float64
    transform[grid](x, forward, f, spectrum, batch, 2 * n, BACK=False, REAL=real, **shape)
    transform[grid](spectrum, back, f, y, batch, 2 * n, BACK=True, REAL=real, **shape)
