# PyTorch's own fused call, which knows strides, scalars, and that beta = 0 does not read C.
# verdict: accepted
# dtypes: float32, float64

import torch


def solution(matrix_a, matrix_b, matrix_c, alpha, beta, m, n, k, ld_a, ld_b, ld_c):
    torch.addmm(matrix_c, matrix_a, matrix_b, alpha=alpha, beta=beta, out=matrix_c)
