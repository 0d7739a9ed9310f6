"""What the data types of a problem are to PTX.

Source: *Parallel Thread Execution ISA*, section "Types".
"""

from typing import NamedTuple

from harness.problem.dtypes import DataType, DtypeKind
from harness.problem.model import Parameter, Role


class ElementType(NamedTuple):
    """How an element is moved.

    ``moved`` is what loads and stores end in, ``register`` the type of what holds it; a complex one
    is ``parts`` = 2 numbers side by side. ``zero`` is such a number.
    """

    moved: str
    register: str
    zero: str
    parts: int


def element_type(data: DataType) -> ElementType:
    """How elements of type ``data`` are moved."""
    bits = data.itemsize * 8
    if data.kind is DtypeKind.COMPLEX:
        part = _real(bits // 2)
        return part._replace(moved=f".v2{part.moved}", parts=2)
    if data.kind is DtypeKind.FLOAT:
        return _real(bits)
    return ElementType(_whole(data), f".b{max(bits, 16)}", "0", 1)


def _real(bits: int) -> ElementType:
    if bits == 16:  # float16 and bfloat16 alike
        return ElementType(".b16", ".b16", "0", 1)
    zero = "0f00000000" if bits == 32 else "0d0000000000000000"
    return ElementType(f".f{bits}", f".f{bits}", zero, 1)


def parameter_type(parameter: Parameter, dtype: str) -> str:
    """The type of a kernel's ``.param``: an address, or the number itself."""
    if parameter.role is Role.TENSOR:
        return ".u64"
    data = parameter.data_type(dtype)
    return element_type(data).moved if data.kind is DtypeKind.FLOAT else _whole(data)


def _whole(data: DataType) -> str:
    """Of integers and booleans."""
    unsigned = data.kind is DtypeKind.BOOLEAN or data.name.startswith("u")
    return f".{'u' if unsigned else 's'}{data.itemsize * 8}"
