"""Three steps one after the other in PyTorch: product, bias, rectifier. Nothing is fused."""

import torch

torch.backends.cuda.matmul.allow_tf32 = False  # coarser than the contract allows


def solution(matrix_a, matrix_b, bias, output_matrix, m, n, k):
    torch.mm(matrix_a, matrix_b, out=output_matrix)
    output_matrix.add_(bias.unsqueeze(1))
    output_matrix.relu_()
