"""Triton for Hopper: tiles come by TMA, the tensor cores read them from shared memory, and bias and GELU
are applied while the result is still in registers.

The copy engine (TMA) wants rows that start at multiples of 16 bytes, and the tensor cores take
TF32 factors along k only. What lies otherwise is copied first: that moves each factor once, where
the product reads it dozens of times, and an odd size then costs next to nothing.
"""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit(do_not_specialize=["width", "pitch"])
def copy_rows(x_ptr, y_ptr, width, pitch, BLOCK: tl.constexpr):
    """Row i of x starts at i * width, row i of y at i * pitch."""
    row = tl.program_id(0).to(tl.int64)  # 64-bit, because row * width can pass 2**31
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = columns < width
    x = tl.load(x_ptr + row * width + columns, mask=inside)
    tl.store(y_ptr + row * pitch + columns, x, mask=inside)


@triton.jit(do_not_specialize=["height", "width", "pitch"])
def transpose(x_ptr, y_ptr, height, width, pitch, TILE: tl.constexpr):
    """Column j of x becomes row j of y, which starts at j * pitch."""
    rows = tl.program_id(0).to(tl.int64) * TILE + tl.arange(0, TILE)
    columns = tl.program_id(1).to(tl.int64) * TILE + tl.arange(0, TILE)
    inside = (rows[:, None] < height) & (columns[None, :] < width)
    x = tl.load(x_ptr + rows[:, None] * width + columns[None, :], mask=inside)
    y_tile = y_ptr + columns[:, None] * pitch + rows[None, :]
    tl.store(y_tile, tl.trans(x), mask=tl.trans(inside))


@triton.jit(do_not_specialize=["m", "n", "k"])
def gemm_bias_gelu(
    a,
    b,
    bias_ptr,
    o,
    m,
    n,
    k,
    TRANSPOSED: tl.constexpr,
    BY_TMA: tl.constexpr,
    OVERLAP: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    DEPTH: tl.constexpr,
    GROUP: tl.constexpr,
):
    down, across = tl.cdiv(m, ROWS), tl.cdiv(n, COLUMNS)
    for tile in tl.range(tl.program_id(0), down * across, tl.num_programs(0), flatten=OVERLAP):
        # Programs that run at the same time share rows of A and columns of B in the L2: tiles are
        # taken in groups of a few rows, down before across.
        first = tile // (GROUP * across) * GROUP
        height = min(down - first, GROUP)
        row = (first + tile % (GROUP * across) % height) * ROWS
        column = tile % (GROUP * across) // height * COLUMNS

        total = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
        for depth in range(0, k, DEPTH):  # what lies outside of a matrix arrives as zeros
            x = a.load([row, depth])
            if TRANSPOSED:
                y = b.load([column, depth]).T
            else:
                y = b.load([depth, column])
            total = tl.dot(x, y, total, input_precision="tf32")

        columns = column + tl.arange(0, COLUMNS)
        bias = tl.load(bias_ptr + columns, mask=columns < n, other=0.0).to(tl.float32)
        z = total + bias[None, :]
        result = 0.5 * z * (1.0 + tl.erf(z * 0.7071067811865476))
        if BY_TMA:
            o.store([row, column], result.to(o.dtype))
        else:
            rows = (row + tl.arange(0, ROWS)).to(tl.int64)
            inside = (rows[:, None] < m) & (columns[None, :] < n)
            where = rows[:, None] * n + columns[None, :]
            tl.store(o + where, result.to(o.dtype.element_ty), mask=inside)


def fits(matrix):
    """Whether the copy engine can read the matrix as it is."""
    return matrix.stride(0) * matrix.element_size() % 16 == 0


def aligned(matrix):
    """The matrix, or a copy whose rows start at multiples of 16 bytes."""
    if fits(matrix):
        return matrix
    height, width = matrix.shape
    pitch = triton.cdiv(width, 16) * 16
    copy = torch.empty((height, pitch), dtype=matrix.dtype, device=matrix.device)
    copy_rows[(height, triton.cdiv(width, 1024))](matrix, copy, width, pitch, BLOCK=1024)
    return copy[:, :width]


def transposed(matrix):
    """A copy of the matrix's columns as rows, which start at multiples of 16 bytes."""
    height, width = matrix.shape
    pitch = triton.cdiv(height, 16) * 16
    copy = torch.empty((width, pitch), dtype=matrix.dtype, device=matrix.device)
    grid = (triton.cdiv(height, 64), triton.cdiv(width, 64))
    transpose[grid](matrix, copy, height, width, pitch, TILE=64)
    return copy[:, :height]


def multiprocessors(tensor):
    if not tensor.is_cuda:
        return 4
    return torch.cuda.get_device_properties(tensor.device).multi_processor_count


def solution(matrix_a, matrix_b, bias, output_matrix, m, n, k):
    single = matrix_a.dtype == torch.float32
    a = aligned(matrix_a)
    b = transposed(matrix_b) if single else aligned(matrix_b)
    # A large tile: of each number that comes, 128 or 256 products are made. 128 bytes of a row at a
    # time are what the tensor cores' layout of shared memory has room for.
    rows, columns, depth = 128, 128 if single else 256, 128 // a.element_size()
    programs = triton.cdiv(m, rows) * triton.cdiv(n, columns)
    by_tma = fits(output_matrix)
    # Where sums are short, most of the time goes into storing: a program that takes several tiles
    # stores one while it loads the next. Long sums are faster with a program for each tile.
    overlap = by_tma and k <= 1024
    if overlap:
        programs = min(programs, multiprocessors(output_matrix))
    gemm_bias_gelu[(programs,)](
        TensorDescriptor.from_tensor(a, [rows, depth]),
        TensorDescriptor.from_tensor(b, [columns, depth] if single else [depth, columns]),
        bias,
        TensorDescriptor.from_tensor(output_matrix, [rows, columns]) if by_tma else output_matrix,
        m,
        n,
        k,
        TRANSPOSED=single,
        BY_TMA=by_tma,
        OVERLAP=overlap,
        ROWS=rows,
        COLUMNS=columns,
        DEPTH=depth,
        GROUP=8,
        num_warps=8,
        num_stages=4 if single else 3,
    )
