# Allocates host memory until there is none: 8 GiB that are used, then up to 64 GiB that are not.
# verdict: memory_limit

import torch

_kept = []


def solution(matrix_a, matrix_b, matrix_c, alpha, output_matrix, m, n, k):
    while len(_kept) < 64:
        block = bytearray(1 << 30)
        if len(_kept) < 8:
            block[::4096] = b"1" * (1 << 18)
        _kept.append(block)
    product = torch.matmul(matrix_a.float(), matrix_b.float()) * matrix_c.float()
    output_matrix.copy_(torch.where(product >= 0, product, alpha * product))
