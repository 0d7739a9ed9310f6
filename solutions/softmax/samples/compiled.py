"""PyTorch, compiled: three operations become one kernel, which Inductor writes in Triton.

`dynamic=True` compiles once for all sizes; without, it would compile again for each case. But
Inductor lays out its blocks for the sizes it sees first, so the first matrix is a large one.
"""

import functools

import torch

LARGE = 512, 2048


@torch.compile(dynamic=True)
def softmax(x):
    wide = x.float()
    exponentials = torch.exp(wide - wide.amax(dim=1, keepdim=True))
    return (exponentials / exponentials.sum(dim=1, keepdim=True)).to(x.dtype)


@functools.cache
def compile_for(dtype, device):
    softmax(torch.zeros(LARGE, dtype=dtype, device=device))


def solution(input_matrix, output_matrix, m, n):
    compile_for(input_matrix.dtype, input_matrix.device)
    output_matrix.copy_(softmax(input_matrix))
