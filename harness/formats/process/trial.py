"""The arguments of a test, and what trying them has shown."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from harness.formats.process.adaptor import Exactness, Tensors
from harness.formats.process.checks import Rule

Value = Tensor | bool | int | float
Values = Mapping[str, Value]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What trying a test has shown."""

    factor: int
    """By which its sizes are divided; 0 for none."""
    values: Values
    """Its arguments, as they were tried."""
    right: Tensors
    """The reference's outputs."""
    exactness: Exactness
    """Whether it evaluates in float64."""
    rule: Rule | None
    """The tolerance that its check stands for; None where the check itself decides."""
    given: bool
    """Whether all that it reads is the same whatever the seed."""


def copied(values: Values, copy: Callable[[Tensor], Tensor] = torch.clone) -> dict[str, Value]:
    """The arguments, with copies of tensors."""
    return {n: copy(x) if isinstance(x, Tensor) else x for n, x in values.items()}
