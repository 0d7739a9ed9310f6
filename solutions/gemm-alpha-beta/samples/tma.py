# dtypes: float16, bfloat16
"""Triton for Hopper: tiles come by TMA, the tensor cores read them from shared memory, and α, β and C come
in while the result is still in registers.

The copy engine (TMA) wants rows that start at multiples of 16 bytes. A block whose rows do not is
copied first: that moves it once, where the product reads it dozens of times, and an odd size then
costs next to nothing.
"""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit(do_not_specialize=["ld", "width", "pitch"])
def copy_rows(x_ptr, y_ptr, ld, width, pitch, BLOCK: tl.constexpr):
    """Row i of x starts at i * ld, row i of y at i * pitch."""
    row = tl.program_id(0).to(tl.int64)  # 64-bit, because row * ld can pass 2**31
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = columns < width
    x = tl.load(x_ptr + row * ld + columns, mask=inside)
    tl.store(y_ptr + row * pitch + columns, x, mask=inside)


@triton.jit(do_not_specialize=["alpha", "beta", "m", "n", "k", "ld_c"])
def gemm(
    a,
    b,
    c,
    alpha,
    beta,
    m,
    n,
    k,
    ld_c,
    READ: tl.constexpr,
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
            y = b.load([depth, column])
            total = tl.dot(x, y, total)

        result = total * alpha
        if BY_TMA:
            if READ:  # where β is 0, C may hold anything
                result += c.load([row, column]).to(tl.float32) * beta
            c.store([row, column], result.to(c.dtype))
        else:
            rows = (row + tl.arange(0, ROWS)).to(tl.int64)
            columns = column + tl.arange(0, COLUMNS)
            inside = (rows[:, None] < m) & (columns[None, :] < n)
            where = c + rows[:, None] * ld_c + columns[None, :]
            if READ:
                result += tl.load(where, mask=inside, other=0.0).to(tl.float32) * beta
            tl.store(where, result.to(c.dtype.element_ty), mask=inside)


def fits(matrix):
    """Whether the copy engine can read the matrix as it is."""
    return matrix.data_ptr() % 16 == 0 and matrix.stride(0) * matrix.element_size() % 16 == 0


def aligned(matrix):
    """The matrix, or a copy whose rows start at multiples of 16 bytes."""
    if fits(matrix):
        return matrix
    height, width = matrix.shape
    pitch = triton.cdiv(width, 16) * 16
    copy = torch.empty((height, pitch), dtype=matrix.dtype, device=matrix.device)
    grid = (height, triton.cdiv(width, 1024))
    copy_rows[grid](matrix, copy, matrix.stride(0), width, pitch, BLOCK=1024)
    return copy[:, :width]


def multiprocessors(tensor):
    if not tensor.is_cuda:
        return 4
    return torch.cuda.get_device_properties(tensor.device).multi_processor_count


def solution(matrix_a, matrix_b, matrix_c, alpha, beta, m, n, k, ld_a, ld_b, ld_c):
    a, b = aligned(matrix_a), aligned(matrix_b)
    # A large tile: of each number that comes, 128 or 256 products are made. 128 bytes of a row at a
    # time are what the tensor cores' layout of shared memory has room for.
    rows, columns, depth, warps, stages = 128, 256, 64, 8, 3
    if n <= 128:  # few columns: the rows of A are shared out among more programs
        rows, columns, warps, stages = 64, 128, 4, 6
    elif beta != 0:  # a tile of C needs room, too
        columns = 128
    programs = triton.cdiv(m, rows) * triton.cdiv(n, columns)
    by_tma = fits(matrix_c)
    # Where sums are short, most of the time goes into storing: a program that takes several tiles
    # stores one while it loads the next. Long sums are faster with a program for each tile.
    overlap = by_tma and k <= 1024
    if overlap:
        programs = min(programs, multiprocessors(matrix_c))
    gemm[(programs,)](
        TensorDescriptor.from_tensor(a, [rows, depth]),
        TensorDescriptor.from_tensor(b, [depth, columns]),
        TensorDescriptor.from_tensor(matrix_c, [rows, columns]) if by_tma else matrix_c,
        alpha,
        beta,
        m,
        n,
        k,
        ld_c,
        READ=beta != 0,
        BY_TMA=by_tma,
        OVERLAP=overlap,
        ROWS=rows,
        COLUMNS=columns,
        DEPTH=depth,
        GROUP=8,
        num_warps=warps,
        num_stages=stages,
    )
