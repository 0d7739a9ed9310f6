"""Facts of data types and C types. No torch, so that loading a problem stays instant."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from harness.text.suggest import did_you_mean

VARIABLE_TYPE = "[VAR]"
"""Stands for the problem's data type in a parameter's ``type``; ``VAR`` in C."""


class DtypeKind(StrEnum):
    """Sort of number that a data type holds."""

    FLOAT = "float"
    INTEGER = "integer"
    BOOLEAN = "boolean"
    COMPLEX = "complex"


@dataclass(frozen=True, slots=True, kw_only=True)
class DataType:
    """One element type. The last four are a component's for complex types, 0 for exact ones."""

    name: str
    """As torch calls it: ``float32``."""
    kind: DtypeKind
    """What an element is."""
    itemsize: int
    """Bytes of one element."""
    roundoff: float = 0.0
    """Unit roundoff u: half the distance from 1 to the next number."""
    smallest: float = 0.0
    """Smallest positive subnormal."""
    normal: float = 0.0
    """Smallest positive normal number."""
    largest: float = 0.0
    """Largest finite number."""


def _float(name: str, itemsize: int, precision: int, max_exponent: int) -> DataType:
    """A binary floating-point type with ``precision`` significant bits, emax ``max_exponent``."""
    return DataType(
        name=name,
        kind=DtypeKind.FLOAT,
        itemsize=itemsize,
        roundoff=2.0**-precision,
        smallest=2.0 ** (2 - max_exponent - precision),
        normal=2.0 ** (1 - max_exponent),
        largest=(2.0 - 2.0 ** (1 - precision)) * 2.0**max_exponent,
    )


def _complex(name: str, part: DataType) -> DataType:
    return replace(part, name=name, kind=DtypeKind.COMPLEX, itemsize=2 * part.itemsize)


_FLOATS = (
    _float("float64", 8, 53, 1023),
    _float("float32", 4, 24, 127),
    _float("float16", 2, 11, 15),
    _float("bfloat16", 2, 8, 127),
)
_INTEGERS = tuple(
    DataType(name=f"{sign}int{bits}", kind=DtypeKind.INTEGER, itemsize=bits // 8)
    for sign in ("", "u")
    for bits in (8, 16, 32, 64)
)

DTYPES: Mapping[str, DataType] = {
    t.name: t
    for t in (
        *_FLOATS,
        *_INTEGERS,
        DataType(name="bool", kind=DtypeKind.BOOLEAN, itemsize=1),
        _complex("complex64", _FLOATS[1]),
        _complex("complex128", _FLOATS[0]),
    )
}
"""Every data type that ``[VAR]`` may stand for, by name."""

NARROW: frozenset[str] = frozenset((
    *("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu"),
    "float4_e2m1fn_x2",
))  # fmt: skip
"""Torch's types of one byte that hold one or two floating-point numbers. A tensor of them travels
as bytes, and is seen as what it is by those who compute."""

PRECISIONS: Mapping[str, float] = {"tf32": 2.0**-11, **{t.name: t.roundoff for t in _FLOATS}}
"""Unit roundoff of every precision that factors may be cut to; tf32 has float16's significand with
float32's exponent."""

C_TYPES: Mapping[str, str] = {
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "__half": "float16",
    "__nv_bfloat16": "bfloat16",
    "nv_bfloat16": "bfloat16",
    "cuFloatComplex": "complex64",
    "cuDoubleComplex": "complex128",
    "bool": "bool",
    "char": "int8",
    "signed char": "int8",
    "unsigned char": "uint8",
    "short": "int16",
    "int": "int32",
    "unsigned": "uint32",
    "unsigned int": "uint32",
    "long long": "int64",
    "unsigned long long": "uint64",
    "size_t": "uint64",
    **{f"{t.name}_t": t.name for t in _INTEGERS},
}
"""The C types that a parameter may have, and the data type of one element."""


def integer_limits(c_type: str) -> tuple[int, int]:
    """The lowest and highest value of a C integer type."""
    kind = DTYPES[C_TYPES[c_type]]
    bits = 8 * kind.itemsize
    return (
        (0, 2**bits - 1) if kind.name.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    )


_USUAL = {
    **dict.fromkeys(("fp16", "f16", "half", "__half"), "float16"),
    **dict.fromkeys(("bf16", "bfloat", "__nv_bfloat16"), "bfloat16"),
    **dict.fromkeys(("fp32", "f32", "float", "single"), "float32"),
    **dict.fromkeys(("fp64", "f64", "double"), "float64"),
    **{f"i{bits}": f"int{bits}" for bits in (8, 16, 32, 64)},
    **{f"u{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)},
    **{"char": "int8", "short": "int16", "int": "int32", "long": "int64", "byte": "uint8"},
    **{"cfloat": "complex64", "cdouble": "complex128", "boolean": "bool"},
}
"""What else types are called, in small letters."""


def dtype_meant(name: str, known: Iterable[str]) -> str:
    """`` (did you mean float16?)`` for ``half`` or ``flaot16``, if that is among ``known``.

    Nothing for the name of another type: that is no slip.
    """
    if name in DTYPES:
        return ""
    names = list(known)
    usual = _USUAL.get(name.lower().removeprefix("torch.").removesuffix("_t"))
    return f" (did you mean {usual}?)" if usual in names else did_you_mean(name, names)
