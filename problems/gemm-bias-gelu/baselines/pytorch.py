"""Three steps one after the other in PyTorch: product, bias, GELU. Nothing is fused."""

import torch

# Partial sums in half precision are faster than the contract allows.
torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
torch.backends.cuda.matmul.allow_tf32 = True  # that the contract does allow


def _product(matrix_a, matrix_b):
    """The product in float32: rounded to half precision, it would be too coarse to add to."""
    if matrix_a.dtype == torch.float32:
        return torch.mm(matrix_a, matrix_b)
    if matrix_a.is_cuda:
        return torch.mm(matrix_a, matrix_b, out_dtype=torch.float32)
    return torch.mm(matrix_a.float(), matrix_b.float())


def solution(matrix_a, matrix_b, bias, output_matrix, m, n, k):
    product = _product(matrix_a, matrix_b)
    product.add_(bias)  # still float32: GELU magnifies what is lost before it
    output_matrix.copy_(torch.nn.functional.gelu(product))
