"""The steps of pytorch.py as torch.compile fuses them."""

import functools

import torch

torch.backends.cuda.matmul.allow_tf32 = False  # coarser than the contract allows


def _fused(matrix_a, matrix_b, bias, output_matrix):
    product = torch.mm(matrix_a, matrix_b) + bias.unsqueeze(1)
    output_matrix.copy_(torch.relu(product))


@functools.cache
def _compiled():
    import torch._dynamo
    import torch._inductor.config

    # One process compiles: a runner may not start others as it likes. Each shape gets code of its
    # own; after as many as are timed, what comes is not compiled.
    torch._inductor.config.compile_threads = 1
    torch._dynamo.config.recompile_limit = 4
    return torch.compile(_fused, dynamic=False)


def solution(matrix_a, matrix_b, bias, output_matrix, m, n, k):
    # Without a GPU there is nothing to compile for.
    run = _compiled() if output_matrix.device.type == "cuda" else _fused
    run(matrix_a, matrix_b, bias, output_matrix)
