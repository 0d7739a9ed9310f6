# Multiplies C by beta in place before the product is there: NaN times zero is NaN.
# verdict: wrong_answer

import torch


def solution(matrix_a, matrix_b, matrix_c, alpha, beta, m, n, k, ld_a, ld_b, ld_c):
    product = torch.mm(matrix_a.double(), matrix_b.double()).mul_(alpha)
    matrix_c.copy_(matrix_c.double().mul_(beta).add_(product))
