# Prints 50 MB, and is right nevertheless. What is printed must cost the judge nothing.
# verdict: accepted

import torch

_printed = []


def solution(matrix_a, matrix_b, matrix_c, alpha, output_matrix, m, n, k):
    # 50 MB, once.
    if not _printed:
        _printed.append(True)
        for _ in range(500):
            print("All work and no play makes Jack a dull boy.\n" * 2300)
    product = torch.matmul(matrix_a.float(), matrix_b.float()) * matrix_c.float()
    output_matrix.copy_(torch.where(product >= 0, product, alpha * product))
