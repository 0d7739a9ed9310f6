# The smallest of the negated elements, negated: zeros change their sign, which is the same number.
# verdict: accepted

import torch


def solution(input_matrix, values, indices, m, n, k):
    found, places = torch.topk(-input_matrix, k, dim=1, largest=False)
    values.copy_(-found)
    indices.copy_(places)
