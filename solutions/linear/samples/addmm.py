"""PyTorch: all members of the batch, and the bias, in one call of cuBLASLt.

The members share the weights, so their rows are the rows of one tall matrix: a view, nothing moves.
`torch.addmm` with a bias that has one dimension becomes a product with the epilogue BIAS: the bias
is added to the float32 sums in registers, before they are rounded and stored.

Tensor cores want rows that start at multiples of 16 bytes. Where the sizes of a 16-bit type are odd
it is cheaper to copy the factors into matrices with longer rows, and the result back, than to
multiply with a slow kernel. float32 goes without tensor cores here (TF32 is not allowed), and
without copies.
"""

import torch

# Partial sums in half precision are faster than the contract allows.
torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
torch.backends.cuda.matmul.allow_tf32 = False  # nor does it allow TF32


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


def solution(matrix_x, weight, bias, output_matrix, batch, m, n, k):
    rows, result = matrix_x.view(batch * m, k), output_matrix.view(batch * m, n)
    if rows.device.type == "cpu":  # processors round sums of the 16-bit types in other places
        torch.add(rows.float() @ weight.float(), bias, out=result)
        return
    depth, width = _whole(k, rows), _whole(n, rows)
    if (depth, width) == (k, n) or rows.dtype == torch.float32:
        torch.addmm(bias, rows, weight, out=result)
        return
    if depth != k:
        rows = _padded(rows, batch * m, depth)
    wide = torch.addmm(_padded(bias[None], 1, width)[0], rows, _padded(weight, depth, width))
    result.copy_(wide[:, :n])
