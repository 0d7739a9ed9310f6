"""Read the ``parameters`` of a front matter: one record per argument of ``solution``."""

import keyword
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from harness.problem.dtypes import C_TYPES, DTYPES, VARIABLE_TYPE, DtypeKind
from harness.problem.expressions import SIZEOF_VAR, Expression, ExpressionError, Number
from harness.problem.format.fields import (
    FieldError,
    Fields,
    as_expression,
    as_flag,
    as_real,
    as_text,
    one_of,
    unknown_sizes,
    whole_between,
)
from harness.problem.format.frontmatter import Data
from harness.problem.format.values import read_values, related_values
from harness.problem.model import Distribution, Parameter
from harness.problem.sizes import MAX_SIZE, bounds, derive, needs, points
from harness.problem.terms import Direction, Role
from harness.text.plain import printable
from harness.text.suggest import did_you_mean

MAX_ALIGNMENT = 256
"""Bytes; no allocator promises more."""

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}", re.ASCII)
_RESERVED = re.compile(r"__|_[A-Z]", re.ASCII)
_TAKEN = {"solution", "VAR", "main", "sizeof", "NULL", "torch", "triton", "tl"}
_C_WORDS = """
alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t
char8_t class co_await co_return co_yield compl concept const const_cast consteval constexpr
constinit continue decltype default delete do double dynamic_cast else enum explicit export extern
false float for friend goto half if inline int int16_t int32_t int64_t int8_t long mutable
namespace new noexcept not not_eq nullptr operator or or_eq private protected public register
reinterpret_cast requires restrict return short signed size_t static static_assert static_cast
struct switch template this thread_local throw true try typedef typeid typename typeof uint16_t
uint32_t uint64_t uint8_t union unsigned using virtual void volatile wchar_t while xor xor_eq
blockDim blockIdx cuDoubleComplex cuFloatComplex gridDim threadIdx warpSize
"""
_ONE = Expression.parse(1)


def read_parameters(fields: Fields, missing: list[str]) -> tuple[Parameter, ...]:
    """All parameters, in order; what they leave open is appended to ``missing``, in words."""
    if "parameters" not in fields:
        fields.complain("parameters", "is missing")
    sections = fields.sections("parameters")
    if fields.empty("parameters"):
        fields.complain("parameters", "must list the arguments of solution, and lists none")
    parameters: list[Parameter] = []
    seen: dict[str, int] = {}
    for section in sections:
        parameter = _read_parameter(section, missing)
        name = parameter.name
        if name in seen:
            message = f"{name} is already the name of the parameter on line {seen[name]}"
            section.complain("name", message)
        elif name:
            seen[name] = parameter.line
        parameters.append(parameter)
    drawn = [p.values for p in parameters]
    related = _related(fields, [replace(p, values=Distribution()) for p in parameters])
    parameters = [replace(p, values=v) for p, v in zip(related, drawn, strict=True)]
    return related_values(fields, parameters)


def _read_parameter(fields: Fields, missing: list[str]) -> Parameter:
    name = fields.need("name", as_name, "")
    type_ = fields.need("type", as_type, "")
    pointer = fields.need("pointer", as_flag, "shape" in fields or "direction" in fields)
    role = _role(type_, pointer, sized="range" in fields)
    if role is not Role.TENSOR and name == "values":
        fields.complain("name", "values has another meaning in a case, like m=1,values=large")
    line, direction = fields.file.line(fields.location), _read_direction(fields, role)
    parameter = Parameter(name=name, type=type_, role=role, line=line, direction=direction)
    if role is Role.TENSOR:
        parameter = _read_tensor(fields, parameter, missing)
    elif fields.pass_over("equals"):
        for key in ("range", "always", "values"):
            if fields.pass_over(key):
                fields.complain(key, "what equals something is not drawn: leave this out")
        parameter = replace(parameter, equals=fields.take("equals", as_expression, _ONE))
    elif role is Role.SIZE:
        parameter = _read_size(fields, parameter, missing)
    else:
        if "values" not in fields:
            missing.append(f"no values for {name}")
        always = tuple(dict.fromkeys(fields.items("always", as_real)))
        parameter = replace(parameter, values=read_values(fields), always=always)
    if role is Role.SCALAR and type_ and type_ not in ("float", "double"):
        missing.append(f"{name}: only float and double can be passed by value, not {type_}")
    fields.close(f" for a {role}")
    return parameter


