# dtypes: float16, bfloat16
"""Triton for Hopper: tiles come by TMA, the tensor cores read them from shared memory, and bias, scale
and rectifier are applied while the result is still in registers. The weights are one row for each
output, so a tile of them is turned on its way into the tensor cores, which costs nothing.

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


@triton.jit(do_not_specialize=["m", "n", "k"])
def linear_scale_leakyrelu(
    a,
    b,
    bias_ptr,
    scale,
    slope,
    o,
    m,
    n,
    k,
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
            y = b.load([column, depth]).T
            total = tl.dot(x, y, total)

        columns = column + tl.arange(0, COLUMNS)
        bias = tl.load(bias_ptr + columns, mask=columns < n, other=0.0).to(tl.float32)
        z = (total + bias[None, :]) * scale
        result = tl.where(z > 0, z, z * slope)
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


def multiprocessors(tensor):
    if not tensor.is_cuda:
        return 4
    return torch.cuda.get_device_properties(tensor.device).multi_processor_count


def solution(matrix_x, weight, bias, scale, slope, output_matrix, batch, in_features, out_features):
    m, n, k = batch, out_features, in_features
    a, b = aligned(matrix_x), aligned(weight)
    # A large tile: of each number that comes, 128 or 256 products are made. 128 bytes of a row at a
    # time are what the tensor cores' layout of shared memory has room for.
    rows, columns, depth, warps, stages = 128, 256, 64, 8, 3
    if m <= 64:
        # A small batch: the weights' traffic is all that counts, so their rows are shared out among
        # more programs, and each has more of them on the way.
        rows, columns, warps, stages = 64, 128, 4, 6
    programs = triton.cdiv(m, rows) * triton.cdiv(n, columns)
    by_tma = fits(output_matrix)
    # Where sums are short, most of the time goes into storing: a program that takes several tiles
    # stores one while it loads the next. Long sums are faster with a program for each tile.
    overlap = by_tma and k <= 1024
    if overlap:
        programs = min(programs, multiprocessors(output_matrix))
    linear_scale_leakyrelu[(programs,)](
        TensorDescriptor.from_tensor(a, [rows, depth]),
        TensorDescriptor.from_tensor(b, [columns, depth]),
        bias,
        scale,
        slope,
        TensorDescriptor.from_tensor(output_matrix, [rows, columns]) if by_tma else output_matrix,
        m,
        n,
        k,
        BY_TMA=by_tma,
        OVERLAP=overlap,
        ROWS=rows,
        COLUMNS=columns,
        DEPTH=depth,
        GROUP=8,
        num_warps=warps,
        num_stages=stages,
    )
