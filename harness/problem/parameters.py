"""Read the ``parameters`` of a front matter: one record per argument of ``solution``."""

import keyword
import re

from harness.problem.dtypes import C_TYPES, DTYPES, VARIABLE_TYPE, Kind
from harness.problem.expressions import Expression
from harness.problem.fields import (
    FieldError,
    Fields,
    as_expression,
    as_flag,
    as_real,
    as_text,
    one_of,
    real_above,
    whole_between,
)
from harness.problem.frontmatter import Data, printable
from harness.problem.model import Direction, Distribution, Parameter, Role
from harness.problem.suggest import did_you_mean

MAX_SIZE = 2**31 - 1
"""Largest value of a size parameter."""

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
blockDim blockIdx gridDim threadIdx warpSize
"""
_C_KEYWORDS = frozenset(_C_WORDS.split())


def read_parameters(fields: Fields, missing: list[str]) -> tuple[Parameter, ...]:
    """All parameters, in order.

    What is wrong with them is reported through ``fields``; what they leave open is appended to
    ``missing``, in words.
    """
    if "parameters" not in fields:
        fields.complain("parameters", "is missing")
    sections = fields.sections("parameters")
    if fields.empty("parameters"):
        fields.complain("parameters", "must list the arguments of solution, and lists none")
    parameters: list[Parameter] = []
    seen: dict[str, int] = {}
    for section in sections:
        parameter = _read_parameter(section, missing)
        if parameter.name in seen:
            first = seen[parameter.name]
            section.complain(
                "name", f"{parameter.name} is already the name of the parameter on line {first}"
            )
        elif parameter.name:
            seen[parameter.name] = parameter.line
        parameters.append(parameter)
    return tuple(parameters)


def _read_parameter(fields: Fields, missing: list[str]) -> Parameter:
    name = fields.need("name", as_name, "")
    type_ = fields.need("type", as_type, "")
    pointer = fields.need("pointer", as_flag, "shape" in fields or "direction" in fields)
    role = _role(type_, pointer, sized="range" in fields)
    if role is not Role.TENSOR and name == "values":
        fields.complain("name", "values has another meaning in a case, like m=1,values=large")
    direction = _read_direction(fields, role)
    shape: tuple[Expression, ...] = ()
    values = Distribution()
    low, high = 1, 1
    always: tuple[float, ...] = ()
    if role is Role.TENSOR:
        # An empty shape would be a 0-dimensional tensor; a single number is [1].
        shape = fields.items("shape", as_expression, fewest=1, most=8)
        values = _read_values(fields)
        if "shape" not in fields:
            missing.append(f"no shape for {name}")
    elif role is Role.SIZE:
        low, high = _read_range(fields)
        always = fields.items("always", whole_between(1, MAX_SIZE))
        if "range" not in fields:
            missing.append(f"no range for {name}")
    else:
        values = _read_values(fields)
        always = fields.items("always", as_real)
        if "values" not in fields:
            missing.append(f"no values for {name}")
        if type_ and type_ not in ("float", "double"):
            missing.append(f"{name}: only float and double can be passed by value, not {type_}")
    fields.close(f" for a {role}")
    return Parameter(
        name=name,
        type=type_,
        role=role,
        line=fields.report.matter.line(fields.location),
        direction=direction,
        shape=shape,
        values=values,
        low=low,
        high=high,
        always=tuple(dict.fromkeys(always)),
    )


def as_name(value: Data) -> str:
    """A name that is an identifier in C, C++ and Python, because it becomes one in all of them."""
    name = as_text(value)
    if not _IDENTIFIER.fullmatch(name):
        raise FieldError(
            f"{printable(name)!r} is no identifier (letters, digits and _, at most 63)"
        )
    if keyword.iskeyword(name) or name in _C_KEYWORDS:
        raise FieldError(f"{name} is a keyword or a type in C++ or Python")
    if _RESERVED.match(name) or name in _TAKEN:
        raise FieldError(f"{name} is reserved")
    return name


def as_type(value: Data) -> str:
    """A C type, or ``[VAR]``, which YAML reads as a list when it is not quoted."""
    if value == ["VAR"]:
        return VARIABLE_TYPE
    text = " ".join(as_text(value).split())
    if text in (VARIABLE_TYPE, "VAR"):
        return VARIABLE_TYPE
    if text not in C_TYPES:
        hint = did_you_mean(text, [*C_TYPES, VARIABLE_TYPE])
        raise FieldError(f"unknown type {printable(text)}{hint}")
    return text


def _role(type_: str, pointer: bool, *, sized: bool) -> Role:
    """``sized`` decides where the type is wrong, so that one mistake brings one complaint."""
    if pointer:
        return Role.TENSOR
    if not type_:
        return Role.SIZE if sized else Role.SCALAR
    kind = DTYPES[C_TYPES[type_]].kind if type_ in C_TYPES else Kind.FLOAT
    return Role.SIZE if kind is Kind.INTEGER else Role.SCALAR


def _read_direction(fields: Fields, role: Role) -> Direction | None:
    """Declared, or else what ``const`` (or ``constant``: both spellings are in use) says."""
    if "const" in fields and "constant" in fields:
        fields.complain("constant", "const and constant are the same key: give one of them")
    constants = [fields.take(key, as_flag, None) for key in ("const", "constant")]
    constant = next((c for c in constants if c is not None), None)
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
        other = "const" if constant else "not const"
        fields.complain("direction", f"is {direction}, but the parameter is {other}")
    return direction


def _read_values(fields: Fields) -> Distribution:
    """``{distribution: normal, mean, std}`` or ``{distribution: uniform, low, high}``."""
    if "values" not in fields:
        fields.take("values", as_text, "")
        return Distribution()
    section = fields.section("values")
    kind = section.need("distribution", one_of(("normal", "uniform")), "")
    if kind == "uniform":
        a = section.take("low", as_real, 0.0)
        b = section.take("high", as_real, 1.0)
        if a > b:
            section.complain("high", f"must not be less than low ({a:g})")
    else:
        a = section.take("mean", as_real, 0.0)
        b = section.take("std", real_above(0.0), 1.0)
    if kind:
        section.close(f" for a {kind} distribution")
    return Distribution(kind=kind or "normal", a=a, b=b)


def _read_range(fields: Fields) -> tuple[int, int]:
    """``range: [low, high]``, both included."""
    bounds = fields.items("range", whole_between(1, MAX_SIZE), fewest=2, most=2)
    if len(bounds) != 2:
        return 1, 1
    low, high = bounds
    if low > high:
        fields.complain("range", f"low ({low}) is greater than high ({high})")
        return high, low
    return low, high
