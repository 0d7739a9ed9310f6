"""The library's matrix product, as PyTorch calls it."""

import torch

# Partial sums in half precision are faster than the contract allows.
torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
torch.backends.cuda.matmul.allow_tf32 = False  # nor does it allow TF32


def solution(matrix_a, matrix_b, output_matrix, m, n, k):
    torch.mm(matrix_a, matrix_b, out=output_matrix)
