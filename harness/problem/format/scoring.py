"""Read timed cases, tolerance, work and limits: what decides a score."""

from collections.abc import Callable, Mapping

from harness.problem.dtypes import DTYPES, PRECISIONS, DtypeKind
from harness.problem.expressions import SIZEOF_VAR, Expression, ExpressionError
from harness.problem.format.fields import (
    FieldError,
    Fields,
    as_expression,
    as_real,
    one_of,
    real_above,
    whole_between,
)
from harness.problem.format.frontmatter import Data
from harness.problem.model import Limits, Parameter, Role, Tolerance
from harness.problem.sizes import MAX_SIZE, check_tensor, completed
from harness.text.suggest import did_you_mean, listing

MAX_BENCHMARKS = 32


def read_benchmarks(
    fields: Fields, key: str, parameters: tuple[Parameter, ...]
) -> tuple[Mapping[str, float], ...]:
    """The cases under ``key``, each a mapping from every size and scalar to its value.

    Those that follow from the sizes are not in the file, and computed.
    """
    if fields.empty(key):
        fields.complain(key, "lists no case")
    sections = fields.sections(key)
    if len(sections) > MAX_BENCHMARKS:
        fields.complain(key, f"has more than {MAX_BENCHMARKS} cases")
    # With parameters that are wrong themselves, sizes that do not go together say nothing new.
    sound = not any(d.key.startswith("parameters") for d in fields.report.diagnostics)
    return tuple(_read_case(section, parameters, sound=sound) for section in sections)


def _read_case(
    fields: Fields, parameters: tuple[Parameter, ...], *, sound: bool
) -> Mapping[str, float]:
    before = len(fields.report.diagnostics)
    case: dict[str, float] = {}
    for parameter in parameters:
        if parameter.role is Role.TENSOR or not parameter.name:
            continue
        what = "size" if parameter.role is Role.SIZE else "scalar"
        if parameter.equals is not None:
            if fields.pass_over(parameter.name):
                follows = f"follows from the sizes ({parameter.equals}): leave it out"
                fields.complain(parameter.name, follows)
            continue
        if parameter.name not in fields:
            fields.report.add(fields.location, f"lacks the {what} {parameter.name}")
        case[parameter.name] = fields.take(parameter.name, _converter(parameter), 1.0)
    fields.close(" (neither a size nor a scalar)")
    if sound and len(fields.report.diagnostics) == before:
        return _fitting(fields, parameters, case)
    return case


def _fitting(
    fields: Fields, parameters: tuple[Parameter, ...], case: dict[str, float]
) -> Mapping[str, float]:
    """``case`` with what follows from its sizes; if they do not go together, a complaint."""
    try:
        whole = completed(parameters, case)
    except ExpressionError as error:
        fields.report.add(fields.location, str(error))
        return case
    for parameter in parameters:
        try:
            if parameter.role is Role.TENSOR:
                check_tensor(parameter, whole)
        except ExpressionError as error:
            fields.report.add(fields.location, f"{parameter.name}: {error}")
    return whole


def _converter(parameter: Parameter) -> Callable[[Data], float]:
    return whole_between(1, MAX_SIZE) if parameter.role is Role.SIZE else as_real


def read_amount(fields: Fields, key: str, parameters: tuple[Parameter, ...]) -> Expression | None:
    """``flops`` or ``bytes``: an expression over sizes and scalars."""
    return _checked(fields, key, fields.take(key, as_expression, None), parameters)


def _checked(
    fields: Fields,
    key: str,
    expression: Expression | None,
    parameters: tuple[Parameter, ...],
) -> Expression | None:
    """``expression`` if all its names are sizes or scalars, else None and a complaint."""
    if expression is None:
        return None
    known = {p.name: p for p in parameters if p.role is not Role.TENSOR}
    unknown = sorted(expression.names - known.keys())
    for name in unknown:
        hint = did_you_mean(name, known) or listing("sizes", list(known))
        fields.complain(key, f"unknown size {name}{hint}")
    if unknown:
        return None
    values = {name: p.low if p.role is Role.SIZE else p.values.a for name, p in known.items()}
    try:
        if expression.evaluate({**values, SIZEOF_VAR: 4}) < 0:
            raise ExpressionError("is negative with every size at its lowest")
    except ExpressionError as error:
        fields.complain(key, str(error))
    return expression


def read_tolerance(fields: Fields, parameters: tuple[Parameter, ...]) -> Tolerance | None:
    """The constants of the error model, or None where the problem declares no tolerance."""
    if "tolerance" not in fields:
        fields.section("tolerance")
        return None
    section = fields.section("tolerance")
    length = _checked(section, "length", section.need("length", as_expression, None), parameters)
    kinds = (DtypeKind.FLOAT, DtypeKind.COMPLEX)
    floats = tuple(name for name, t in DTYPES.items() if t.kind in kinds)
    wide = {name: "float32" if DTYPES[name].itemsize < 4 else name for name in floats}
    declared = section.section("accumulator")
    accumulator = {name: declared.take(name, one_of(floats), wide[name]) for name in floats}
    declared.close()
    cut = section.section("inputs")
    inputs = {name: cut.take(name, _precision(name), name) for name in floats}
    cut.close()
    tolerance = Tolerance(
        accumulator=accumulator,
        length=length or Expression.parse(1),
        inputs={name: precision for name, precision in inputs.items() if precision != name},
        factor=section.take("factor", _not_negative, 4.0),
        constant=section.take("constant", _not_negative, 16.0),
        roundings=section.take("roundings", _not_negative, 1.0),
    )
    section.close()
    return tolerance


def _precision(name: str) -> Callable[[Data], str]:
    """A converter for the precisions that factors of type ``name`` may be cut to, or kept in."""
    return one_of(tuple(dict.fromkeys((*PRECISIONS, name))))


def _not_negative(value: Data) -> float:
    """A number that is not negative."""
    number = as_real(value)
    if number < 0:
        raise FieldError(f"must not be negative, not {number:g}")
    return number


def read_limits(fields: Fields) -> Limits:
    """The limits of a submission; defaults where the file says nothing."""
    section = fields.section("limits")
    default = Limits()
    limits = Limits(
        build_s=section.take("build_s", real_above(0.0), default.build_s),
        prepare_s=section.take("prepare_s", real_above(0.0), default.prepare_s),
        call_s=section.take("call_s", real_above(0.0), default.call_s),
        host_bytes=section.take("host_bytes", whole_between(1 << 20, 1 << 45), default.host_bytes),
    )
    section.close()
    return limits
