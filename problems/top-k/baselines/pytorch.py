"""PyTorch's own: indices in 64 bits, which are copied into the 32 of the result."""

import torch


def solution(input_matrix, values, indices, m, n, k):
    found, places = torch.topk(input_matrix, k, dim=1)
    values.copy_(found)
    indices.copy_(places)
