"""What a problem's process says of its cases, checked as a runner's words are: then a record.

Nothing here is worth more than that process: a wrong shape makes its own problem wrong. What is
checked is that the judge can work with it.
"""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from harness.author.client import AuthorError
from harness.formats.messages import (
    CasesDescribed,
    ToldCase,
    ToldParameter,
    ToldWeight,
    WeightKind,
)
from harness.problem.dtypes import C_TYPES, DTYPES, NARROW
from harness.problem.terms import Direction, FormalParameter, Role, TensorSpec
from harness.text.plain import plain
from harness.wire.arguments import LONGEST_WEIGHT_NAME, MOST_WEIGHTS

MOST_TENSORS = 4096
MOST_DIMENSIONS = 8
MOST_BYTES = 1 << 38
"""Of all tensors of one case."""
MOST_CASES = 1000
MOST_CLAIMS = 16
MOST_CONSTRUCT = 16 << 10
"""Characters of a constructor's arguments."""
_DEEPEST = 16

_HEX = re.compile(r"[0-9a-f]{2,2048}")
_KEY = re.compile(r"[a-z]+=[a-z0-9_-]{1,40}")
_NAME = re.compile(r"[^\W\d]\w{0,79}", re.ASCII)
_WEIGHT = re.compile(r"self(\.\w+)+", re.ASCII)


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
    call: str = ""
    """JSON of what the entry point is called with; empty where that is the parameters in order."""
    constants: str = ""
    """JSON of the file's constants that are smaller than in it; empty where none is."""
    loose: tuple[str, ...] = ()
    """Tensors that are read and written, and not compared."""
    rtol: float
    """Part of the right value that an answer may be off."""
    atol: float
    """What it may be off besides."""
    own: bool = False
    """Whether the format's own check decides."""
    rounded: bool = False
    """Whether the reference's answers are rounded to the outputs' types."""
    errors: Mapping[str, float] = field(default_factory=dict)
    """What answers may be off besides, by output, in units of its root mean square."""
    weights: tuple[TensorSpec, ...] = ()
    """Those that each call has values of its own for, after all ``tensors``."""
    by_rows: bool = False
    """Whether each row of what is compared follows from the same row of what is read, but for
    weights: then all of these have as many rows."""
    answers_on_host: bool = False
    """Whether answers stay in the host's memory, since the card's is too small for more than the
    calls."""
    rows: int = 0
    """How many rows of the answers are asked for at a time, for the same reason; 0: all."""

    @property
    def streamed(self) -> bool:
        """Whether right answers come piece by piece, and inputs by way of the host's memory."""
        return self.answers_on_host or self.rows > 0

    @property
    def read(self) -> tuple[TensorSpec, ...]:
        """The tensors that the reference needs to know."""
        given = (spec for spec in self.tensors if spec.direction is not Direction.OUT)
        return (*given, *self.weights)

    @property
    def compared(self) -> tuple[TensorSpec, ...]:
        """The tensors that are right or wrong after a call."""
        written = (spec for spec in self.tensors if spec.direction is not Direction.IN)
        return tuple(spec for spec in written if spec.name not in self.loose)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleWeight:
    """A parameter or buffer of the reference's module."""

    spec: TensorSpec
    """Its name begins with ``self.``, as none of an argument can."""
    kind: WeightKind
    """What decides its values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """All that the judge knows of a problem."""

    parameters: tuple[FormalParameter, ...]
    """Of the entry point, in the order of the call."""
    cases: Mapping[str, FormatCase]
    """By key; at least one."""
    claims: tuple[str, ...]
    """What a reader of a result must know."""
    weights: tuple[ModuleWeight, ...] = ()
    """All that its module holds; none where calls cannot be given others."""
    on_card: bool = False
    """Whether inputs are drawn on the card, where all tensors then stay."""

    @property
    def tolerance(self) -> str:
        """What an element may be off, as a claim: the most of all cases."""
        by_rule = [each for each in self.cases.values() if not each.own]
        if not by_rule:
            return "tolerance: own check"
        rtol = max(each.rtol for each in by_rule)
        atol = max(each.atol for each in by_rule)
        kind = "own check, or " if len(by_rule) < len(self.cases) else "own "
        return f"tolerance: {kind}{rtol:g}·|x| + {atol:g}"


def description(told: CasesDescribed, *, card: bool = False) -> Description:
    """The record of what was told by a process, with a ``card`` or without.

    Raises:
        AuthorError: the judge cannot work with it.
    """
    _require(0 < len(told.cases) <= MOST_CASES, f"{len(told.cases)} cases")
    _require(len(told.parameters) <= MOST_TENSORS, "too many parameters")
    _require(all(0 <= each < math.inf for each in (told.rtol, told.atol)), "its tolerance")
    _require(len(told.claims) <= MOST_CLAIMS, "too many claims")
    _require(card or not told.on_card, "a card that it does not have")
    parameters = tuple(map(_parameter, told.parameters))
    names = [p.name for p in parameters]
    _require(len(set(names)) == len(names), "two parameters of one name")
    written = [p for p in parameters if p.direction not in (None, Direction.IN)]
    _require(bool(written), "no output")
    cases = {each.key: _case(each, parameters, told) for each in told.cases}
    _require(len(cases) == len(told.cases), "two cases of one name")
    return Description(
        parameters=parameters,
        cases=cases,
        claims=tuple(plain(each, 80) for each in told.claims),
        weights=_weights(told.weights),
        on_card=told.on_card,
    )


def _weights(told: tuple[ToldWeight, ...]) -> tuple[ModuleWeight, ...]:
    _require(len(told) <= MOST_WEIGHTS, "too many weights")
    _require(len({each.name for each in told}) == len(told), "two weights of one name")
    for each in told:
        named = len(each.name) <= LONGEST_WEIGHT_NAME and _WEIGHT.fullmatch(each.name)
        _require(bool(named), "a weight's name")
        _require(each.dtype in DTYPES, f"the type of {each.name}")
    found = tuple(
        ModuleWeight(
            spec=_spec(each.name, each.dtype, each.shape, Direction.IN, zeroed=False),
            kind=each.kind,
        )
        for each in told
    )
    _require_room([each.spec for each in found])
    return found


def _parameter(told: ToldParameter) -> FormalParameter:
    _require(_NAME.fullmatch(told.name) is not None, "a parameter's name")
    _require(told.ctype in C_TYPES, f"the type of {told.name}")
    if told.kind in ("size", "scalar"):
        return FormalParameter(name=told.name, type=told.ctype, role=Role(told.kind))
    return FormalParameter(
        name=told.name, type=told.ctype, role=Role.TENSOR, direction=Direction(told.kind)
    )


def _case(
    told: ToldCase, parameters: tuple[FormalParameter, ...], whole_told: CasesDescribed
) -> FormatCase:
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
        # Where a case says how it is called there is no signature, and types may differ.
        same = bool(told.call) or each.dtype == C_TYPES[parameter.type]
        known = each.dtype in DTYPES and same
        _require(known, f"the type of {each.name}")
        direction = parameter.direction or Direction.IN
        compared = direction is not Direction.IN and each.name not in told.loose
        bytes_ = each.dtype == "uint8" and not compared
        seen = not each.seen_as or (bytes_ and each.seen_as in NARROW)
        _require(seen, f"what {each.name} is seen as")
        spec = _spec(each.name, each.dtype, each.shape, direction, zeroed=each.zeroed)
        if each.strides:
            _require(_without_gaps(each.shape, each.strides), f"the strides of {each.name}")
            spec = replace(spec, strides=each.strides)
        if each.on_host:
            given = direction is Direction.IN and _HEX.fullmatch(each.on_host) is not None
            all_of_it = len(each.on_host) == 2 * spec.span * DTYPES[spec.dtype].itemsize
            _require(given and all_of_it, f"the bytes of {each.name}")
        specs.append(replace(spec, seen_as=each.seen_as, on_host=each.on_host))
    _require_room(specs)
    _require_json(told.construct, "a constructor's arguments")
    _require_json(told.call, "a call's arguments")
    _require_json(told.constants, "the constants")
    for each in json.loads(told.constants or "[]"):
        _require(_is_constant(each), "the constants")
    free = {p.name for p in wanted if p.direction is Direction.INOUT}
    _require(free.issuperset(told.loose), f"the free tensors of {told.key}")
    rtol = whole_told.rtol if told.rtol is None else told.rtol
    atol = whole_told.atol if told.atol is None else told.atol
    _require(all(0 <= each < math.inf for each in (rtol, atol)), f"the tolerance of {told.key}")
    _require(all(0 <= each <= 1 for each in told.errors.values()), f"the errors of {told.key}")
    made = FormatCase(
        key=told.key,
        tensors=tuple(specs),
        sizes={name: int(v) for name, v in told.numbers.items() if name in whole},
        scalars={name: float(v) for name, v in told.numbers.items() if name not in whole},
        timed=told.timed,
        construct=told.construct,
        call=told.call,
        constants=told.constants,
        loose=told.loose,
        rtol=float(rtol),
        atol=float(atol),
        own=told.own,
        rounded=told.rounded,
        errors=told.errors,
        by_rows=told.by_rows,
    )
    if told.by_rows:
        _require(not told.own and _has_rows(specs), f"the rows of {told.key}")
    _require(bool(made.compared), f"{told.key}, in which nothing is compared")
    return made


def _spec(
    name: str, dtype: str, shape: tuple[int, ...], direction: Direction, *, zeroed: bool
) -> TensorSpec:
    """A dense tensor, drawn with the others of its call."""
    fits = len(shape) <= MOST_DIMENSIONS and all(0 < n < 2**40 for n in shape)
    _require(fits, f"the shape {shape[:9]} of {name}")
    return TensorSpec(
        name=name,
        dtype=dtype,
        shape=shape,
        strides=row_major(shape),
        direction=direction,
        zeroed=zeroed and direction is Direction.OUT,
        together=direction is not Direction.OUT,
    )


def _has_rows(specs: list[TensorSpec]) -> bool:
    """Whether all tensors have as many rows, each row in one piece, and are read or written."""
    plain = all(
        spec.direction is not Direction.INOUT and spec.strides == row_major(spec.shape)
        for spec in specs
    )
    return plain and len({spec.shape[:1] for spec in specs}) == 1 and bool(specs[0].shape)


def row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides of a tensor in row-major order, without gaps."""
    return tuple(math.prod(shape[d + 1 :]) for d in range(len(shape)))


