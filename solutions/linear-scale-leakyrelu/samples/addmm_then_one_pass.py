"""The layer by cuBLASLt, its bias fused, then one pass in Triton: scale, rectify.

`torch.addmm` with a bias that has one dimension becomes a product with the epilogue BIAS: the bias
is added to the float32 sums before they are rounded. After that the contract lets the layer's
result be rounded, so it goes to memory in the data type and comes back once; separate steps carry
it there three times. `weight.t()` is a view: libraries read transposed matrices as fast as others.

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
def scale_leakyrelu(
    layer_ptr, o_ptr, scale, slope, m, n, stride, ROWS: tl.constexpr, COLUMNS: tl.constexpr
):
    rows = (tl.program_id(0) * ROWS + tl.arange(0, ROWS)).to(tl.int64)[:, None]
    columns = (tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS))[None, :]
    inside = (rows < m) & (columns < n)
    z = tl.load(layer_ptr + rows * stride + columns, mask=inside, other=0.0).to(tl.float32) * scale
    result = tl.where(z >= 0, z, z * slope)
    tl.store(o_ptr + rows * n + columns, result.to(o_ptr.dtype.element_ty), mask=inside)


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


def solution(matrix_x, weight, bias, scale, slope, output_matrix, batch, in_features, out_features):
    m, n = batch, out_features
    depth, width = _whole(in_features, matrix_x), _whole(n, matrix_x)
    if matrix_x.device.type == "cpu":  # processors round sums of the 16-bit types in other places
        layer = torch.add(matrix_x.float() @ weight.float().t(), bias)
    elif (depth, width) == (in_features, n) or matrix_x.dtype == torch.float32:
        layer = torch.addmm(bias, matrix_x, weight.t(), out=output_matrix)
    else:
        left = _padded(matrix_x, m, depth) if depth != in_features else matrix_x
        right = _padded(weight, width, depth)
        layer = torch.addmm(_padded(bias[None], 1, width)[0], left, right.t())
    stride = layer.shape[1]
    # A thread handles 16 elements, in rows as long as they come.
    columns = min(512, triton.next_power_of_2(n))
    rows = 2048 // columns
    grid = (triton.cdiv(m, rows), triton.cdiv(n, columns))
    scale_leakyrelu[grid](layer, output_matrix, scale, slope, m, n, stride, rows, columns)
