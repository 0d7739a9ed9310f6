"""One reduction after the other in PyTorch: the matrix is read twice."""

import torch


def solution(input_matrix, scale, row_mean, largest, m, n):
    torch.sum(input_matrix, dim=1, dtype=torch.float32, out=row_mean)
    row_mean.mul_(scale)
    largest.copy_(torch.argmax(input_matrix, dim=1))  # the first one, where several are equal