def _read_tensor(fields: Fields, parameter: Parameter, missing: list[str]) -> Parameter:
    # An empty shape would be a 0-dimensional tensor; a single number is [1].
    shape = fields.items("shape", as_expression, min_items=1, max_items=8)
    strides = fields.items("strides", as_expression, min_items=1, max_items=8)
    if "shape" not in fields:
        missing.append(f"no shape for {parameter.name}")
        if "strides" in fields:
            fields.complain("strides", "strides are of no use without a shape")
    elif shape and strides and len(shape) != len(strides):
        found = f"{len(strides)} for {len(shape)} dimensions"
        fields.complain("strides", f"there must be one for each dimension, not {found}")
    nonfinite = fields.take("nonfinite", as_flag, False)
    if nonfinite and parameter.direction is Direction.OUT:
        fields.complain("nonfinite", "only what is read can be told to hold NaN; this is written")
    c_type = C_TYPES.get(parameter.type)  # [VAR] can be NaN, with the right data type
    if nonfinite and c_type and not DTYPES[c_type].roundoff:
        fields.complain("nonfinite", f"there is no NaN of type {parameter.type}")
        nonfinite = False
    return replace(
        parameter,
        shape=shape,
        strides=strides if len(strides) == len(shape) else (),
        alignment=fields.take("alignment", as_alignment, None),
        nonfinite=nonfinite,
        values=read_values(fields),
    )


def _read_size(fields: Fields, parameter: Parameter, missing: list[str]) -> Parameter:
    always = tuple(dict.fromkeys(fields.items("always", whole_between(1, MAX_SIZE))))
    if "range" not in fields:
        missing.append(f"no range for {parameter.name}")
    ends = fields.items("range", as_range_end, min_items=2, max_items=2)
    if len(ends) != 2:
        return replace(parameter, always=always)
    if ends[0].names or ends[1].names:
        return replace(parameter, always=always, lower=ends[0], upper=ends[1])
    low, high = (end.whole({}) for end in ends)
    if low > high:
        fields.complain("range", f"low ({low}) is greater than high ({high})")
    return replace(parameter, always=always, low=min(low, high), high=max(low, high))


def _related(fields: Fields, parameters: list[Parameter]) -> tuple[Parameter, ...]:
    """``parameters`` with the relations between sizes checked, and the ends they lead to."""
    sizes = [p.name for p in parameters if p.role is Role.SIZE]
    before = len(fields.file.diagnostics)

    def refuse(i: int, message: str) -> None:
        """Complain of a size's relations, and drop them, so that the rest can still be read."""
        p = parameters[i]
        key, constant = ("equals", _ONE) if p.derived else ("range", None)
        fields.file.complain(("parameters", i, key), message)
        parameters[i] = replace(p, lower=None, upper=None, equals=constant)

    for i, parameter in enumerate(parameters):
        for message in unknown_sizes(needs(parameter), sizes):
            refuse(i, message)
    for i, parameter in enumerate(parameters):
        if way := _circle(parameter, parameters):
            through = f", through {', '.join(way)}" if way[0] != parameter.name else ""
            refuse(i, f"{parameter.name} depends on itself{through}")
    # What is built on something wrong can be looked at only once that is out of the way.
    while problems := _relation_problems(parameters):
        for i, parameter in enumerate(parameters):
            if parameter.name in problems:
                refuse(i, problems[parameter.name])
    tried = [values for _, values in points(parameters)]
    parameters = [_with_ends(p, tried) for p in parameters]
    if len(fields.file.diagnostics) == before:
        _check_always(fields, parameters)
    return tuple(parameters)


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


def _relation_problems(parameters: list[Parameter]) -> dict[str, str]:
    """By name of a size or scalar: what is wrong with its ends or value at some point."""
    found: dict[str, str] = {}
    related = [p for p in parameters if needs(p) or p.derived]
    for where, values in points(parameters) if related else ():
        for p in related:
            # A size that has no value here itself is complained of, not those made of it.
            if p.name in found or not needs(p) <= values.keys():
                continue
            try:
                (derive if p.derived else bounds)(p, values)
            except ExpressionError as error:
                found[p.name] = f"{error} {where}"
    return found


