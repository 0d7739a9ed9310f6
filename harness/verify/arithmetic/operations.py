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


_SUMS_NAMES = """
sum mean mm bmm mv dot vdot addmm baddbmm addmv cumsum convolution _fft_c2c _fft_r2c _fft_c2r
"""
_PRODUCTS_NAMES = "mm bmm mv dot vdot addmm baddbmm addmv convolution"
_ADDITIONS_NAMES = "add sub rsub addcmul"
_FUNCTIONS_NAMES = """
exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan atan2 sinh cosh tanh sigmoid erf
erfc pow rsqrt softplus gelu silu mish hypot
"""
_STEPS_NAMES = "polar addr outer lerp linspace"
_EXACT_NAMES = """
eq ne lt le gt ge logical_and logical_or logical_not logical_xor bitwise_and bitwise_or
bitwise_not bitwise_xor neg abs sign sgn where maximum minimum max min amax amin aminmax argmax
argmin clamp clamp_min clamp_max relu floor ceil round trunc isnan isinf isfinite signbit copysign
fmax fmin masked_fill fill zero copy _to_copy clone lift_fresh detach empty empty_like
empty_strided zeros zeros_like ones ones_like full full_like new_zeros new_ones new_full new_empty
new_empty_strided scalar_tensor arange eye cat stack index index_select gather scatter index_put
_index_put_impl take sort topk flip roll tril triu constant_pad_nd repeat _unsafe_view nonzero
masked_select masked_scatter _local_scalar_dense equal searchsorted bucketize view_as_real
view_as_complex complex resolve_conj resolve_neg _conj_physical conj_physical real imag bernoulli
random ldexp threshold heaviside unique_consecutive _unique2 index_copy index_fill slice_scatter
select_scatter diagonal_scatter repeat_interleave replication_pad1d replication_pad2d
reflection_pad1d reflection_pad2d max_pool2d max_pool2d_with_indices tril_indices triu_indices
_reshape_alias histc bincount cummax cummin median kthvalue mode nan_to_num
"""

_SUMS = frozenset(_SUMS_NAMES.split())
PRODUCTS = frozenset(_PRODUCTS_NAMES.split())
"""Sums whose terms are products of two tensors' elements."""

_ADDITIONS = frozenset(_ADDITIONS_NAMES.split())
_FUNCTIONS = frozenset(_FUNCTIONS_NAMES.split())
_STEPS = frozenset(_STEPS_NAMES.split())
_EXACT = frozenset(_EXACT_NAMES.split())


@cache
def base_name(func: Operation) -> str:
    """``add`` for ``aten.add_.Tensor``; the leading underscore of a private name stays."""
    name: str = func.overloadpacket.__name__
    return name.rstrip("_")


def classify(
    func: Operation, args: tuple[object, ...], kwargs: Mapping[str, object]
) -> OperationKind:
    """The kind of an operation with these arguments."""
    kind = _kind(func)
    return kind if kind is OperationKind.EXACT or _floating(args, kwargs) else OperationKind.EXACT


@cache
def _kind(func: Operation) -> OperationKind:
    """The kind of an operation on numbers that are not integers."""
    name = base_name(func)
    if func.is_view or name in _EXACT:
        return OperationKind.EXACT
    if name in COMPOSITES:
        return OperationKind.COMPOSITE
    if name in _SUMS and not func._schema.is_mutable:
        return OperationKind.SUM
    if name in _ADDITIONS:
        return OperationKind.ADDITION
    if name in _FUNCTIONS:
        return OperationKind.FUNCTION
    if name in _STEPS or torch.Tag.pointwise in func.tags:
        return OperationKind.STEP
    return OperationKind.UNKNOWN


def tensors(values: object) -> list[Tensor]:
    """All tensors in arguments or results, however deep."""
    if isinstance(values, Tensor):
        return [values]
    if isinstance(values, Mapping):
        values = values.values()
    elif not isinstance(values, (tuple, list)):
        return []
    return [x for value in values for x in tensors(value)]


def _floating(args: tuple[object, ...], kwargs: Mapping[str, object]) -> bool:
    """Whether anything rounded goes in: float64 or complex128."""
    for x in (*args, *kwargs.values()):
        if isinstance(x, Tensor):
            if x.is_floating_point() or x.is_complex():
                return True
        elif isinstance(x, (tuple, list)) and _floating(tuple(x), {}):
            return True
    return False
