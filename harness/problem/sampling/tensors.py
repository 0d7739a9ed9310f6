"""The contents of a case's tensors."""

from hashlib import sha256

import torch

from harness.problem.case import Case
from harness.problem.model import Parameter, Problem
from harness.problem.sampling.distributions import fill


def draw_tensor(
    problem: Problem,
    parameter: Parameter,
    case: Case,
    dtype: str,
    seed: str,
    device: torch.device | str = "cpu",
) -> torch.Tensor:
    """The contents of one tensor of a correctness case, contiguous, on ``device``.

    Drawn by the CPU's generator whatever the device, so that a case is the same everywhere. torch
    keeps 32 of the derived seed's bits; whoever recovers them from the values knows this tensor
    and no other, since each is derived from the secret with SHA-256.

    Raises:
        ExpressionError: the shape has no value for this case.
    """
    key = f"tensor|{seed}|{problem.slug}|{case.spec}|{parameter.name}"
    generator = torch.Generator(device="cpu")
    generator.manual_seed(int.from_bytes(sha256(key.encode()).digest()[:8], "big") >> 1)
    element = getattr(torch, parameter.data_type(dtype).name)
    out = torch.empty(parameter.dimensions(case.values), dtype=element)
    fill(out, parameter, generator=generator, family=case.family)
    return out.to(device)
