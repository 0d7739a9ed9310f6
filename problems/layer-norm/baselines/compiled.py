"""The steps of pytorch.py as torch.compile fuses them."""

import functools

import torch


def _fused(input_matrix, gamma, beta, eps, output_matrix, mean, rstd):
    rows = input_matrix.float()
    mean.copy_(torch.mean(rows, dim=1))
    centred = rows - torch.mean(rows, dim=1, keepdim=True)
    inverse = torch.rsqrt(torch.mean(centred.square(), dim=1) + eps)
    rstd.copy_(inverse)
    output_matrix.copy_(centred * inverse[:, None] * gamma + beta)


@functools.cache
def _compiled():
    import torch._dynamo
    import torch._inductor.config

    # One process compiles: a runner may not start others as it likes. Each shape gets code of its
    # own; after as many as are timed, what comes is not compiled.
    torch._inductor.config.compile_threads = 1
    torch._dynamo.config.recompile_limit = 4
    return torch.compile(_fused, dynamic=False)


def solution(input_matrix, gamma, beta, eps, output_matrix, mean, rstd, m, n):
    # Without a GPU there is nothing to compile for.
    run = _compiled() if output_matrix.device.type == "cuda" else _fused
    run(input_matrix, gamma, beta, eps, output_matrix, mean, rstd)
