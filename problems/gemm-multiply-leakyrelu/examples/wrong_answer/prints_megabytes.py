# Prints 50 MB and returns; the output is never written.
# verdict: wrong_answer

import torch  # noqa: F401

_printed = []


def solution(matrix_a, matrix_b, matrix_c, alpha, output_matrix, m, n, k):
    # 50 MB, once.
    if not _printed:
        _printed.append(True)
        for _ in range(500):
            print("All work and no play makes Jack a dull boy.\n" * 2300)
