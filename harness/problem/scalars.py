"""Draw scalars whose bounds follow from sizes and other scalars; try such bounds at many points.

Sizes never depend on scalars; a scalar may depend on sizes, on derived scalars, and on others that
are drawn, but not in a circle. What has no value raises ``ExpressionError``.
"""

import contextlib
import random
from collections.abc import Iterator, Mapping, Sequence

from harness.problem.expressions import ExpressionError, Number
from harness.problem.model import Distribution, Parameter
from harness.problem.sizes import as_received, derive, in_order, needs, points
from harness.problem.terms import Role

_FAR = 8.0
"""Standard deviations from the mean that no number which is drawn is beyond."""


def draw_scalar(parameter: Parameter, values: Mapping[str, Number], source: random.Random) -> float:
    """A scalar drawn by its distribution for these sizes and scalars, as it is received."""
    drawn = parameter.values.at(values)
    draw = source.uniform if drawn.kind == "uniform" else source.gauss
    return as_received(parameter, draw(drawn.a, drawn.b))


def moved(parameter: Parameter, values: Mapping[str, Number], value: float) -> float:
    """The value nearest to ``value`` that a scalar may have with these sizes and scalars.

    One whose bounds are plain numbers may have any.
    """
    drawn = parameter.values.at(values)
    if drawn.kind == "uniform" and needs(parameter):
        value = min(max(value, drawn.a), drawn.b)
    return as_received(parameter, value)


def scalar_points(parameters: Sequence[Parameter]) -> Iterator[dict[str, Number]]:
    """Sets of sizes and scalars to try a declaration with.

    To each set of sizes (:func:`harness.problem.sizes.points`) scalars at their lowest, at their
    highest and somewhere between; with all sizes at an end also each at its other end and at its
    ``always`` values. A set may lack what has no value there.
    """
    scalars = [p for p in in_order(parameters) if p.role is Role.SCALAR]
    free = [p for p in scalars if not needs(p) and not p.derived]
    source = random.Random(0)  # noqa: S311 - any scalars will do, the same every time
    for number, (_, sizes) in enumerate(points(parameters)):
        for end in (0, 1):
            yield _at(scalars, sizes, {}, end)
            corners = ((p, x) for p in free for x in (_ends(p.values)[1 - end], *p.always))
            for p, value in corners if number < 2 else ():
                yield _at(scalars, sizes, {p.name: as_received(p, value)}, end)
        yield _at(scalars, sizes, {p.name: draw_scalar(p, {}, source) for p in free}, number % 2)


def _at(
    scalars: Sequence[Parameter], sizes: Mapping[str, Number], chosen: Mapping[str, float], end: int
) -> dict[str, Number]:
    """``sizes`` with all scalars, those that are not ``chosen`` at their lower or upper end."""
    values: dict[str, Number] = {**sizes, **chosen}
    for p in scalars:
        if p.name not in values:
            # Without a value it is left out: complained of where it is looked up.
            with contextlib.suppress(ExpressionError):
                ends = None if p.derived else _ends(p.values.at(values))
                values[p.name] = derive(p, values) if ends is None else as_received(p, ends[end])
    return values


def _ends(values: Distribution) -> tuple[float, float]:
    """The lowest and the highest value of a distribution with plain numbers, or nearly."""
    if values.kind == "uniform":
        return values.a, values.b
    return values.a - _FAR * values.b, values.a + _FAR * values.b
