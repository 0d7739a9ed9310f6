"""The steps of pytorch.py as torch.compile fuses them."""

import functools

import torch


def _fused(input_matrix, output_matrix):
    output_matrix.copy_(torch.softmax(input_matrix.float(), dim=1))


@functools.cache
def _compiled():
    import torch._dynamo
    import torch._inductor.config

    # One process compiles: a runner may not start others as it likes. Each shape gets code of its
    # own; after as many as are timed, what comes is not compiled.
    torch._inductor.config.compile_threads = 1
    torch._dynamo.config.recompile_limit = 4
    return torch.compile(_fused, dynamic=False)


def solution(input_matrix, output_matrix, m, n):
    # Without a GPU there is nothing to compile for.
    run = _compiled() if output_matrix.device.type == "cuda" else _fused
    run(input_matrix, output_matrix)
