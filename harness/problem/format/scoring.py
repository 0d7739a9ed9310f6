"""Read timed cases, tolerance, work and limits: what decides a score."""

from collections.abc import Mapping

from harness.problem.case import DECLARED, FAMILIES, NONFINITE
from harness.problem.dtypes import DTYPES, PRECISIONS, DtypeKind
from harness.problem.expressions import SIZEOF_VAR, Expression, ExpressionError
from harness.problem.format.fields import (
    Converter,
    FieldError,
    Fields,
    as_expression,
    as_positive,
    as_real,
    one_of,
    unknown_sizes,
    whole_between,
)
from harness.problem.format.frontmatter import Data
from harness.problem.model import Parameter, Tolerance, inexact_types
from harness.problem.sizes import check_tensor, completed
from harness.problem.terms import Limits, Role
from harness.text.plain import printable
from harness.text.suggest import did_you_mean

MAX_BENCHMARKS = 32

_FLOATS = tuple(
    name for name, t in DTYPES.items() if t.kind in (DtypeKind.FLOAT, DtypeKind.COMPLEX)
)
_MODEL = ("length", "accumulator", "inputs", "factor", "constant", "roundings")
"""The keys of the error model."""
_NO_AMOUNTS: Mapping[str, float] = {}


def read_benchmarks(
    fields: Fields, key: str, parameters: tuple[Parameter, ...]
) -> tuple[Mapping[str, float], ...]:
    """The cases under ``key``: every size and scalar by name, those that follow computed."""
    if fields.empty(key):
        fields.complain(key, "lists no case")
    sections = fields.sections(key)
    if len(sections) > MAX_BENCHMARKS:
        fields.complain(key, f"has more than {MAX_BENCHMARKS} cases")
    # With parameters that are wrong themselves, sizes that do not go together say nothing new.
    sound = not any(d.key.startswith(("parameters", "sizes")) for d in fields.file.diagnostics)
    return tuple(_read_case(section, parameters, sound=sound) for section in sections)


def _read_case(
    fields: Fields, parameters: tuple[Parameter, ...], *, sound: bool
) -> Mapping[str, float]:
    before = len(fields.file.diagnostics)
    case: dict[str, float] = {}
    for p in parameters:
        if p.role is Role.TENSOR or not p.name:
            continue
        if p.equals is not None:
            if fields.pass_over(p.name):
                fields.complain(p.name, f"follows from the sizes ({p.equals}): leave it out")
            continue
        if p.name not in fields:
            fields.file.complain(fields.location, f"lacks the {p.role} {p.name}")
        convert = _size_of(p) if p.role is Role.SIZE else as_real
        case[p.name] = fields.take(p.name, convert, 1.0)
    fields.close(" (neither a size nor a scalar)")
    if not sound or len(fields.file.diagnostics) > before:
        return case
    try:
        whole = completed(parameters, case)
    except ExpressionError as error:
        fields.file.complain(fields.location, str(error))
        return case
    for p in parameters:
        try:
            if p.role is Role.TENSOR:
                check_tensor(p, whole)
                p.values.at(whole)
        except ExpressionError as error:
            fields.file.complain(fields.location, f"{p.name}: {error}")
    return whole


def _size_of(parameter: Parameter) -> Converter[float]:
    """A converter for the values of a size."""
    limits = parameter.least, parameter.most

    def convert(value: Data) -> float:
        """A whole number that the size may be."""
        return whole_between(*limits)(value)

    return convert


def read_benchmark_values(
    fields: Fields, parameters: tuple[Parameter, ...]
) -> tuple[str, ...] | None:
    """The families of values that timed calls take; None where the file does not say."""
    key = "benchmark_values"
    named = fields.items(key, one_of(FAMILIES), min_items=1)
    if len(set(named)) != len(named):
        fields.complain(key, "names a family twice")
    if NONFINITE in named and not any(p.nonfinite for p in parameters):
        fields.complain(key, f"no tensor may hold NaN ({NONFINITE})")
    return named or None


def read_without_values(fields: Fields, timed: tuple[str, ...] | None) -> tuple[str, ...]:
    """The families of values that no call has; none of those that ``timed`` calls are to have."""
    key = "without_values"
    named = fields.items(key, one_of(FAMILIES), min_items=1)
    if DECLARED in named:
        fields.complain(key, f"{DECLARED} values are never left out")
    if len(set(named)) != len(named):
        fields.complain(key, "names a family twice")
    for family in sorted(set(named) & set(timed or ())):
        fields.complain(key, f"{family} is among benchmark_values")
    return named


