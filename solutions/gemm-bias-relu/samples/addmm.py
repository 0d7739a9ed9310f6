"""PyTorch: product, bias and rectifier in one call of cuBLASLt.

`torch._addmm_activation` is what PyTorch calls for a linear layer with a rectifier; with a bias
that has one dimension it becomes a product with the epilogue RELU_BIAS. Bias and rectifier are
applied to the float32 sums in registers, before they are rounded and stored: nothing is read or
written twice.

The fastest kernels load 16 bytes at a time, so each row has to start at a multiple of 16 bytes.
Where the sizes are odd it is cheaper to copy the factors into matrices with longer rows, and the
result back, than to multiply with a slow kernel. The zeros at the end of the rows add nothing to a
sum.
"""

import torch

# Partial sums in half precision are faster than the contract allows.
torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
torch.backends.cuda.matmul.allow_tf32 = True  # that the contract does allow


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


def solution(matrix_a, matrix_b, bias, output_matrix, m, n, k):
    if matrix_a.device.type == "cpu":  # processors round sums of the 16-bit types in other places
        torch.add(matrix_a.float() @ matrix_b.float(), bias, out=output_matrix).relu_()
        return
    depth, width = _whole(k, matrix_a), _whole(n, matrix_a)
    if (depth, width) == (k, n):
        torch._addmm_activation(bias, matrix_a, matrix_b, out=output_matrix)
        return
    if depth != k:
        matrix_a = _padded(matrix_a, m, depth)
    result = torch._addmm_activation(
        _padded(bias[None], 1, width)[0], matrix_a, _padded(matrix_b, depth, width)
    )
    output_matrix.copy_(result[:, :n])
