"""Take apart operations that torch has as one, into those that the emulation knows.

Each is the textbook's stable form, called with torch's own arguments inside the emulation.
"""

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
    dims = _listed(dim, x)
    top = torch.amax(x, dims, keepdim=True)
    top = top.where(top.isfinite(), torch.zeros_like(top))
    found = (x - top).exp().sum(dims, keepdim=True).log() + top
    if keepdim:
        return found
    for d in sorted((d % x.dim() for d in dims), reverse=True):
        found = found.squeeze(d)
    return found


def _listed(dim: Dims, x: Tensor) -> list[int]:
    return [dim] if isinstance(dim, int) else list(dim or range(x.dim()))


def _moments(
    x: Tensor, dim: Dims, correction: float | None, keepdim: bool
) -> tuple[Tensor, Tensor]:
    """Variance and mean, in two passes."""
    dims = _listed(dim, x)
    mean = x.mean(dims, keepdim=True)
    squares = torch.square(x - mean)
    count = 1
    for d in dims:
        count *= x.shape[d]
    free = max(0.0, count - (1.0 if correction is None else float(correction)))
    variance = squares.sum(dims, keepdim=keepdim) / free
    if not keepdim:
        for d in sorted((d % x.dim() for d in dims), reverse=True):
            mean = mean.squeeze(d)
    return variance, mean


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
    dims = _listed(dim, x)
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
    if weight is not None:
        out = out * weight
    if bias is not None:
        out = out + bias
    return out, mean, scale


COMPOSITES: dict[str, Callable[..., object]] = {
    "_softmax": _softmax,
    "_log_softmax": _log_softmax,
    "logsumexp": _logsumexp,
    "var": _var,
    "std": _var,
    "var_mean": _var,
    "std_mean": _var,
    "linalg_vector_norm": _vector_norm,
    "native_layer_norm": _layer_norm,
}
