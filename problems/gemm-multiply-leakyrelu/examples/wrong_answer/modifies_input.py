# The output is right, but C, which is constant, is multiplied in place.
# verdict: wrong_answer

import torch


def solution(matrix_a, matrix_b, matrix_c, alpha, output_matrix, m, n, k):
    matrix_c *= torch.matmul(matrix_a.float(), matrix_b.float()).to(matrix_c.dtype)
    output_matrix.copy_(torch.where(matrix_c >= 0, matrix_c, alpha * matrix_c))
