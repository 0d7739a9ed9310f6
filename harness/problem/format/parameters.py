"""Read the ``parameters`` of a front matter: one record per argument of ``solution``."""

import keyword
import re
from dataclasses import replace

from harness.problem.dtypes import C_TYPES, DTYPES, VARIABLE_TYPE, DtypeKind
from harness.problem.expressions import SIZEOF_VAR, Expression
from harness.problem.format.fields import (
    FieldError,
    Fields,
    as_expression,
    as_flag,
    as_real,
    as_text,
    one_of,
)
from harness.problem.format.frontmatter import Data
from harness.problem.format.relations import ONE, related
from harness.problem.format.sizes import DRAWN, read_size
from harness.problem.format.values import read_values, related_values
from harness.problem.model import Distribution, Parameter
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
_OF_PARAMETERS = ("sizes", "dtypes", "benchmarks", "cpu_benchmarks", "tolerance", "flops", "bytes")
"""Keys that say something of parameters: who has them has forgotten these."""

_NO_PARAMETERS = (
    "no parameters: the arguments of solution, with their shapes, ranges and values, belong into "
    "this front matter (docs/reference/problem-format.md); a def.py beside it is not read"
)


def read_parameters(
    fields: Fields, missing: list[str]
) -> tuple[tuple[Parameter, ...], tuple[Parameter, ...]]:
    """The sizes that are no parameters, and all parameters, in order.

    What they leave open is appended to ``missing``, in words.
    """
    if fields.empty("parameters"):
        fields.complain("parameters", "must list the arguments of solution, and lists none")
    if "parameters" not in fields and any(key in fields for key in _OF_PARAMETERS):
        fields.complain("parameters", "is missing")
    elif "parameters" not in fields:
        missing.append(_NO_PARAMETERS)
    unpassed = fields.sections("sizes")
    sections = (*unpassed, *fields.sections("parameters"))
    parameters: list[Parameter] = []
    seen: dict[str, int] = {}
    for i, section in enumerate(sections):
        read = _read_parameter if i >= len(unpassed) else _read_unpassed
        parameter = read(section, missing)
        name = parameter.name
        if name in seen:
            message = f"{name} is already the name of the parameter on line {seen[name]}"
            section.complain("name", message)
        elif name:
            seen[name] = parameter.line
        parameters.append(parameter)
    places = [section.location for section in sections]
    drawn = [p.values for p in parameters]
    plain = [replace(p, values=Distribution()) for p in parameters]
    fitting = related(fields.file, plain, places)
    parameters = [replace(p, values=v) for p, v in zip(fitting, drawn, strict=True)]
    found = related_values(fields.file, parameters, places)
    return found[: len(unpassed)], found[len(unpassed) :]


def _read_unpassed(fields: Fields, missing: list[str]) -> Parameter:
    """A size that is no parameter: it has no C type, and fits 64 bits."""
    name, line = fields.need("name", as_name, ""), fields.file.line(fields.location)
    size = Parameter(name=name, type="int64_t", role=Role.SIZE, line=line)
    size = _read_number(fields, size, missing)
    fields.close(" for a size that is no parameter")
    return size


def _read_parameter(fields: Fields, missing: list[str]) -> Parameter:
    name = fields.need("name", as_name, "")
    type_ = fields.need("type", as_type, "")
    pointer = fields.need("pointer", as_flag, "shape" in fields or "direction" in fields)
    role = _role(type_, pointer, sized="range" in fields)
    line, direction = fields.file.line(fields.location), _read_direction(fields, role)
    parameter = Parameter(name=name, type=type_, role=role, line=line, direction=direction)
    read = _read_tensor if role is Role.TENSOR else _read_number
    parameter = read(fields, parameter, missing)
    if role is Role.SCALAR and type_ and type_ not in ("float", "double"):
        missing.append(f"{name}: only float and double can be passed by value, not {type_}")
    fields.close(f" for a {role}")
    return parameter


def _read_number(fields: Fields, parameter: Parameter, missing: list[str]) -> Parameter:
    """A size or a scalar, drawn or derived."""
    if parameter.name == "values":
        fields.complain("name", "values has another meaning in a case, like m=1,values=large")
    if fields.pass_over("equals"):
        for key in (*DRAWN, "values"):
            if fields.pass_over(key):
                fields.complain(key, "what equals something is not drawn: leave this out")
        return replace(parameter, equals=fields.take("equals", as_expression, ONE))
    if parameter.role is Role.SIZE:
        return read_size(fields, parameter, missing)
    if "values" not in fields:
        missing.append(f"no values for {parameter.name}")
    always = tuple(dict.fromkeys(fields.items("always", as_real)))
    return replace(parameter, values=read_values(fields), always=always)


def _read_tensor(fields: Fields, parameter: Parameter, missing: list[str]) -> Parameter:
    shape = fields.items("shape", as_expression, max_items=8)
    strides = fields.items("strides", as_expression, max_items=8)
    if "shape" not in fields:
        missing.append(f"no shape for {parameter.name}")
        if "strides" in fields:
            fields.complain("strides", "strides are of no use without a shape")
    elif (
        "strides" in fields
        and (shape or fields.empty("shape"))
        and (strides or fields.empty("strides"))
        and len(shape) != len(strides)
    ):
        found = f"{len(strides)} for {len(shape)} dimensions"
        fields.complain("strides", f"there must be one for each dimension, not {found}")
    nonfinite = fields.take("nonfinite", as_flag, False)
    if nonfinite and parameter.direction is Direction.OUT:
        fields.complain("nonfinite", "only what is read can be told to hold NaN; this is written")
    c_type = C_TYPES.get(parameter.type)  # [VAR] can be NaN, with the right data type
    if nonfinite and c_type and not DTYPES[c_type].roundoff:
        fields.complain("nonfinite", f"there is no NaN of type {parameter.type}")
        nonfinite = False
    zeroed = fields.take("initial", one_of(("zero",)), "") == "zero"
    if zeroed and parameter.direction is not Direction.OUT:
        what = f"and {parameter.name} is {parameter.direction}"
        fields.complain("initial", f"only an output that is not read can be zero first, {what}")
    return replace(
        parameter,
        zeroed=zeroed,
        shape=shape,
        shaped="shape" in fields,
        strides=strides if len(strides) == len(shape) else (),
        alignment=fields.take("alignment", as_alignment, None),
        nonfinite=nonfinite,
        values=read_values(fields),
    )


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
