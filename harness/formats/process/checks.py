"""The tolerance that a format's own check stands for, where it stands for one.

A check is called with answers whose errors are known, while functions that compare tensors tell of
the tolerance that they are given. If it says of all of them what that tolerance says, element by
element, the tolerance is what it means; a check of another kind decides itself.
"""

import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

Check = Callable[[Mapping[str, Tensor]], bool]

_PLACES = 8
"""Elements that are changed alone, of each output."""
_WITHIN, _BEYOND = 0.4, 1.2
"""Errors, as multiples of what is allowed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """An element may be off by ``rtol · |right| + atol``."""

    rtol: float
    atol: float


def rule_of(check: Check, right: Mapping[str, Tensor]) -> Rule | None:
    """The rule by which ``check`` goes; None where it is of another kind."""
    with recorded() as seen:
        if not check(_cloned(right)):
            return None
    rules = set(seen) or {Rule(rtol=0.0, atol=0.0)}
    if len(rules) > 1:
        return None
    (rule,) = rules
    if not (0 <= rule.rtol < 1e3 and 0 <= rule.atol < 1e6):
        return None
    try:
        agrees = all(
            check(_cloned({**right, each.name: each.changed})) == _within(each, rule)
            for each in _changes(right, rule)
        )
    except (RuntimeError, ValueError, TypeError, IndexError):
        return None
    return rule if agrees else None


@contextmanager
def recorded() -> Iterator[list[Rule]]:
    """The tolerances that torch's comparisons are given inside."""
    seen: list[Rule] = []
    close, one_by_one = torch.allclose, torch.isclose

    def telling(function: Callable[..., Any]) -> Callable[..., Any]:
        def called(
            one: Any, other: Any, rtol: float = 1e-5, atol: float = 1e-8, *more: Any, **named: Any
        ) -> Any:
            with compared(rtol, atol):
                return function(one, other, rtol, atol, *more, **named)

        return called

    torch.allclose, torch.isclose = telling(close), telling(one_by_one)
    _RECORDERS.append(seen)
    try:
        yield seen
    finally:
        _RECORDERS.remove(seen)
        torch.allclose, torch.isclose = close, one_by_one


_RECORDERS: list[list[Rule]] = []
_INSIDE: list[None] = []
"""One for each comparison that is at work: those inside it are its own matter."""


@contextmanager
def compared(rtol: float, atol: float) -> Iterator[None]:
    """A comparison with a tolerance, told of to whoever records."""
    if not _INSIDE:
        for each in _RECORDERS:
            each.append(Rule(rtol=float(rtol), atol=float(atol)))
    _INSIDE.append(None)
    try:
        yield
    finally:
        _INSIDE.pop()


def verdict_of(said: object) -> bool:
    """What a check's answer means: a boolean, one and words, or words of what is wrong."""
    if isinstance(said, tuple) and said:
        return bool(said[0])
    if isinstance(said, str | list) or said is None:
        return not said
    return bool(said)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Change:
    """An answer with errors in one output."""

    name: str
    changed: Tensor
    """The output with the errors."""
    got: Tensor
    """Those of its elements that have errors."""
    expected: Tensor
    """What they are without."""


def _changes(right: Mapping[str, Tensor], rule: Rule) -> Iterator[_Change]:
    """Answers with errors: small ones everywhere, and large ones in single places."""
    drawing = random.Random(7)  # noqa: S311 - nothing is secret here
    for name, tensor in right.items():
        if not tensor.numel():
            continue
        floats = tensor.is_floating_point()
        if floats:
            signs = torch.ones(tensor.numel(), dtype=torch.float64)
            signs[drawing.randrange(2) :: 2] = -1
            spread = signs.reshape(tensor.shape) * _allowed(tensor, rule) * _WITHIN
            wrong = (tensor.double() + spread).to(tensor.dtype)
            yield _Change(name=name, changed=wrong, got=wrong, expected=tensor)
        places = {0, tensor.numel() - 1}
        places |= {drawing.randrange(tensor.numel()) for _ in range(_PLACES)}
        for place in sorted(places):
            changed = tensor.clone().reshape(-1)
            if not floats:
                other = changed[place].item()
                changed[place] = (not other) if isinstance(other, bool) else _next(int(other))
            else:
                off = float(_allowed(changed[place], rule)) * _BEYOND
                changed[place] = _beyond(changed[place], off)
            here = slice(place, place + 1)
            yield _Change(
                name=name,
                changed=changed.reshape(tensor.shape),
                got=changed[here],
                expected=tensor.reshape(-1)[here],
            )


def _beyond(number: Tensor, off: float) -> Tensor:
    """A number that is further up by ``off``, or the next one, if that is more."""
    up = (number.double() + off).to(number.dtype)
    following = torch.nextafter(number, torch.full_like(number, torch.inf))
    return torch.maximum(up, following)


def _next(number: int) -> int:
    return number - 1 if number > 0 else number + 1


def _allowed(tensor: Tensor, rule: Rule) -> Tensor:
    return tensor.double().abs() * rule.rtol + rule.atol


def _within(change: _Change, rule: Rule) -> bool:
    expected, got = change.expected, change.got
    if not expected.is_floating_point():
        return torch.equal(got, expected)
    one, other = got.double(), expected.double()
    near = (one - other).abs() <= _allowed(expected, rule)
    return bool((near | (one == other) | (one.isnan() & other.isnan())).all())


def _cloned(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name: tensor.clone() for name, tensor in tensors.items()}
