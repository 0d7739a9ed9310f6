# dtypes: float16, bfloat16
"""Triton for Hopper: tiles come by TMA, the tensor cores read them from shared memory, and the bias
is added while the result is still in registers. The batch is one tall matrix.

The copy engine (TMA) wants rows that start at multiples of 16 bytes. A matrix whose rows do not is
copied first: that moves it once, where the product reads it dozens of times, and an odd size then
costs next to nothing.
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


@triton.jit(do_not_specialize=["height", "n", "k"])
def linear(
    a,
    b,
    bias_ptr,
    o,
    height,
    n,
    k,
    BY_TMA: tl.constexpr,
    OVERLAP: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    DEPTH: tl.constexpr,
    GROUP: tl.constexpr,
):
    down, across = tl.cdiv(height, ROWS), tl.cdiv(n, COLUMNS)
    for tile in tl.range(tl.program_id(0), down * across, tl.num_programs(0), flatten=OVERLAP):
        # Programs that run at the same time share rows of A and columns of B in the L2: tiles are
        # taken in groups of a few rows, down before across.
        first = tile // (GROUP * across) * GROUP
        members = min(down - first, GROUP)
        row = (first + tile % (GROUP * across) % members) * ROWS
        column = tile % (GROUP * across) // members * COLUMNS

        total = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
        for depth in range(0, k, DEPTH):  # what lies outside of a matrix arrives as zeros
            x = a.load([row, depth])
            y = b.load([depth, column])
            total = tl.dot(x, y, total)

        columns = column + tl.arange(0, COLUMNS)
        bias = tl.load(bias_ptr + columns, mask=columns < n, other=0.0).to(tl.float32)
        result = total + bias[None, :]
        if BY_TMA:
            o.store([row, column], result.to(o.dtype))
        else:
            rows = (row + tl.arange(0, ROWS)).to(tl.int64)
            inside = (rows[:, None] < height) & (columns[None, :] < n)
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


def multiprocessors(tensor):
    if not tensor.is_cuda:
        return 4
    return torch.cuda.get_device_properties(tensor.device).multi_processor_count


def solution(matrix_x, weight, bias, output_matrix, batch, m, n, k):
    height = batch * m
    a, b = aligned(matrix_x.view(height, k)), aligned(weight)
    output = output_matrix.view(height, n)
    # A large tile: of each number that comes, 128 or 256 products are made. 128 bytes of a row at a
    # time are what the tensor cores' layout of shared memory has room for.
    rows, columns, depth = 128, 256, 64
    programs = triton.cdiv(height, rows) * triton.cdiv(n, columns)
    by_tma = fits(output)
    # Where sums are short, most of the time goes into storing: a program that takes several tiles
    # stores one while it loads the next. Long sums are faster with a program for each tile.
    overlap = by_tma and k <= 1024
    if overlap:
        programs = min(programs, multiprocessors(output))
    linear[(programs,)](
        TensorDescriptor.from_tensor(a, [rows, depth]),
        TensorDescriptor.from_tensor(b, [depth, columns]),
        bias,
        TensorDescriptor.from_tensor(output, [rows, columns]) if by_tma else output,
        height,
        n,
        k,
        BY_TMA=by_tma,
        OVERLAP=overlap,
        ROWS=rows,
        COLUMNS=columns,
        DEPTH=depth,
        GROUP=8,
        num_warps=8,
        num_stages=3,
    )
