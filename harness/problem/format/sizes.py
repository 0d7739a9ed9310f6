"""Read what the front matter says of a size: its range, which numbers of it, and from when on."""

from collections.abc import Sequence
from dataclasses import replace

from harness.problem.dtypes import integer_limits
from harness.problem.expressions import SIZEOF_VAR, Expression, ExpressionError
from harness.problem.format.fields import (
    Converter,
    FieldError,
    Fields,
    as_expression,
    as_flag,
    whole_between,
)
from harness.problem.format.frontmatter import Data, FrontMatter, Location
from harness.problem.grid import Grid
from harness.problem.model import MAX_SIZE, Parameter
from harness.problem.sizes import bounds
from harness.problem.terms import Role

DRAWN = ("range", "case_range", "always", "multiple_of", "odd", "power_of_two")
"""The keys of a size that is drawn."""


def read_size(fields: Fields, parameter: Parameter, missing: list[str]) -> Parameter:
    """``parameter`` with its range and grid; what is left open is appended to ``missing``."""
    if "range" not in fields:
        missing.append(f"no range for {parameter.name}")
    ends = fields.items("range", range_end_of(parameter.type), min_items=2, max_items=2)
    narrow = fields.items("case_range", range_end_of(parameter.type), min_items=2, max_items=2)
    size = replace(parameter, grid=_read_grid(fields))
    if len(narrow) == 2:
        size = replace(size, case_range=(narrow[0], narrow[1]))
    size = _with_range(fields, size, ends)
    return replace(size, always=_read_always(fields, size))


def _with_range(fields: Fields, size: Parameter, ends: Sequence[Expression]) -> Parameter:
    """``size`` with these ends: plain ones moved to the numbers that it may be."""
    if len(ends) != 2:
        return replace(size, grid=Grid(), case_range=None)
    if ends[0].names or ends[1].names:
        return replace(size, lower=ends[0], upper=ends[1])
    low, high = (end.whole({}) for end in ends)
    if low > high:
        fields.complain("range", f"low ({low}) is greater than high ({high})")
    size = replace(size, low=min(low, high), high=max(low, high))
    try:
        low, high = bounds(size, {})
    except ExpressionError as error:
        fields.complain("range", str(error))
        return replace(size, grid=Grid(), case_range=None)
    return replace(size, low=low, high=high)


def _read_grid(fields: Fields) -> Grid:
    """Which numbers: multiples, odd ones, powers of two, or two of these at once."""
    every = fields.take("multiple_of", whole_between(1, MAX_SIZE), 1)
    odd = fields.take("odd", as_flag, False)
    powers = fields.take("power_of_two", as_flag, False)
    if odd and (powers or every % 2 == 0):
        other = "power of two is odd but 1" if powers else f"multiple of {every} is odd"
        fields.complain("odd", f"no {other}")
    elif powers and every & (every - 1):
        fields.complain("power_of_two", f"no power of two is a multiple of {every}")
    elif odd:
        return Grid(every=2 * every, rest=every)
    else:
        return Grid(every=every, powers=powers)
    return Grid()


def _read_always(fields: Fields, size: Parameter) -> tuple[int, ...]:
    """Values that every grade tries: of the declared kind, in the range if that bounds all."""
    always = tuple(dict.fromkeys(fields.items("always", whole_of(size.type))))
    bounded = size.case_range is not None and size.lower is None and size.upper is None
    for j, value in enumerate(always):
        message = ""
        if value not in size.grid:
            message = f"must be one of the {size.grid.words()}, not {value}"
        elif bounded and not size.low <= value <= size.high:
            message = f"must be in the range, from {size.low} to {size.high}, not {value}"
        if message:
            fields.file.complain((*fields.location, "always", j), message)
    return always


def limited(
    file: FrontMatter, parameters: Sequence[Parameter], places: Sequence[Location]
) -> list[Parameter]:
    """``parameters``, the sizes with the least and the most that they may be; checked.

    Dimensions and strides are 1 at least, and what goes into one is at most ``MAX_SIZE``.
    """
    expressions = [e for p in parameters for e in (*p.shape, *p.strides)]
    shaping = {name for expression in expressions for name in expression.names}
    plain = {expression.text for expression in expressions} & shaping
    found = []
    for parameter, place in zip(parameters, places, strict=True):
        if parameter.role is Role.SIZE and parameter.type:
            least, most = integer_limits(parameter.type)
            least = 1 if parameter.name in plain else least
            most = min(most, MAX_SIZE) if parameter.name in shaping else most
            _check_limits(file, place, parameter, least, most)
            parameter = _within(parameter, least, most)
        found.append(parameter)
    return found


def _free(size: Parameter) -> bool:
    return size.lower is None and size.upper is None and not size.derived


def _check_limits(
    file: FrontMatter, place: Location, size: Parameter, least: int, most: int
) -> None:
    """Check plain ends and ``always`` values, of which the C type is known to hold all."""
    given: dict[Location, float] = {("always", j): x for j, x in enumerate(size.always)}
    if _free(size):
        given |= {("range", 0): size.low, ("range", 1): size.high}
    why = f": {size.name} is a dimension" if least == 1 else ""
    for key, value in given.items():
        if not least <= value <= most:
            file.complain((*place, *key), f"must be from {least} to {most}, not {value}{why}")


def _within(size: Parameter, least: int, most: int) -> Parameter:
    """``size`` with these limits; where no bounds say more, none below its lowest and 1."""
    if not _free(size):
        return replace(size, least=least, most=most)
    low, high = max(size.low, least), min(size.high, most)
    if (low, high) != (size.low, size.high):  # which is complained of
        size = replace(size, grid=Grid(), case_range=None)
    low, high = min(low, high), max(low, high)
    lowest = min(1, low, *(int(value) for value in size.always))
    return replace(size, least=max(least, lowest), most=most, low=low, high=high)


def whole_of(c_type: str) -> Converter[int]:
    """A converter for whole numbers that a C type holds; any of 64 bits where it is wrong."""
    limits = integer_limits(c_type or "int64_t")

    def convert(value: Data) -> int:
        """A whole number that the C type holds."""
        return whole_between(*limits)(value)

    return convert


def range_end_of(c_type: str) -> Converter[Expression]:
    """A converter for one end of the range of a size of a C type."""
    limits = integer_limits(c_type or "int64_t")

    def convert(value: Data) -> Expression:
        """One end of a range: a whole number, or an expression over other sizes."""
        end = as_expression(value)
        if SIZEOF_VAR.replace(" ", "") in end.text.replace(" ", ""):
            raise FieldError(f"{SIZEOF_VAR} has no place in a range")
        if not end.names and not limits[0] <= end.whole({}) <= limits[1]:
            raise FieldError(f"must be from {limits[0]} to {limits[1]}, not {end.whole({})}")
        return end

    return convert
