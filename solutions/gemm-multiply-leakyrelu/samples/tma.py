# dtypes: float16, bfloat16
"""Triton for Hopper: tiles come by TMA, the tensor cores read them from shared memory, and the product
with C and the rectifier are applied while the result is still in registers.

The copy engine (TMA) wants rows that start at multiples of 16 bytes. A matrix whose rows do not is
copied first: that moves it once, where the product reads it dozens of times, and an odd size then
costs little. Where the output has too few tiles for the card, k is shared out as well.
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


@triton.jit
def activated(total, c, alpha):
    z = total * c.to(tl.float32)
    return tl.where(z > 0, z, z * alpha)


@triton.jit(do_not_specialize=["m", "n", "k", "part", "alpha"])
def gemm_multiply_leakyrelu(
    a,
    b,
    c,
    o,
    alpha,
    m,
    n,
    k,
    part,
    FUSED: tl.constexpr,
    OVERLAP: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    DEPTH: tl.constexpr,
    GROUP: tl.constexpr,
):
    """Without FUSED o is the workspace for the sums of each ``part`` of k, one below the other."""
    down, across = tl.cdiv(m, ROWS), tl.cdiv(n, COLUMNS)
    tiles = down * across
    for job in tl.range(
        tl.program_id(0), tiles * tl.cdiv(k, part), tl.num_programs(0), flatten=OVERLAP
    ):
        tile, begin = job % tiles, job // tiles * part
        # Programs that run at the same time share rows of A and columns of B in the L2: tiles are
        # taken in groups of a few rows, down before across.
        first = tile // (GROUP * across) * GROUP
        height = min(down - first, GROUP)
        row = (first + tile % (GROUP * across) % height) * ROWS
        column = tile % (GROUP * across) // height * COLUMNS

        total = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
        # What lies outside of a matrix arrives as zeros.
        for depth in range(begin, min(begin + part, k), DEPTH):
            x = a.load([row, depth])
            y = b.load([depth, column])
            total = tl.dot(x, y, total)

        if FUSED:
            result = activated(total, c.load([row, column]), alpha)
            o.store([row, column], result.to(o.dtype))
        else:
            rows = (row + tl.arange(0, ROWS)).to(tl.int64)
            columns = column + tl.arange(0, COLUMNS)
            inside = (rows[:, None] < m) & (columns[None, :] < n)
            where = (job // tiles * m + rows[:, None]) * n + columns[None, :]
            tl.store(o + where, total, mask=inside)


@triton.jit(do_not_specialize=["alpha", "count", "parts"])
def add_parts(sums_ptr, c_ptr, o_ptr, alpha, count, parts, BLOCK: tl.constexpr):
    """The parts in order, so that the result is the same in every run; then what is fused elsewhere."""
    where = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = where < count
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    sums = sums_ptr + where
    for _ in range(parts):
        total += tl.load(sums, mask=inside, other=0.0)
        sums += count
    result = activated(total, tl.load(c_ptr + where, mask=inside, other=0.0), alpha)
    tl.store(o_ptr + where, result.to(o_ptr.dtype.element_ty), mask=inside)


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


def solution(matrix_a, matrix_b, matrix_c, alpha, output_matrix, m, n, k):
    a, b = aligned(matrix_a), aligned(matrix_b)
    # A large tile: of each number that comes, 128 or 256 products are made. 128 bytes of a row at a
    # time are what the tensor cores' layout of shared memory has room for.
    rows, columns, depth, warps, stages = 128, 256, 64, 8, 3
    if n <= 128:  # few columns: the rows of A are shared out among more programs
        rows, columns, warps, stages = 64, 128, 4, 6
    tiles = triton.cdiv(m, rows) * triton.cdiv(n, columns)
    card = multiprocessors(output_matrix)
    parts = max(1, min(card // tiles, k // 1024))
    part = triton.cdiv(triton.cdiv(k, parts), depth) * depth
    parts = triton.cdiv(k, part)
    # What needs a second pass for its parts has C and the rectifier there. So have odd widths, where
    # C could only be read element by element while the tensor cores wait.
    fused = parts == 1 and fits(output_matrix)
    # Where sums are short, most of the time goes into storing: a program that takes several tiles
    # stores one while it loads the next. Long sums are faster with a program for each tile.
    overlap = fused and k <= 1024
    c = None
    if fused:
        c = TensorDescriptor.from_tensor(matrix_c, [rows, columns])
        target = TensorDescriptor.from_tensor(output_matrix, [rows, columns])
    else:
        target = torch.empty((parts, m, n), dtype=torch.float32, device=output_matrix.device)
    gemm_multiply_leakyrelu[(min(tiles, card) if overlap else tiles * parts,)](
        TensorDescriptor.from_tensor(a, [rows, depth]),
        TensorDescriptor.from_tensor(b, [depth, columns]),
        c,
        target,
        alpha,
        m,
        n,
        k,
        part,
        FUSED=fused,
        OVERLAP=overlap,
        ROWS=rows,
        COLUMNS=columns,
        DEPTH=depth,
        GROUP=8,
        num_warps=warps,
        num_stages=stages,
    )
    if not fused:
        grid = (triton.cdiv(m * n, 1024),)
        add_parts[grid](target, matrix_c, output_matrix, alpha, m * n, parts, BLOCK=1024)
