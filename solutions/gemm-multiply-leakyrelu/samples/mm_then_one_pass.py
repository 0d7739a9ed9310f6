"""The library's product, then one pass in Triton: multiply by C, rectify.

No epilogue of cuBLASLt multiplies by a matrix. But the product may be rounded to the data type
here, so it can go to memory in two bytes and come back once; separate steps carry it there twice.
Whatever is left to win is that one way.

Tensor cores want rows that start at multiples of 16 bytes. Where the sizes of a 16-bit type are odd
it is cheaper to copy the factors into matrices with longer rows than to multiply with a slow
kernel; the pass reads of the longer result what counts. float32 goes without tensor cores here
(TF32 is not allowed), and without copies.
"""

import torch
import triton
import triton.language as tl

# Partial sums in half precision are faster than the contract allows.
torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
torch.backends.cuda.matmul.allow_tf32 = False  # nor does it allow TF32


@triton.jit
def multiply_leakyrelu(
    product_ptr, c_ptr, o_ptr, alpha, m, n, stride, ROWS: tl.constexpr, COLUMNS: tl.constexpr
):
    rows = (tl.program_id(0) * ROWS + tl.arange(0, ROWS)).to(tl.int64)[:, None]
    columns = (tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS))[None, :]
    inside = (rows < m) & (columns < n)
    where = rows * n + columns
    product = tl.load(product_ptr + rows * stride + columns, mask=inside, other=0.0)
    z = product.to(tl.float32) * tl.load(c_ptr + where, mask=inside, other=0.0).to(tl.float32)
    result = tl.where(z >= 0, z, z * alpha)
    tl.store(o_ptr + where, result.to(o_ptr.dtype.element_ty), mask=inside)


def _padded(matrix, rows, columns):
    """A copy with zeros below and to the right."""
    copy = matrix.new_empty(rows, columns)
    height, width = matrix.shape
    copy[height:].zero_()
    copy[:height, width:].zero_()
    copy[:height, :width].copy_(matrix)
    return copy


def _whole(size, matrix):
    """The next multiple of 16 bytes, in elements."""
    step = 16 // matrix.element_size()
    return -(-size // step) * step


def solution(matrix_a, matrix_b, matrix_c, alpha, output_matrix, m, n, k):
    depth, width = _whole(k, matrix_a), _whole(n, matrix_a)
    if matrix_a.device.type == "cpu":  # processors round sums of the 16-bit types in other places
        product = torch.mm(matrix_a.float(), matrix_b.float())
    elif (depth, width) == (k, n) or matrix_a.dtype == torch.float32:
        product = torch.mm(matrix_a, matrix_b, out=output_matrix)
    else:
        left = _padded(matrix_a, m, depth) if depth != k else matrix_a
        product = torch.mm(left, _padded(matrix_b, depth, width))
    stride = product.shape[1]
    # A thread handles 16 elements, in rows as long as they come.
    columns = min(512, triton.next_power_of_2(n))
    rows = 2048 // columns
    grid = (triton.cdiv(m, rows), triton.cdiv(n, columns))
    multiply_leakyrelu[grid](product, matrix_c, output_matrix, alpha, m, n, stride, rows, columns)
