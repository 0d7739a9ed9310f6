"""The functions of CUDA's libdevice that kernels call most, for Triton's interpreter.

They are computed in float64 and rounded to the type of the result, also the fast ones, whose errors
on a card are larger.
"""

import math
from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, special

Array = NDArray[np.generic]


def _round_away(x: Tensor) -> Tensor:
    """The nearest whole number, ties away from zero."""
    down = x.trunc()
    return torch.where((x - down).abs() >= 0.5, down + x.sign(), down)


def _positive_difference(x: Tensor, y: Tensor) -> Tensor:
    return torch.where(x > y, x - y, torch.where(x <= y, 0.0, x + y))  # NaN stays


_OTHER_NAMES: dict[str, Callable[..., Tensor]] = {
    "abs": torch.abs,
    "add_rn": torch.add,
    "cbrt": lambda x: x.sign() * x.abs() ** (1 / 3),
    "cospi": lambda x: torch.cos(math.pi * torch.remainder(x, 2)),
    "cyl_bessel_i0": special.i0,
    "cyl_bessel_i1": special.i1,
    "div_rn": torch.div,
    **dict.fromkeys(("int2float_rn", "int2double_rn", "double2float_rn"), torch.clone),
    "erfcx": special.erfcx,
    "exp10": lambda x: torch.pow(10.0, x),
    "fabs": torch.abs,
    "fdim": _positive_difference,
    "fdivide": torch.div,
    "fma": lambda x, y, z: x * y + z,
    "j0": special.bessel_j0,
    "j1": special.bessel_j1,
    "ldexp": lambda x, n: x * torch.exp2(n),
    "mul_rn": torch.mul,
    "nearbyint": torch.round,
    "normcdf": special.ndtr,
    "normcdfinv": special.ndtri,
    "powi": torch.pow,
    "rcbrt": lambda x: x.sign() * x.abs() ** (-1 / 3),
    "rcp_rn": torch.reciprocal,
    "remainder": lambda x, y: x - y * torch.round(x / y),
    "rhypot": lambda x, y: 1 / torch.hypot(x, y),
    "rint": torch.round,
    "round": _round_away,
    "rsqrt_rn": torch.rsqrt,
    "scalbn": lambda x, n: x * torch.exp2(n),
    "saturate": lambda x: x.nan_to_num(0.0).clamp(0.0, 1.0),
    "sinpi": lambda x: torch.sin(math.pi * torch.remainder(x, 2)),
    "sqrt_rn": torch.sqrt,
    "sub_rn": torch.sub,
    "y0": special.bessel_y0,
    "y1": special.bessel_y1,
}
_SAME_NAMES = (
    "acos acosh asin asinh atan atan2 atanh ceil copysign cos cosh erf erfc erfinv exp exp2 expm1 "
    "floor fmod hypot lgamma log log10 log1p log2 pow rsqrt sin sinh sqrt tan tanh trunc"
)
_FLOATS = {name: getattr(torch, name) for name in _SAME_NAMES.split()} | _OTHER_NAMES

_PREDICATES = {
    "isnan": torch.isnan,
    "isinf": torch.isinf,
    "isfinite": torch.isfinite,
    "finite": torch.isfinite,
    "signbit": torch.signbit,
}
_WHOLE = {
    "rn": torch.round,
    "rz": torch.trunc,
    "rd": torch.floor,
    "ru": torch.ceil,
}
_BITS = (
    *("int_as_float", "float_as_int", "uint_as_float", "float_as_uint"),
    *("longlong_as_double", "double_as_longlong"),
)


def call(symbol: str, arguments: list[Array], kind: "np.dtype[np.generic]") -> Array | None:
    """What the function ``symbol`` of libdevice gives, as ``kind``; None if it is not known here.

    ``arguments`` are float32, float64 or integers, of one shape.
    """
    name = symbol.removeprefix("__nv_")
    if name in _BITS:
        return arguments[0].view(kind)
    wide = [torch.from_numpy(np.array(x, dtype=np.float64)) for x in arguments]
    if (whole := _to_integer(name)) is not None:
        limits = np.iinfo(str(kind))
        rounded = whole(wide[0]).nan_to_num(0.0).numpy()
        # In float64 the largest 64-bit integer would be one more than that.
        inside = np.where(rounded >= limits.max, 0, np.maximum(rounded, limits.min)).astype(kind)
        return np.where(rounded >= limits.max, limits.max, inside)
    if (known := _predicate(name)) is not None:
        return known(wide[0]).numpy().astype(kind)
    function = _function(name)
    return None if function is None else function(*wide).numpy().astype(kind)


def _to_integer(name: str) -> Callable[[Tensor], Tensor] | None:
    """How ``float2int_rz``, ``double2ll_rn``, ``llrintf``, … round; None for other names."""
    if name.removesuffix("f") in ("llrint", "llround"):
        return torch.round if "rint" in name else _round_away
    source, _, target = name.partition("2")
    kind, _, mode = target.partition("_")
    return _WHOLE.get(mode) if source in ("float", "double") and kind in ("int", "ll") else None


def _predicate(name: str) -> Callable[[Tensor], Tensor] | None:
    return _PREDICATES.get(name) or _PREDICATES.get(name[:-1])  # isnanf, isnand


def _function(name: str) -> Callable[..., Tensor] | None:
    name = name.removeprefix("fast_")
    if name.endswith("_rn"):
        short = "fma" if name.startswith("fma") else name[1:]  # fadd_rn, dadd_rn
        return _FLOATS.get(name) or _FLOATS.get(short)
    return _FLOATS.get(name) or _FLOATS.get(name.removesuffix("f"))
