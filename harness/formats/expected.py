"""What is right in a call of a problem in another format, around the reference's answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from harness.problem.terms import Expectation, TensorSpec

if TYPE_CHECKING:
    from torch import Tensor

SIGNED = ",values=signed"
"""At the end of the spec of a case whose inputs get signs."""
_SPREAD = 0.5
"""Standard deviation of a weight around the value that it is made with."""


def with_signs(drawn: Tensor, seed: int) -> Tensor:
    """Numbers none of which is below zero with signs of their own; others as they are."""
    import torch

    if not drawn.is_floating_point() or bool((drawn < 0).any()):
        return drawn
    where = drawn.device
    generator = torch.Generator(where).manual_seed(seed)
    signs = torch.randint(0, 2, drawn.shape, generator=generator, dtype=torch.int8, device=where)
    return torch.where(signs.bool(), drawn, -drawn)


def moved(weight: Tensor, seed: int) -> Tensor:
    """Floating-point values, normal around those of a weight; others as they are."""
    import torch

    if not weight.is_floating_point():
        return weight
    where = weight.device
    generator = torch.Generator(where).manual_seed(seed)
    noise = torch.randn(weight.shape, generator=generator, device=where)
    return weight + _SPREAD * noise.to(weight.dtype)


def inexact(tensor: Tensor) -> bool:
    """Whether it holds floating-point or complex numbers."""
    return tensor.is_floating_point() or tensor.is_complex()


def expectation(
    expected: Tensor, off: Tensor | None, spec: TensorSpec, *, rounded: bool
) -> Expectation:
    """What is right, and ``off`` around it, no less than rounding; 0 for whole numbers."""
    import torch

    from harness.formats.rounding import with_rounding

    if off is None:
        off = torch.zeros(expected.shape, dtype=torch.float64, device=expected.device)
    else:
        with_rounding(expected, off, getattr(torch, spec.dtype), rounded=rounded)
    return Expectation(expected=expected, allowed=off)


def typed(tensor: Tensor, spec: TensorSpec) -> Tensor:
    """An output in its own type: booleans come as bytes."""
    return tensor != 0 if spec.dtype == "bool" else tensor


def marked(
    got: Mapping[str, Tensor], wanted: Mapping[str, Expectation], *, right: bool
) -> dict[str, Tensor]:
    """Which elements count as right: all, or those that are what the reference has, if some are."""
    import torch

    if right:
        return {n: torch.ones(x.shape, dtype=torch.bool, device=x.device) for n, x in got.items()}
    marks = {}
    for name, tensor in got.items():
        want = wanted[name]
        marks[name] = (tensor.to(want.expected.dtype) - want.expected).abs() <= want.allowed
    if all(bool(each.all()) for each in marks.values()):
        return {name: torch.zeros_like(each) for name, each in marks.items()}
    return marks
