"""Classify torch operations by how the emulation computes them, and take apart composite ones.

Each is taken apart into its textbook's stable form, called inside the emulation.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from enum import Enum, auto
from functools import cache
from typing import Any, TypeAlias

import torch
from torch import Tensor
from torch._ops import OpOverload

Operation: TypeAlias = OpOverload[..., Any]
"""One operation of torch, as its dispatcher calls it."""

Dims: TypeAlias = int | Sequence[int] | None
"""Dimensions as torch takes them; None for all."""


class OperationKind(Enum):
    """How an operation is emulated."""

    EXACT = auto()
    """Moves, selects or compares: no rounding in any format."""
    STEP = auto()
    """One rounding of an element that depends on a few others."""
    ADDITION = auto()
    """The same, and it may be one of many that make up a sum."""
    FUNCTION = auto()
    """An exponential or the like: good to a few units in the last place."""
    SUM = auto()
    """Sums many terms: order and accumulator matter. Of convolutions those not transposed."""
    COMPOSITE = auto()
    """Made of several of these: taken apart."""
    UNKNOWN = auto()
    """Not known; may sum."""


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


_PRODUCTS = "mm bmm mv dot vdot addmm baddbmm addmv convolution"
PRODUCTS = frozenset(_PRODUCTS.split())
"""Sums whose terms are products of two tensors' elements."""

_NAMES = {
    OperationKind.EXACT: """
        eq ne lt le gt ge logical_and logical_or logical_not logical_xor bitwise_and bitwise_or
        bitwise_not bitwise_xor neg abs sign sgn where maximum minimum max min amax amin aminmax
        argmax argmin clamp clamp_min clamp_max relu floor ceil round trunc isnan isinf isfinite
        signbit copysign fmax fmin masked_fill fill zero copy _to_copy clone lift_fresh detach
        empty empty_like empty_strided zeros zeros_like ones ones_like full full_like new_zeros
        new_ones new_full new_empty new_empty_strided scalar_tensor arange eye cat stack index
        index_select gather scatter index_put _index_put_impl take sort topk flip roll tril triu
        constant_pad_nd repeat _unsafe_view nonzero masked_select masked_scatter
        _local_scalar_dense equal searchsorted bucketize view_as_real view_as_complex complex
        resolve_conj resolve_neg _conj_physical conj_physical real imag bernoulli random ldexp
        threshold heaviside unique_consecutive _unique2 index_copy index_fill slice_scatter
        select_scatter diagonal_scatter repeat_interleave replication_pad1d replication_pad2d
        reflection_pad1d reflection_pad2d max_pool2d max_pool2d_with_indices tril_indices
        triu_indices _reshape_alias histc bincount cummax cummin median kthvalue mode nan_to_num
    """,
    OperationKind.STEP: "polar addr outer lerp linspace",
    OperationKind.ADDITION: "add sub rsub addcmul",
    OperationKind.FUNCTION: """
        exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan atan2 sinh cosh tanh sigmoid
        erf erfc pow rsqrt softplus gelu silu mish hypot
    """,
    OperationKind.SUM: f"{_PRODUCTS} sum mean cumsum _fft_c2c _fft_r2c _fft_c2r",
    OperationKind.COMPOSITE: " ".join(COMPOSITES),
}
_KINDS = {name: kind for kind, names in _NAMES.items() for name in names.split()}


@cache
def base_name(func: Operation) -> str:
    """``add`` for ``aten.add_.Tensor``; the leading underscore of a private name stays."""
    name: str = func.overloadpacket.__name__
    return name.rstrip("_")


def classify(func: Operation, arguments: object) -> OperationKind:
    """The kind of an operation with these arguments."""
    rounds = any(x.is_floating_point() or x.is_complex() for x in tensors(arguments))
    return _kind(func) if rounds else OperationKind.EXACT


@cache
def _kind(func: Operation) -> OperationKind:
    """The kind of an operation on numbers that are not integers."""
    if func.is_view:
        return OperationKind.EXACT
    kind = _KINDS.get(base_name(func))
    if kind is None or (kind is OperationKind.SUM and func._schema.is_mutable):
        pointwise = torch.Tag.pointwise in func.tags
        return OperationKind.STEP if pointwise else OperationKind.UNKNOWN
    return kind


def tensors(values: object) -> list[Tensor]:
    """All tensors in arguments or results, however deep."""
    if isinstance(values, Tensor):
        return [values]
    if isinstance(values, Mapping):
        values = values.values()
    elif not isinstance(values, (tuple, list)):
        return []
    return [x for value in values for x in tensors(value)]
