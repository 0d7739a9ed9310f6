"""Evaluate sizes that depend on each other: ranges between other sizes, and derived values.

A size is *free* (its range has plain ends), *dependent* (its ``range`` is between expressions over
other sizes) or *derived* (it ``equals`` an expression). All functions take mappings from names to
numbers, and raise ``ExpressionError`` for what has no value, is out of range, or in a circle.
"""

import contextlib
import math
import random
import struct
from collections.abc import Iterator, Mapping, Sequence

from harness.problem.dtypes import C_TYPES
from harness.problem.expressions import Expression, ExpressionError, Number
from harness.problem.model import Parameter
from harness.problem.terms import Role

MAX_SIZE = 2**31 - 1
"""Largest value of a size parameter."""

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
    return to_single(value) if C_TYPES.get(parameter.type) == "float32" else float(value)


def needs(parameter: Parameter) -> frozenset[str]:
    """The names in a size's or scalar's value, range or distribution."""
    ends = (parameter.lower, parameter.upper, parameter.equals)
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
    low = _size(parameter.lower, values) if parameter.lower is not None else parameter.low
    high = _size(parameter.upper, values) if parameter.upper is not None else parameter.high
    if low > high:
        raise ExpressionError(f"the range of {parameter.name} is empty: {low} is more than {high}")
    return low, high


def derive(parameter: Parameter, values: Mapping[str, Number]) -> Number:
    """The value of a derived size or scalar, rounded to its C type."""
    equals = parameter.equals
    assert equals is not None, parameter.name
    if parameter.role is Role.SIZE:
        return _size(equals, values)
    value = as_received(parameter, equals.evaluate(values))
    if not math.isfinite(value):
        raise ExpressionError(f"{equals.text!r} is too large for a {parameter.type}")
    return value


def _size(expression: Expression, values: Mapping[str, Number]) -> int:
    number = expression.whole(values)
    if not 1 <= number <= MAX_SIZE:
        raise ExpressionError(f"{expression.text!r} is {number}, not from 1 to {MAX_SIZE}")
    return number


def completed(parameters: Sequence[Parameter], values: Mapping[str, Number]) -> dict[str, Number]:
    """``values`` with all that is derived, in the order of ``parameters``."""
    known = dict(values)
    for parameter in in_order(parameters):
        if parameter.derived:
            known[parameter.name] = derive(parameter, known)
        elif parameter.lower is not None or parameter.upper is not None:
            low, high = bounds(parameter, known)
            value = known[parameter.name]
            if not low <= value <= high:
                lowest, highest = _shown(parameter.lower, low), _shown(parameter.upper, high)
                message = f"{parameter.name} must be from {lowest} to {highest}, not {value}"
                raise ExpressionError(message)
        elif needs(parameter):
            check_scalar(parameter, known)
    return {p.name: known[p.name] for p in parameters if p.name in known}


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
    """Draw a size, log-uniform over its range, both ends included."""
    low, high = bounds(parameter, values)
    # Up to high + 1, so that rounding down leaves the highest a share; clamped, since exp(log(x))
    # may be off by a digit.
    exponent = source.uniform(math.log(low), math.log(high + 1))
    return min(max(int(math.exp(exponent)), low), high)


def points(parameters: Sequence[Parameter]) -> Iterator[tuple[str, dict[str, Number]]]:
    """Sets of sizes to try a declaration with, each with its description: the corners first.

    Every size at its lowest, every size at its highest, each size at an end or an ``always`` value
    with the others at the other end, and :data:`RANDOM_POINTS` drawn ones, always the same. A set
    may lack sizes whose range is empty there.
    """
    sizes = [p for p in in_order(parameters) if p.role is Role.SIZE]
    free = [p for p in sizes if not needs(p)]
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
    drawn = [
        ({p.name: draw_size(p, {}, source) for p in free}, i % 2) for i in range(RANDOM_POINTS)
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
