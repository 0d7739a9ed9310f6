"""Classify torch operations by how the emulation computes them."""

from collections.abc import Mapping
from enum import Enum, auto
from functools import cache

import torch
from torch import Tensor

from harness.verify.arithmetic.composites import COMPOSITES, Operation


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
    """Sums many terms: order and accumulator matter."""
    COMPOSITE = auto()
    """Made of several of these: taken apart."""
    UNKNOWN = auto()
    """Not known; may sum."""


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
