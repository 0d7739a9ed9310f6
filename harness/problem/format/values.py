"""Read the ``values`` of parameters: how they are drawn, with bounds that may be expressions."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from harness.problem.dtypes import C_TYPES, DTYPES, DtypeKind
from harness.problem.expressions import SIZEOF_VAR, Expression, ExpressionError, Number
from harness.problem.format.fields import (
    FieldError,
    Fields,
    as_expression,
    as_positive,
    as_real,
    as_text,
    one_of,
    unknown_sizes,
)
from harness.problem.format.frontmatter import Data, FrontMatter, Location
from harness.problem.model import DRAW, REFERENCE_FILE, Distribution, Parameter
from harness.problem.scalars import scalar_points
from harness.problem.sizes import as_received, needs
from harness.problem.terms import Role

_ZERO: float | Expression = 0.0
_ONE: float | Expression = 1.0


def read_values(fields: Fields) -> Distribution:
    """``{distribution: normal, mean, std}``, ``{distribution: uniform, low, high}`` or ``draw``."""
    if "values" not in fields:
        fields.take("values", as_text, "")
        return Distribution()
    section = fields.section("values")
    kind = section.need("distribution", one_of(("normal", "uniform", DRAW)), "")
    if kind == DRAW:
        section.close(f" for what {DRAW} of {REFERENCE_FILE} makes")
        return Distribution(kind=DRAW)
    uniform = kind == "uniform"
    names = ("low", "high") if uniform else ("mean", "std")
    a: float | Expression = section.take(names[0], as_bound, _ZERO)
    b: float | Expression = section.take(names[1], as_bound if uniform else _as_deviation, _ONE)
    if uniform and isinstance(a, float) and isinstance(b, float) and a > b:
        section.complain("high", f"must not be less than low ({a:g})")
    if kind:
        section.close(f" for a {kind} distribution")
    of = [end if isinstance(end, Expression) else None for end in (a, b)]
    numbers = [0.0 if isinstance(end, Expression) else end for end in (a, b)]
    return Distribution(kind=kind or "normal", a=numbers[0], b=numbers[1], a_of=of[0], b_of=of[1])


def as_bound(value: Data) -> float | Expression:
    """A finite number, or an expression over sizes and scalars."""
    try:
        return as_real(value)
    except FieldError:
        if not isinstance(value, str):
            raise
    expression = as_expression(value)
    if SIZEOF_VAR.replace(" ", "") in expression.text.replace(" ", ""):
        raise FieldError(f"{SIZEOF_VAR} has no place in values")
    return expression if expression.names else float(expression.evaluate({}))


def _as_deviation(value: Data) -> float | Expression:
    """A number above 0, or an expression over sizes and scalars."""
    bound = as_bound(value)
    return bound if isinstance(bound, Expression) else as_positive(value)


def related_values(
    file: FrontMatter, parameters: Sequence[Parameter], places: Sequence[Location]
) -> tuple[Parameter, ...]:
    """``parameters`` with bounds of values checked, and the numbers that they come to.

    ``places`` says where the file declares each.
    """
    made = list(parameters)
    known = [p.name for p in made if p.role is not Role.TENSOR]

    def refuse(i: int, message: str) -> None:
        """Complain of a parameter's values, and drop their bounds, so that the rest is read."""
        file.complain((*places[i], "values"), message)
        made[i] = replace(made[i], values=Distribution())

    for i, p in enumerate(made):
        for message in unknown_sizes(p.values.names, known):
            refuse(i, message)
    for i, p in enumerate(made):
        if p.role is Role.SCALAR and p.name in _reached(p, made):
            refuse(i, f"the bounds of {p.name} depend on itself")
    if any(d.key.startswith(("parameters", "sizes")) for d in file.diagnostics):
        return tuple(made)  # whatever is wrong here may come of that
    related = [i for i, p in enumerate(made) if p.values.names or _limits(p) is not None]
    tried = list(scalar_points(made)) if any(made[i].values.names for i in related) else [{}]
    scalars = [i for i in related if made[i].role is Role.SCALAR]
    tensors = [i for i in related if made[i].role is Role.TENSOR]
    before = len(file.diagnostics)
    for group in (scalars, tensors):
        if len(file.diagnostics) == before:  # else what follows from scalars says no more
            for i in group:
                made[i] = _checked(file, places[i], made[i], tried)
    return tuple(made)


def _reached(parameter: Parameter, parameters: Sequence[Parameter]) -> set[str]:
    """All that a scalar depends on, by however many steps."""
    named = {p.name: p for p in parameters}
    reached: set[str] = set()
    waiting = set(needs(parameter))
    while waiting:
        name = waiting.pop()
        reached.add(name)
        waiting |= needs(named[name]) - reached
    return reached


def _checked(
    file: FrontMatter, place: Location, p: Parameter, tried: Sequence[Mapping[str, Number]]
) -> Parameter:
    """The parameter, its values checked at all points, with the ends that they have there."""
    found: list[Distribution] = []
    for values in tried:
        if not p.values.names <= values.keys():
            continue  # what has no value itself is complained of
        try:
            found.append(p.values.at(values, whole=_limits(p) is not None))
            _check_limits(p, found[-1])
        except ExpressionError as error:
            names = sorted(p.values.names, key=list(values).index)
            where = f", with {', '.join(f'{n}={values[n]:.9g}' for n in names)}" if names else ""
            file.complain((*place, "values"), f"{error}{where}")
            return p
    if p.values.names:
        a, b = min(each.a for each in found), max(each.b for each in found)
        p = replace(p, values=replace(p.values, a=a, b=b))
    low, high = as_received(p, p.values.a), as_received(p, p.values.b)
    for j, value in enumerate(p.always if p.values.names and p.values.kind == "uniform" else ()):
        if not low <= as_received(p, value) <= high:
            message = f"{value:g} is never in the range, which is {low:g} to {high:g} at most"
            file.complain((*place, "always", j), message)
    return p


def _check_limits(parameter: Parameter, values: Distribution) -> None:
    """Check that a parameter's C type can hold values from end to end; an ``ExpressionError``."""
    low, high = values.a, values.b
    limits = _limits(parameter)
    if limits is None:
        if not all(math.isfinite(as_received(parameter, end)) for end in (low, high)):
            raise ExpressionError(f"{low:g} to {high:g} is too large for a {parameter.type}")
    elif values.kind == "uniform" and not limits[0] <= low <= high <= limits[1]:
        wanted = f"from {limits[0]} to {limits[1]}"
        message = f"low is {low:.15g} and high {high:.15g}, and {parameter.type} holds numbers"
        raise ExpressionError(f"{message} {wanted}")


def _limits(parameter: Parameter) -> tuple[int, int] | None:
    """The lowest and highest number of a tensor's integer type; None for other types."""
    kind = DTYPES.get(C_TYPES.get(parameter.type, ""))
    if parameter.role is not Role.TENSOR or kind is None or kind.kind is not DtypeKind.INTEGER:
        return None
    bits = 8 * kind.itemsize
    return (
        (0, 2**bits - 1) if kind.name.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    )
