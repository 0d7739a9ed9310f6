"""Check the relations between sizes and scalars that a front matter declares."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from harness.problem.expressions import Expression, ExpressionError, Number
from harness.problem.format.fields import unknown_sizes
from harness.problem.format.frontmatter import FrontMatter, Location
from harness.problem.format.sizes import limited
from harness.problem.grid import Grid
from harness.problem.model import Parameter
from harness.problem.sizes import bounds, case_bounds, derive, needs, points
from harness.problem.terms import Role

ONE = Expression.parse(1)
"""What a parameter equals in place of an expression that is wrong."""


def related(
    file: FrontMatter, declared: Sequence[Parameter], places: Sequence[Location]
) -> tuple[Parameter, ...]:
    """``declared`` with their relations checked, and the ends that these lead to.

    ``places`` says where the file declares each.
    """
    before = len(file.diagnostics)
    parameters = limited(file, declared, places)
    sizes = [p.name for p in parameters if p.role is Role.SIZE]

    def refuse(i: int, key: str, message: str) -> None:
        """Complain of a size's relations, and drop them, so that the rest can still be read."""
        p = parameters[i]
        file.complain((*places[i], key), message)
        constant = ONE if p.derived else None
        p = replace(p, lower=None, upper=None, case_range=None, equals=constant)
        parameters[i] = replace(p, grid=Grid(), low=1, high=1)

    for i, parameter in enumerate(parameters):
        for message in unknown_sizes(needs(parameter), sizes):
            refuse(i, _key(parameter), message)
    for i, parameter in enumerate(parameters):
        if way := _circle(parameter, parameters):
            through = f", through {', '.join(way)}" if way[0] != parameter.name else ""
            refuse(i, _key(parameter), f"{parameter.name} depends on itself{through}")
    # What is built on something wrong can be looked at only once that is out of the way.
    while problems := _relation_problems(parameters):
        for i, parameter in enumerate(parameters):
            if parameter.name in problems:
                refuse(i, *problems[parameter.name])
    tried = [values for _, values in points(parameters)]
    parameters = [_with_ends(p, tried) for p in parameters]
    if len(file.diagnostics) == before:
        _check_always(file, parameters, places)
    return tuple(parameters)


def _key(parameter: Parameter) -> str:
    """The key that relates it to others."""
    plain = parameter.lower is None and parameter.upper is None
    return "equals" if parameter.derived else "case_range" if plain else "range"


def _circle(parameter: Parameter, parameters: list[Parameter]) -> list[str]:
    """The names on a way from a parameter back to itself; empty if there is none."""
    named = {p.name: p for p in parameters}
    ways: list[list[str]] = [[name] for name in sorted(needs(parameter))]
    seen: set[str] = set()
    while ways:
        way = ways.pop(0)
        if way[-1] == parameter.name:
            return way[:-1] or way
        if way[-1] not in seen:
            seen.add(way[-1])
            ways += [[*way, name] for name in sorted(needs(named[way[-1]]))]
    return []


def _relation_problems(parameters: list[Parameter]) -> dict[str, tuple[str, str]]:
    """By name of a size or scalar: key and what is wrong with its ends or value at some point."""
    found: dict[str, tuple[str, str]] = {}
    dependent = [p for p in parameters if needs(p) or p.derived or p.case_range]
    for where, values in points(parameters) if dependent else ():
        for p in dependent:
            # A size that has no value here itself is complained of, not those made of it.
            if p.name in found or not needs(p) <= values.keys():
                continue
            key = "equals" if p.derived else "range"
            try:
                (derive if p.derived else bounds)(p, values)
                if p.case_range is not None:
                    key = "case_range"
                    case_bounds(p, values)
            except ExpressionError as error:
                found[p.name] = key, f"{error} {where}"
    return found


def _with_ends(p: Parameter, tried: Sequence[Mapping[str, Number]]) -> Parameter:
    """A size that depends on others with ``low`` and ``high`` over all points ``tried``."""
    if p.role is not Role.SIZE or not (needs(p) or p.derived):
        return p
    found = [int(values[p.name]) for values in tried if p.name in values]
    return replace(p, low=min(found), high=max(found))


def _check_always(
    file: FrontMatter, parameters: Sequence[Parameter], places: Sequence[Location]
) -> None:
    """Check that ``always`` values of dependent sizes lie in their range with some other sizes."""
    for p, place in zip(parameters, places, strict=True):
        low, high = sorted((p.low, p.high))
        for j, value in enumerate(p.always if needs(p) else ()):
            if not low <= value <= high:
                message = f"{value:g} is never in the range, which is {low} to {high} at most"
                file.complain((*place, "always", j), message)
