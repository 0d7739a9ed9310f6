"""Take apart operations that torch has as one, into those that the emulation knows.

Each is the textbook's stable form, called with torch's own arguments inside the emulation.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import torch
from torch import Tensor
from torch._ops import OpOverload

Operation: TypeAlias = OpOverload[..., Any]
"""One operation of torch, as its dispatcher calls it."""

Dims: TypeAlias = int | Sequence[int] | None
"""Dimensions as torch takes them; None for all."""


def _softmax(func: Operation, x: Tensor, dim: int, half_to_float: bool = False) -> Tensor:  # noqa: ARG001
    powers = torch.exp(x - torch.amax(x, dim, keepdim=True))
    return powers / powers.sum(dim, keepdim=True)


def _log_softmax(func: Operation, x: Tensor, dim: int, half_to_float: bool = False) -> Tensor:  # noqa: ARG001
    shifted = x - torch.amax(x, dim, keepdim=True)
    return shifted - shifted.exp().sum(dim, keepdim=True).log()


def _logsumexp(func: Operation, x: Tensor, dim: Dims, keepdim: bool = False) -> Tensor:  # noqa: ARG001
    dims = listed(dim, x)
    top = torch.amax(x, dims, keepdim=True)
    top = top.where(top.isfinite(), torch.zeros_like(top))
    found = (x - top).exp().sum(dims, keepdim=True).log() + top
    return found if keepdim else found.squeeze(dims)


def listed(dim: Dims, x: Tensor) -> tuple[int, ...]:
    """Dimensions of ``x`` as torch takes them, one by one."""
    return (dim,) if isinstance(dim, int) else tuple(dim or range(x.dim()))


def _moments(
    x: Tensor, dim: Dims, correction: float | None, keepdim: bool
) -> tuple[Tensor, Tensor]:
    """Variance and mean, in two passes."""
    dims = listed(dim, x)
    mean = x.mean(dims, keepdim=True)
    squares = torch.square(x - mean)
    count = math.prod(x.shape[d] for d in dims)
    free = max(0.0, count - (1.0 if correction is None else float(correction)))
    variance = squares.sum(dims, keepdim=keepdim) / free
    return variance, mean if keepdim else mean.squeeze(dims)


def _var(
    func: Operation,
    x: Tensor,
    dim: Dims = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
) -> object:
    variance, mean = _moments(x, dim, correction, keepdim)
    name = func.overloadpacket.__name__
    if name.startswith("std"):
        variance = variance.sqrt()
    return (variance, mean) if name.endswith("_mean") else variance


def _vector_norm(
    func: Operation, x: Tensor, ord: float = 2, dim: Dims = None, keepdim: bool = False, **_: object
) -> Tensor:
    dims = listed(dim, x)
    if ord == 2:
        return torch.square(x.abs()).sum(dims, keepdim=keepdim).sqrt()
    if ord == 1:
        return x.abs().sum(dims, keepdim=keepdim)
    found: Tensor = func(x, ord, dim, keepdim)
    return found


def _layer_norm(
    func: Operation,  # noqa: ARG001
    x: Tensor,
    shape: list[int],
    weight: Tensor | None,
    bias: Tensor | None,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    dims = list(range(x.dim() - len(shape), x.dim()))
    variance, mean = _moments(x, dims, 0, True)
    scale = 1 / (variance + eps).sqrt()
    out = (x - mean) * scale
    out = out if weight is None else out * weight
    return out if bias is None else out + bias, mean, scale


COMPOSITES: dict[str, Callable[..., object]] = {
    "_softmax": _softmax,
    "_log_softmax": _log_softmax,
    "logsumexp": _logsumexp,
    **dict.fromkeys(["var", "std", "var_mean", "std_mean"], _var),
    "linalg_vector_norm": _vector_norm,
    "native_layer_norm": _layer_norm,
}
