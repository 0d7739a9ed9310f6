"""Triton for Hopper, split-K, where that pays; where cuBLAS is as fast as memory, cuBLAS.

As in triton.py, programs share out the sum as well as the output, leave partial sums in a workspace,
and a second kernel adds them up. What is new:

- Large outputs, and all of 16 bits whose rows are aligned, are left to the library: it reads the
  factors at 80 % of what memory can do.
- float32 goes through the tensor cores as three products of TF32 numbers (`tf32x3`): a factor is the
  sum of its first 11 bits and the rest, and only rest times rest is left out. As exact as float32,
  and faster than the units for float32, which take longer than memory here.
- The copy engine (TMA) fetches whole tiles, several steps ahead. It wants rows that start at
  multiples of 16 bytes. Where they do not, threads load single elements into registers: those of the
  next step, before they multiply those of this one. cuBLAS takes three times as long for such rows.
"""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

# Partial sums in half precision, or TF32 alone, are faster than the contract allows.
torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
torch.backends.cuda.matmul.allow_tf32 = False


@triton.jit
def store_part(
    total, partial_ptr, row, column, height, width, ROWS: tl.constexpr, COLUMNS: tl.constexpr
):
    """The workspace has whole tiles: nothing is masked."""
    rows = tl.program_id(2).to(tl.int64) * height + row + tl.arange(0, ROWS)
    columns = column + tl.arange(0, COLUMNS)
    tl.store(partial_ptr + rows[:, None] * width + columns[None, :], total)


