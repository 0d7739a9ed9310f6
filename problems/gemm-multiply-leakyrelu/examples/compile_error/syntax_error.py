# Not Python: a colon is missing in line 7.
# verdict: compile_error

import torch


def solution(matrix_a, matrix_b, matrix_c, alpha, output_matrix, m, n, k)
    product = torch.matmul(matrix_a.float(), matrix_b.float()) * matrix_c.float()
    output_matrix.copy_(torch.where(product >= 0, product, alpha * product))
