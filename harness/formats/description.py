"""What a problem's process says of its cases, checked as a runner's words are: then a record.

Nothing here is worth more than that process: a wrong shape makes its own problem wrong. What is
checked is that the judge can work with it.
"""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from harness.author.client import AuthorError
from harness.formats.messages import CasesDescribed, ToldCase, ToldParameter
from harness.problem.dtypes import C_TYPES, DTYPES
from harness.problem.terms import Direction, FormalParameter, Role, TensorSpec
from harness.text.plain import plain

MOST_TENSORS = 4096
MOST_DIMENSIONS = 8
MOST_BYTES = 1 << 38
"""Of all tensors of one case."""
MOST_CASES = 1000
MOST_CLAIMS = 16
MOST_CONSTRUCT = 16 << 10
"""Characters of a constructor's arguments."""
_DEEPEST = 16

_KEY = re.compile(r"[a-z]+=[a-z0-9_-]{1,40}")
_NAME = re.compile(r"[^\W\d]\w{0,79}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class FormatCase:
    """One concrete set of arguments."""

    key: str
    """Its name among the problem's cases."""
    tensors: tuple[TensorSpec, ...]
    """In the order of the parameters."""
    sizes: Mapping[str, int]
    """Whole numbers by name."""
    scalars: Mapping[str, float]
    """Other numbers by name."""
    timed: bool
    """Whether its times count."""
    construct: str
    """JSON of a module's constructor arguments; empty where the entry point is no class."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """All that the judge knows of a problem."""

    parameters: tuple[FormalParameter, ...]
    """Of the entry point, in the order of the call."""
    cases: Mapping[str, FormatCase]
    """By key; at least one."""
    rtol: float
    """Part of the right value that an answer may be off."""
    atol: float
    """What it may be off besides."""
    claims: tuple[str, ...]
    """What a reader of a result must know."""


def description(told: CasesDescribed) -> Description:
    """The record of what was told.

    Raises:
        AuthorError: the judge cannot work with it.
    """
    _require(0 < len(told.cases) <= MOST_CASES, f"{len(told.cases)} cases")
    _require(len(told.parameters) <= MOST_TENSORS, "too many parameters")
    _require(all(0 <= each < math.inf for each in (told.rtol, told.atol)), "its tolerance")
    _require(len(told.claims) <= MOST_CLAIMS, "too many claims")
    parameters = tuple(map(_parameter, told.parameters))
    names = [p.name for p in parameters]
    _require(len(set(names)) == len(names), "two parameters of one name")
    written = [p for p in parameters if p.direction not in (None, Direction.IN)]
    _require(bool(written), "no output")
    cases = {each.key: _case(each, parameters) for each in told.cases}
    _require(len(cases) == len(told.cases), "two cases of one name")
    return Description(
        parameters=parameters,
        cases=cases,
        rtol=float(told.rtol),
        atol=float(told.atol),
        claims=tuple(plain(each, 80) for each in told.claims),
    )


def _parameter(told: ToldParameter) -> FormalParameter:
    _require(_NAME.fullmatch(told.name) is not None, "a parameter's name")
    _require(told.ctype in C_TYPES, f"the type of {told.name}")
    if told.kind in ("size", "scalar"):
        return FormalParameter(name=told.name, type=told.ctype, role=Role(told.kind))
    return FormalParameter(
        name=told.name, type=told.ctype, role=Role.TENSOR, direction=Direction(told.kind)
    )


def _case(told: ToldCase, parameters: tuple[FormalParameter, ...]) -> FormatCase:
    _require(_KEY.fullmatch(told.key) is not None, "a case's name")
    tensors = {each.name: each for each in told.tensors}
    wanted = [p for p in parameters if p.role is Role.TENSOR]
    _require(list(tensors) == [p.name for p in wanted], f"the tensors of {told.key}")
    numbers = [p for p in parameters if p.role is not Role.TENSOR]
    _require(set(told.numbers) == {p.name for p in numbers}, f"the numbers of {told.key}")
    _require(all(map(math.isfinite, told.numbers.values())), f"a number of {told.key}")
    whole = {p.name for p in numbers if C_TYPES[p.type] not in ("float32", "float64")}
    specs = []
    for parameter in wanted:
        each = tensors[parameter.name]
        known = each.dtype in DTYPES and DTYPES[each.dtype].name == C_TYPES[parameter.type]
        _require(known, f"the type of {each.name}")
        shape = each.shape
        fits = len(shape) <= MOST_DIMENSIONS and all(0 < n < 2**40 for n in shape)
        _require(fits, f"the shape {shape[:9]} of {each.name}")
        steps = tuple(math.prod(shape[d + 1 :]) for d in range(len(shape)))
        specs.append(
            TensorSpec(
                name=each.name,
                dtype=each.dtype,
                shape=shape,
                strides=steps,
                direction=parameter.direction or Direction.IN,
                zeroed=each.zeroed and parameter.direction is Direction.OUT,
                together=parameter.direction is not Direction.OUT,
            )
        )
    total = sum(spec.span * DTYPES[spec.dtype].itemsize for spec in specs)
    _require(total <= MOST_BYTES, f"{total >> 30} GiB of tensors")
    _require_construct(told.construct)
    return FormatCase(
        key=told.key,
        tensors=tuple(specs),
        sizes={name: int(v) for name, v in told.numbers.items() if name in whole},
        scalars={name: float(v) for name, v in told.numbers.items() if name not in whole},
        timed=told.timed,
        construct=told.construct,
    )


def _require_construct(text: str) -> None:
    """Check a constructor's arguments: short JSON, a list, and not deep."""
    if not text:
        return
    fits = len(text) <= MOST_CONSTRUCT
    try:
        value = json.loads(text) if fits else None
    except (ValueError, RecursionError):
        value = None
    _require(isinstance(value, list) and _depth(value) <= _DEEPEST, "a constructor's arguments")


def _depth(value: object, deep: int = 0) -> int:
    if deep > _DEEPEST or not isinstance(value, list | dict):
        return deep
    inside = value.values() if isinstance(value, dict) else value
    return max((_depth(each, deep + 1) for each in inside), default=deep + 1)


def _require(right: bool, what: str) -> None:
    if not right:
        raise AuthorError(1, f"the judge cannot work with {plain(what, 200)}")
