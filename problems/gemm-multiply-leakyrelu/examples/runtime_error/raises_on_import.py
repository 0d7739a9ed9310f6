# Raises an exception while it is imported.
# verdict: runtime_error

import torch  # noqa: F401

raise RuntimeError("no luck")


def solution(matrix_a, matrix_b, matrix_c, alpha, output_matrix, m, n, k):
    pass
