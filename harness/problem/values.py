"""What the tensors of a case hold: the declared distribution, or a family made to be awkward.

The families keep what a kernel computes inside the range of the data type, and leave sums that are
exact in float32 wherever the values are not random (``integers``, ``constant``), so that none of
them can fail an honest kernel.
"""

import torch

from harness.problem.model import Parameter

FAMILIES = ("declared", "large", "tiny", "zeros", "integers", "mixed", "constant")
"""``declared``: as the problem file says. ``large``, ``tiny``: the same, scaled by a power of two.
``zeros``: one in eight kept, the rest +0 or −0. ``integers``: −3 … 3, exact in every type.
``mixed``: neighbours of very different magnitude. ``constant``: one value throughout."""

_MAX_CHUNK = 1 << 24
"""Elements drawn at a time on the CPU, in float64: 128 MiB."""

_LARGE_EXPONENT = {torch.float16: 1}
_TINY_EXPONENT = {torch.float16: -3}
_MIXED_EXPONENT = {torch.float16: 2}
"""float16 has no room: products of three values must neither overflow nor vanish."""


def fill(
    out: torch.Tensor,
    parameter: Parameter,
    *,
    generator: torch.Generator,
    family: str = "declared",
) -> None:
    """Fill ``out``, a view of any shape and strides, with fresh values of ``parameter``.

    ``generator`` belongs to the device of ``out``. On a GPU everything happens in place, in the
    tensor's own type. On the CPU values are drawn in float64 and rounded, which keeps them the same
    on processors with different vector units.

    Raises:
        ValueError: no such family.
    """
    if family not in FAMILIES:
        raise ValueError(f"no family of values {family!r}")
    if out.numel() == 0:
        return
    if out.is_complex():
        out = torch.view_as_real(out)
    if not out.is_floating_point():
        _fill_whole(out, parameter, generator)
    elif out.device.type == "cpu":
        for part in _chunks(out):
            drawn = torch.empty(part.shape, dtype=torch.float64)
            _fill_real(drawn, parameter, generator, family, out.dtype)
            part.copy_(drawn)
    else:
        _fill_real(out, parameter, generator, family, out.dtype)


def _chunks(out: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Views of ``out`` that together are all of it, each of bounded size where it can be."""
    if out.dim() == 0 or out.numel() <= _MAX_CHUNK:
        return (out,)
    longest = max(range(out.dim()), key=lambda d: out.shape[d])
    pieces = -(-out.numel() // _MAX_CHUNK)
    return out.tensor_split(min(pieces, out.shape[longest]), dim=longest)


def _fill_whole(out: torch.Tensor, parameter: Parameter, generator: torch.Generator) -> None:
    """Integers: uniform between the declared bounds, −8 … 8 where none are; booleans: 0 or 1."""
    low, high = -8, 8
    if out.dtype is torch.bool:
        low, high = 0, 1
    elif parameter.values.kind == "uniform":
        low, high = round(parameter.values.a), round(parameter.values.b)
    elif not out.dtype.is_signed:
        low = 0
    out.random_(low, high + 1, generator=generator)


def _fill_real(
    out: torch.Tensor,
    parameter: Parameter,
    generator: torch.Generator,
    family: str,
    element: torch.dtype,
) -> None:
    """Fill floating-point ``out`` in place; ``element`` is the type the values end up in."""
    if family == "integers":
        out.random_(-3, 4, generator=generator)
        return
    if family == "constant":
        # Eighths below one: few enough bits that sums stay exact in float32.
        value = torch.randint(1, 8, (1,), generator=generator, device=out.device)
        sign = torch.randint(0, 2, (1,), generator=generator, device=out.device) * 2 - 1
        out.copy_((value * sign).to(out.dtype).div_(8))
        return
    values = parameter.values
    if values.kind == "uniform":
        out.uniform_(values.a, values.b, generator=generator)
    else:
        out.normal_(values.a, values.b, generator=generator)
    if family == "large":
        out.mul_(2.0 ** _LARGE_EXPONENT.get(element, 20))
    elif family == "tiny":
        out.mul_(2.0 ** _TINY_EXPONENT.get(element, -20))
    elif family == "zeros":
        # A value times 0 keeps its sign: +0 and −0.
        out.mul_(_small_integers(out, 0, 7, generator).eq_(0))
    elif family == "mixed":
        spread = _MIXED_EXPONENT.get(element, 8)
        out.mul_(_small_integers(out, -spread, spread, generator).exp2_())


def _small_integers(
    like: torch.Tensor, low: int, high: int, generator: torch.Generator
) -> torch.Tensor:
    """Uniform integers ``low`` … ``high`` in the shape, type and device of ``like``."""
    out = torch.empty(like.shape, dtype=like.dtype, device=like.device)
    return out.random_(low, high + 1, generator=generator)
