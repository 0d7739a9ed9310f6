# Fills the output with zeros.
# verdict: wrong_answer

import torch


def solution(matrix_a, matrix_b, matrix_c, alpha, output_matrix, m, n, k):
    output_matrix.copy_(torch.zeros_like(output_matrix))
