# The right values and the right set of indices, but each in an order of its own.
# verdict: wrong_answer

import torch


def solution(input_matrix, values, indices, m, n, k):
    found, places = torch.topk(input_matrix, k, dim=1)
    values.copy_(found)
    indices.copy_(torch.sort(places, dim=1).values)