def read_amount(fields: Fields, key: str, parameters: tuple[Parameter, ...]) -> Expression | None:
    """An expression over sizes and scalars; None, with a complaint, if other names are in it."""
    expression = fields.take(key, as_expression, None)
    if expression is None:
        return None
    known = {p.name: p for p in parameters if p.role is not Role.TENSOR}
    if unknown := unknown_sizes(expression.names, known):
        for message in unknown:
            fields.complain(key, message)
        return None
    values = {name: p.low if p.role is Role.SIZE else p.values.a for name, p in known.items()}
    try:
        if expression.evaluate({**values, SIZEOF_VAR: 4}) < 0:
            raise ExpressionError("is negative with every size at its lowest")
    except ExpressionError as error:
        fields.complain(key, str(error))
    return expression


def read_tolerance(
    fields: Fields, parameters: tuple[Parameter, ...], dtypes: tuple[str, ...]
) -> Tolerance | None:
    """The constants of the error model, or None where the problem declares no tolerance."""
    section = fields.section("tolerance")
    if "tolerance" not in fields:
        return None
    rtol, atol = (section.take(key, as_amounts, _NO_AMOUNTS) for key in ("rtol", "atol"))
    stated = "rtol" in section or "atol" in section
    alone = stated and not any(key in section for key in _MODEL)
    if alone:
        _check_amounts(section, parameters, dtypes, {**rtol, **atol})
    elif "length" not in section:
        section.complain("length", "is missing")
    length = read_amount(section, "length", parameters)
    wide = {name: "float32" if DTYPES[name].itemsize < 4 else name for name in _FLOATS}
    declared = section.section("accumulator")
    accumulator = {name: declared.take(name, one_of(_FLOATS), wide[name]) for name in _FLOATS}
    declared.close()
    cut = section.section("inputs")
    # To a lower precision, or to their own, which results do not have before they are cut.
    to = {name: one_of(tuple(dict.fromkeys((*PRECISIONS, name)))) for name in _FLOATS}
    inputs = {name: cut.take(name, to[name], name) for name in _FLOATS if name in cut}
    cut.close()
    tolerance = Tolerance(
        accumulator=accumulator,
        length=length or Expression.parse(1),
        inputs=inputs,
        factor=section.take("factor", _not_negative, 0.0 if alone else 4.0),
        constant=section.take("constant", _not_negative, 0.0 if alone else 16.0),
        roundings=section.take("roundings", _not_negative, 0.0 if alone else 1.0),
        rtol=rtol,
        atol=atol,
    )
    section.close()
    return tolerance


def as_amounts(value: Data) -> Mapping[str, float]:
    """A number of at least 0, or one for each data type of an output: `{float32: 1e-5}`."""
    if not isinstance(value, dict):
        return dict.fromkeys(_FLOATS, _not_negative(value))
    for name in value:
        if name not in _FLOATS:
            hint = did_you_mean(name, _FLOATS) or f" (one of {', '.join(_FLOATS)})"
            raise FieldError(f"unknown data type {printable(name)}{hint}")
    return {name: _not_negative(number) for name, number in value.items()}


def _check_amounts(
    section: Fields,
    parameters: tuple[Parameter, ...],
    dtypes: tuple[str, ...],
    given: Mapping[str, float],
) -> None:
    """Complain about a type of output that is not told how far it may be off."""
    lacking = [name for name in inexact_types(parameters, dtypes) if name not in given]
    if lacking:
        section.file.complain(section.location, f"has neither rtol nor atol for {lacking[0]}")


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
        build_s=section.take("build_s", as_positive, default.build_s),
        prepare_s=section.take("prepare_s", as_positive, default.prepare_s),
        call_s=section.take("call_s", as_positive, default.call_s),
        cases_s=section.take("cases_s", as_positive, default.cases_s),
        idle_s=section.take("idle_s", as_positive, default.idle_s),
        timed_s=section.take("timed_s", as_positive, default.timed_s),
        shrink_s=section.take("shrink_s", as_positive, default.shrink_s),
        host_bytes=section.take("host_bytes", whole_between(1 << 20, 1 << 45), default.host_bytes),
    )
    section.close()
    return limits
