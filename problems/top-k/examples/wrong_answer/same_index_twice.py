# The right values, and for each the place where it is found first: equal values get the same index.
# verdict: wrong_answer

import torch


def solution(input_matrix, values, indices, m, n, k):
    values.copy_(torch.sort(input_matrix, dim=1, descending=True).values[:, :k])
    for turn in range(k):
        equal = (input_matrix == values[:, turn : turn + 1]).to(torch.uint8)
        indices[:, turn] = torch.argmax(equal, dim=1)