@triton.jit(do_not_specialize=["steps"])
def multiply_part(
    a, b, partial_ptr, steps, ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr
):
    # Programs of the same part are neighbours: they run at the same time and read the same rows.
    column, row = tl.program_id(0) * COLUMNS, tl.program_id(1) * ROWS
    part, parts = tl.program_id(2).to(tl.int64), tl.num_programs(2)
    first, last = (steps * part // parts).to(tl.int32), (steps * (part + 1) // parts).to(tl.int32)
    total = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    for step in range(first, last):
        x, y = a.load([row, step * DEPTH]), b.load([step * DEPTH, column])
        total = tl.dot(x, y, total, input_precision="tf32x3")
    height, width = tl.num_programs(1) * ROWS, tl.num_programs(0) * COLUMNS
    store_part(total, partial_ptr, row, column, height, width, ROWS, COLUMNS)


@triton.jit(do_not_specialize=["m", "n", "k", "steps"])
def multiply_part_unaligned(
    a_ptr,
    b_ptr,
    partial_ptr,
    m,
    n,
    k,
    steps,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    MORE: tl.constexpr,
    DEPTH: tl.constexpr,
):
    """Tiles of COLUMNS + MORE columns: 67 are few more than 64, and the next power of two is 128."""
    column, row = tl.program_id(0) * (COLUMNS + MORE), tl.program_id(1) * ROWS
    part, parts = tl.program_id(2).to(tl.int64), tl.num_programs(2)
    first, last = steps * part // parts, steps * (part + 1) // parts
    rows = row + tl.arange(0, ROWS)[:, None]
    columns = column + tl.arange(0, COLUMNS)[None, :]
    more = column + COLUMNS + tl.arange(0, MORE)[None, :]
    terms = tl.arange(0, DEPTH)
    left = (k - first * DEPTH).to(tl.int32)  # terms to the end of the sum
    k = k.to(tl.int64)
    a_tile = a_ptr + rows * k + (first * DEPTH + terms[None, :])
    b_rows = b_ptr + (first * DEPTH + terms[:, None]) * n
    x = tl.load(a_tile, mask=(rows < m) & (terms[None, :] < left), other=0.0)
    y = tl.load(b_rows + columns, mask=(terms[:, None] < left) & (columns < n), other=0.0)
    z = tl.load(b_rows + more, mask=(terms[:, None] < left) & (more < n), other=0.0)
    total = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    total_more = tl.zeros((ROWS, MORE), dtype=tl.float32)
    for _ in range(first, last):
        left -= DEPTH
        a_tile += DEPTH
        b_rows += DEPTH * n
        next_x = tl.load(a_tile, mask=(rows < m) & (terms[None, :] < left), other=0.0)
        next_y = tl.load(b_rows + columns, mask=(terms[:, None] < left) & (columns < n), other=0.0)
        next_z = tl.load(b_rows + more, mask=(terms[:, None] < left) & (more < n), other=0.0)
        total = tl.dot(x, y, total, input_precision="tf32x3")
        total_more = tl.dot(x, z, total_more, input_precision="tf32x3")
        x, y, z = next_x, next_y, next_z
    height, width = tl.num_programs(1) * ROWS, tl.num_programs(0) * (COLUMNS + MORE)
    store_part(total, partial_ptr, row, column, height, width, ROWS, COLUMNS)
    store_part(total_more, partial_ptr, row, column + COLUMNS, height, width, ROWS, MORE)


@triton.jit(do_not_specialize=["count", "n", "width", "size", "parts"])
def add_parts(
    partial_ptr, o_ptr, count, n, width, size, parts, ELEMENTS: tl.constexpr, PARTS: tl.constexpr
):
    """PARTS partial sums of each element at a time."""
    where = tl.program_id(0) * ELEMENTS + tl.arange(0, ELEMENTS)
    from_ptr = partial_ptr + where // n * width + where % n
    total = tl.zeros((PARTS, ELEMENTS), dtype=tl.float32)
    for start in range(0, parts, 4 * PARTS):
        for i in tl.static_range(4):  # four loads before the first is waited for
            part = start + i * PARTS + tl.arange(0, PARTS)[:, None]
            inside = (part < parts) & (where < count)[None, :]
            total += tl.load(from_ptr[None, :] + part.to(tl.int64) * size, mask=inside, other=0.0)
    tl.store(o_ptr + where, tl.sum(total, 0).to(o_ptr.dtype.element_ty), mask=where < count)


def multiprocessors(tensor):
    if not tensor.is_cuda:
        return 4
    return torch.cuda.get_device_properties(tensor.device).multi_processor_count


def solution(matrix_a, matrix_b, output_matrix, m, n, k):
    single = matrix_a.dtype == torch.float32
    aligned = k % 8 == 0 and n % 8 == 0
    if aligned and (not single or m > 64 or n > 64):
        torch.mm(matrix_a, matrix_b, out=output_matrix)
        return
    rows, columns, more, depth = (64, 64, 0, 32) if aligned else (64, 64, 16, 32)
    down, across = triton.cdiv(m, rows), triton.cdiv(n, columns + more)
    steps = triton.cdiv(k, depth)
    # Two or three programs for each multiprocessor, as many as its registers are enough for, each
    # with 256 terms or more.
    programs = (3 if aligned else 2) * multiprocessors(output_matrix)
    parts = max(1, min(programs // (down * across), triton.cdiv(k, 256)))
    height, width = down * rows, across * (columns + more)
    partial = torch.empty((parts, height, width), dtype=torch.float32, device=matrix_a.device)
    tile = {"ROWS": rows, "COLUMNS": columns, "DEPTH": depth, "num_warps": 4}
    if aligned:
        multiply_part[(across, down, parts)](
            TensorDescriptor.from_tensor(matrix_a, [rows, depth]),
            TensorDescriptor.from_tensor(matrix_b, [depth, columns]),
            partial,
            steps,
            **tile,
            num_stages=3,
        )
    else:
        multiply_part_unaligned[(across, down, parts)](
            matrix_a, matrix_b, partial, m, n, k, steps, **tile, MORE=more, num_stages=1
        )
    add_parts[(triton.cdiv(m * n, 64),)](
        partial,
        output_matrix,
        m * n,
        n,
        width,
        height * width,
        parts,
        ELEMENTS=64,
        PARTS=16,
        num_warps=8,
    )
