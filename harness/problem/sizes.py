"""Evaluate sizes that depend on each other: ranges between other sizes, and derived values.

A size is *free* (its range has plain ends), *dependent* (its ``range`` is between expressions over
other sizes) or *derived* (it ``equals`` an expression); its ``grid`` tells which numbers of a range
it may be. All functions take mappings from names to numbers, and raise ``ExpressionError`` for what
has no value, is out of range, or in a circle.
"""

import contextlib
import math
import random
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from harness.problem.dtypes import C_TYPES
from harness.problem.expressions import Expression, ExpressionError, Number
from harness.problem.model import Declaration, Parameter
from harness.problem.terms import Role

RANDOM_POINTS = 24
"""Drawn sets of sizes that are tried, beside the corners, when a problem is loaded."""


def to_single(value: float) -> float:
    """``value`` rounded to a C ``float``; infinity where it is too large for one."""
    try:
        return float(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def as_received(parameter: Parameter, value: float) -> float:
    """``value`` as the submission gets it: rounded to the parameter's C type."""
    if parameter.role is Role.SIZE:
        return int(value)
    return to_single(value) if C_TYPES.get(parameter.type) == "float32" else float(value)


def needs(parameter: Parameter) -> frozenset[str]:
    """The names in a size's or scalar's value, ranges or distribution."""
    ends = (parameter.lower, parameter.upper, parameter.equals, *(parameter.case_range or ()))
    drawn = parameter.values.names if parameter.role is Role.SCALAR else frozenset[str]()
    return drawn.union(*(e.names for e in ends if e is not None))


def in_order(parameters: Sequence[Parameter]) -> list[Parameter]:
    """The sizes and scalars, each after those that it depends on."""
    waiting = [p for p in parameters if p.role is not Role.TENSOR]
    ready: list[Parameter] = []
    names = {p.name for p in waiting}
    while waiting:
        # Rounds: all that depend on nothing that still waits, in the order of the file.
        done = {p.name for p in ready}
        free = [p for p in waiting if needs(p) & names <= done]
        if not free:
            raise ExpressionError(f"{', '.join(p.name for p in waiting)} depend on each other")
        ready += free
        waiting = [p for p in waiting if p not in free]
    return ready


def bounds(parameter: Parameter, values: Mapping[str, Number]) -> tuple[int, int]:
    """Lowest and highest value of a size when those it depends on have ``values``; never empty."""
    return _on_grid(parameter, "range", *_range(parameter, values))


def case_bounds(parameter: Parameter, values: Mapping[str, Number]) -> tuple[int, int]:
    """The same of what cases are drawn from: the ``case_range``, as far as it is in range."""
    low, high = bounds(parameter, values)
    if parameter.case_range is not None:
        least, most = (end.whole(values) for end in parameter.case_range)
        low, high = max(low, least), min(high, most)
    return _on_grid(parameter, "case_range", low, high)


def may_be(parameter: Parameter, value: int, values: Mapping[str, Number]) -> bool:
    """Whether a size that is no dimension may have a value where the others have ``values``."""
    if parameter.derived:
        return True
    low, high = bounds(parameter, values)
    return value in parameter.always or (low <= value <= high and value in parameter.grid)


def nearest(parameter: Parameter, value: int, low: int, high: int) -> int:
    """``value``, or what is near it that the size may be from ``low`` to ``high``, its bounds."""
    return parameter.grid.at_most(min(max(value, low), high))


def shaping(problem: Declaration) -> frozenset[str]:
    """The sizes on which a tensor's shape or strides, or the work of a call depend."""
    numbers = {p.name: p for p in problem.numbers}
    names = {name for p in problem.tensors for e in (*p.shape, *p.strides) for name in e.names}
    names |= problem.flops.names if problem.flops is not None else set()
    found: set[str] = set()
    while names := names & numbers.keys() - found:
        found |= names
        names = {name for each in names for name in needs(numbers[each])}
    return frozenset(p.name for p in problem.sizes if p.name in found)


def _range(parameter: Parameter, values: Mapping[str, Number]) -> tuple[int, int]:
    """The ends of a size's range; whether it may be all that lies between is another question."""
    lower, upper = parameter.lower, parameter.upper
    low = _size(parameter, lower, values) if lower is not None else parameter.low
    high = _size(parameter, upper, values) if upper is not None else parameter.high
    return low, high


def _on_grid(parameter: Parameter, key: str, low: int, high: int) -> tuple[int, int]:
    """``low`` and ``high`` moved towards each other to what the size may be."""
    if low > high:
        raise ExpressionError(f"the {key} of {parameter.name} is empty: {low} is more than {high}")
    first, last = parameter.grid.at_least(low), parameter.grid.at_most(high)
    if first > last:
        lacks = f"no {parameter.grid.words()} from {low} to {high}"
        raise ExpressionError(f"the {key} of {parameter.name} is empty: there are {lacks}")
    return first, last


def derive(parameter: Parameter, values: Mapping[str, Number]) -> Number:
    """The value of a derived size or scalar, rounded to its C type."""
    equals = parameter.equals
    assert equals is not None, parameter.name
    if parameter.role is Role.SIZE:
        return _size(parameter, equals, values)
    value = as_received(parameter, equals.evaluate(values))
    if not math.isfinite(value):
        raise ExpressionError(f"{equals.text!r} is too large for a {parameter.type}")
    return value


def _size(parameter: Parameter, expression: Expression, values: Mapping[str, Number]) -> int:
    number = expression.whole(values)
    if not parameter.least <= number <= parameter.most:
        allowed = f"from {parameter.least} to {parameter.most}"
        raise ExpressionError(f"{expression.text!r} is {number}, not {allowed}")
    return number


def completed(parameters: Sequence[Parameter], values: Mapping[str, Number]) -> dict[str, Number]:
    """``values`` with all that is derived, in the order of ``parameters``; checked."""
    known = dict(values)
    for parameter in in_order(parameters):
        if parameter.derived:
            known[parameter.name] = derive(parameter, known)
        elif parameter.role is Role.SIZE:
            _check_size(parameter, known)
        elif needs(parameter):
            check_scalar(parameter, known)
    return {p.name: known[p.name] for p in parameters if p.name in known}


def _check_size(parameter: Parameter, known: Mapping[str, Number]) -> None:
    """Check a size against its grid, and against its range unless that is one of cases alone."""
    name, value = parameter.name, int(known[parameter.name])
    if parameter.lower is not None or parameter.upper is not None or parameter.case_range:
        low, high = _range(parameter, known)
        if not low <= value <= high:
            lowest, highest = _shown(parameter.lower, low), _shown(parameter.upper, high)
            raise ExpressionError(f"{name} must be from {lowest} to {highest}, not {value}")
    if value not in parameter.grid:
        raise ExpressionError(f"{name} must be one of the {parameter.grid.words()}, not {value}")


def check_scalar(parameter: Parameter, values: Mapping[str, Number]) -> None:
    """Check that a drawn scalar lies in its range where ``values`` leave it one."""
    drawn, value = parameter.values.at(values), as_received(parameter, values[parameter.name])
    # Rounded as the scalar itself is, so that what lies between the ends still does.
    low, high = as_received(parameter, drawn.a), as_received(parameter, drawn.b)
    if drawn.kind == "uniform" and not low <= value <= high:
        lowest = _shown(parameter.values.a_of, low)
        highest = _shown(parameter.values.b_of, high)
        raise ExpressionError(
            f"{parameter.name} must be from {lowest} to {highest}, not {value:.9g}"
        )


def _shown(end: Expression | None, value: float) -> str:
    """One end of a range: ``300``, or ``k + 16 (23)``."""
    number = str(value) if isinstance(value, int) else f"{value:.9g}"
    return number if end is None or not end.names else f"{end.text} ({number})"


def check_tensor(parameter: Parameter, values: Mapping[str, Number]) -> None:
    """Check that dimensions and strides are positive whole numbers, and no two elements overlap."""
    for expression in (*parameter.shape, *parameter.strides):
        number = expression.whole(values)
        if number < 1:
            raise ExpressionError(f"{expression.text!r} is {number}, not positive")
    if not parameter.strides:
        return
    steps, lengths = parameter.steps(values), parameter.dimensions(values)
    # Sufficient for no overlap, and simple to explain: each stride is at least as long as all that
    # the smaller ones span. Of equal strides the outer one is the culprit, hence the second key.
    inner = 1  # elements from the first to the last of all dimensions with smaller strides
    for i in sorted(range(len(steps)), key=lambda i: (steps[i], -i)):
        if lengths[i] == 1:  # its stride is never taken
            continue
        if steps[i] < inner:
            stride = f"the stride {parameter.strides[i]} is {steps[i]}"
            message = f"elements overlap: {stride}, and what lies inside it takes {inner}"
            raise ExpressionError(message)
        inner += (lengths[i] - 1) * steps[i]


def draw_size(parameter: Parameter, values: Mapping[str, Number], source: random.Random) -> int:
    """Draw a size that a case may have: log-uniform from 1 on, both ends included, else evenly."""
    low, high = case_bounds(parameter, values)
    grid = parameter.grid
    if low < 1:
        return grid.at_most(source.randint(low, grid.after(high) - 1))
    # Up to the next one, so that rounding down leaves the highest a share; clamped, since
    # exp(log(x)) may be off by a digit.
    exponent = source.uniform(math.log(low), math.log(grid.after(high)))
    return grid.at_most(min(max(int(math.exp(exponent)), low), high))


def points(parameters: Sequence[Parameter]) -> Iterator[tuple[str, dict[str, Number]]]:
    """Sets of sizes to try a declaration with, each with its description: the corners first.

    Every size at its lowest, every size at its highest, each size at an end or an ``always`` value
    with the others at the other end, and :data:`RANDOM_POINTS` drawn ones, always the same. A set
    may lack sizes whose range is empty there.
    """
    sizes = [p for p in in_order(parameters) if p.role is Role.SIZE]
    free = [p for p in sizes if not needs(p) and not p.derived]
    ends = {p.name: p.low for p in free}, {p.name: p.high for p in free}
    yield "with every size at its lowest", _at(sizes, ends[0], 0)
    yield "with every size at its highest", _at(sizes, ends[1], 1)
    source = random.Random(0)  # noqa: S311 - any sizes will do, the same every time
    corners = [
        ({**ends[end], p.name: int(number)}, end)
        for p in free
        for number in dict.fromkeys((p.low, p.high, *p.always))
        for end in (0, 1)
    ]
    whole = [replace(p, case_range=None) for p in free]
    drawn = [
        ({p.name: draw_size(p, {}, source) for p in whole}, i % 2) for i in range(RANDOM_POINTS)
    ]
    for chosen, end in corners + drawn:
        values = _at(sizes, chosen, end)
        given = [f"{p.name}={values[p.name]}" for p in sizes if p.name in values and not p.derived]
        yield f"with {', '.join(given)}", values


def _at(sizes: Sequence[Parameter], free: Mapping[str, int], end: int) -> dict[str, Number]:
    """The values of all sizes, the dependent ones at their lower (0) or upper end (1)."""
    values: dict[str, Number] = dict(free)
    for p in sizes:
        if p.name not in values:
            # Without a value it is left out: complained of where it is looked up.
            with contextlib.suppress(ExpressionError):
                values[p.name] = derive(p, values) if p.derived else bounds(p, values)[end]
    return values