def _without_gaps(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    """Whether each element has a place of its own, and all of them make one piece."""
    if len(shape) != len(strides) or not all(0 < step < 2**40 for step in strides):
        return False
    inner = 1
    for step, length in sorted((s, n) for n, s in zip(shape, strides, strict=True) if n > 1):
        if step != inner:
            return False
        inner *= length
    return True


def _require_room(specs: list[TensorSpec]) -> None:
    total = sum(spec.span * DTYPES[spec.dtype].itemsize for spec in specs)
    _require(total <= MOST_BYTES, f"{total >> 30} GiB of tensors")


def _require_json(text: str, what: str) -> None:
    """Check arguments: short JSON, a list, and not deep."""
    if not text:
        return
    fits = len(text) <= MOST_CONSTRUCT
    try:
        value = json.loads(text) if fits else None
    except (ValueError, RecursionError):
        value = None
    _require(isinstance(value, list) and _depth(value) <= _DEEPEST, what)


def _is_constant(value: object) -> bool:
    return isinstance(value, list) and len(value) == 3 and isinstance(value[0], str)


def _depth(value: object, deep: int = 0) -> int:
    if deep > _DEEPEST or not isinstance(value, list | dict):
        return deep
    inside = value.values() if isinstance(value, dict) else value
    return max((_depth(each, deep + 1) for each in inside), default=deep + 1)


def _require(right: bool, what: str) -> None:
    if not right:
        raise AuthorError(1, f"the judge cannot work with {plain(what, 200)}")
