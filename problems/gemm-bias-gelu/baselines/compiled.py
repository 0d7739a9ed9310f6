"""The steps of pytorch.py as torch.compile fuses them."""

import functools

import torch

# Partial sums in half precision are faster than the contract allows.
torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
torch.backends.cuda.matmul.allow_tf32 = True  # that the contract does allow


def _product(matrix_a, matrix_b):
    """The product in float32: rounded to half precision, it would be too coarse to add to."""
    if matrix_a.dtype == torch.float32:
        return torch.mm(matrix_a, matrix_b)
    if matrix_a.device.type == "cuda":
        return torch.mm(matrix_a, matrix_b, out_dtype=torch.float32)
    return torch.mm(matrix_a.float(), matrix_b.float())


def _fused(matrix_a, matrix_b, bias, output_matrix):
    output_matrix.copy_(torch.nn.functional.gelu(_product(matrix_a, matrix_b) + bias))


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
