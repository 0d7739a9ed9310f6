# An endless loop.
# verdict: time_limit

import torch  # noqa: F401


def solution(matrix_a, matrix_b, matrix_c, alpha, output_matrix, m, n, k):
    while True:
        pass
