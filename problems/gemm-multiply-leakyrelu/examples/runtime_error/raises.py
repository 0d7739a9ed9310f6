# Raises an exception.
# verdict: runtime_error

import torch  # noqa: F401


def solution(matrix_a, matrix_b, matrix_c, alpha, output_matrix, m, n, k):
    raise ValueError("no luck")