def _with_ends(p: Parameter, tried: Sequence[Mapping[str, Number]]) -> Parameter:
    """A size that depends on others with ``low`` and ``high`` over all points ``tried``."""
    if p.role is not Role.SIZE or not (needs(p) or p.derived):
        return p
    found = [int(values[p.name]) for values in tried if p.name in values]
    return replace(p, low=min(found), high=max(found))


def _check_always(fields: Fields, parameters: list[Parameter]) -> None:
    """Check that ``always`` values of dependent sizes lie in their range with some other sizes."""
    for i, p in enumerate(parameters):
        low, high = sorted((p.low, p.high))
        for j, value in enumerate(p.always if needs(p) else ()):
            if not low <= value <= high:
                message = f"{value:g} is never in the range, which is {low} to {high} at most"
                fields.file.complain(("parameters", i, "always", j), message)


def as_name(value: Data) -> str:
    """A name that is an identifier in C, C++ and Python, because it becomes one in all of them."""
    name = as_text(value)
    if not _IDENTIFIER.fullmatch(name):
        shown = printable(name)
        raise FieldError(f"{shown!r} is no identifier (letters, digits and _, at most 63)")
    if keyword.iskeyword(name) or name in _C_WORDS.split():
        raise FieldError(f"{name} is a keyword or a type in C++ or Python")
    if _RESERVED.match(name) or name in _TAKEN:
        raise FieldError(f"{name} is reserved")
    return name


def as_type(value: Data) -> str:
    """A C type, or ``[VAR]``, which YAML reads as a list when it is not quoted."""
    text = "VAR" if value == ["VAR"] else " ".join(as_text(value).split())
    if text in (VARIABLE_TYPE, "VAR"):
        return VARIABLE_TYPE
    if text not in C_TYPES:
        hint = did_you_mean(text, [*C_TYPES, VARIABLE_TYPE])
        raise FieldError(f"unknown type {printable(text)}{hint}")
    return text


def _role(type_: str, pointer: bool, *, sized: bool) -> Role:
    """The role by type; by ``sized`` where that is wrong: one mistake brings one complaint."""
    if pointer:
        return Role.TENSOR
    if type_:
        sized = type_ in C_TYPES and DTYPES[C_TYPES[type_]].kind is DtypeKind.INTEGER
    return Role.SIZE if sized else Role.SCALAR


def _read_direction(fields: Fields, role: Role) -> Direction | None:
    """As declared, or by ``const`` (or ``constant``: both spellings are in use)."""
    if "const" in fields and "constant" in fields:
        fields.complain("constant", "const and constant are the same key: give one of them")
    constant, other = (fields.take(key, as_flag, None) for key in ("const", "constant"))
    constant = other if constant is None else constant
    if role is not Role.TENSOR:
        if "direction" in fields:
            fields.take("direction", as_text, "")
            fields.complain("direction", "only pointers have a direction")
        return None
    word = fields.take("direction", one_of(tuple(Direction)), "")
    if not word:
        if constant is None and not any(k in fields for k in ("const", "constant", "direction")):
            fields.complain("const", "is missing (true for an input, false for an output)")
        return Direction.IN if constant else Direction.OUT
    direction = Direction(word)
    if constant is not None and constant != (direction is Direction.IN):
        declared = "const" if constant else "not const"
        fields.complain("direction", f"is {direction}, but the parameter is {declared}")
    return direction


def as_range_end(value: Data) -> Expression:
    """One end of a range: a size, or an expression over other sizes."""
    end = as_expression(value)
    if SIZEOF_VAR.replace(" ", "") in end.text.replace(" ", ""):
        raise FieldError(f"{SIZEOF_VAR} has no place in a range")
    if not end.names:
        number = end.whole({})
        if not 1 <= number <= MAX_SIZE:
            raise FieldError(f"must be from 1 to {MAX_SIZE}, not {number}")
    return end


def as_alignment(value: Data) -> Expression:
    """Bytes: a power of two, or ``sizeof(VAR)``, perhaps times something."""
    expression = as_expression(value)
    if expression.names:
        raise FieldError(f"must be a number of bytes or {SIZEOF_VAR}, not {expression.text!r}")
    for size in (1, 2, 4, 8, 16):
        number = expression.whole({SIZEOF_VAR: size})
        if number < 1 or number & (number - 1) or number > MAX_ALIGNMENT:
            wanted = f"a power of two of at most {MAX_ALIGNMENT} (bytes)"
            raise FieldError(f"must be {wanted}, not {number}")
    return expression
