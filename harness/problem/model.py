"""A problem as data: what its front matter declares, checked and frozen.

Loading (:mod:`harness.problem.format.load`) makes these records; nothing here reads files.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from harness.problem.dtypes import DTYPES, VARIABLE_TYPE, DataType, data_type
from harness.problem.expressions import SIZEOF_VAR, Expression, Number

__all__ = [
    "DEFAULT_ALIGNMENT",
    "VARIABLE_TYPE",
    "Direction",
    "Distribution",
    "Limits",
    "Parameter",
    "Problem",
    "Role",
    "Tolerance",
]


DEFAULT_ALIGNMENT = 256
"""Bytes; what CUDA's own allocator promises."""


class Direction(StrEnum):
    """Which way a pointer's contents go, seen from the submission."""

    IN = "in"
    OUT = "out"
    INOUT = "inout"


class Role(StrEnum):
    """What a parameter is for: pointers are tensors, integers sizes, other numbers scalars."""

    TENSOR = "tensor"
    SIZE = "size"
    SCALAR = "scalar"


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """How the values of a tensor or a scalar are drawn.

    ``kind`` is ``normal`` (mean in ``a``, standard deviation in ``b``) or ``uniform`` (lowest in
    ``a``, highest in ``b``).
    """

    kind: str = "normal"
    a: float = 0.0
    b: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One argument of ``solution``, in the order of the call.

    ``type`` is a C type name or ``[VAR]``. Tensors have ``shape`` (row-major, expressions over the
    size parameters) and ``direction``; sizes have ``low``, ``high`` (both included); ``always`` are
    the values of a size or scalar that every grade tries.

    A tensor's ``strides`` are expressions, in elements, empty where it is dense and row-major;
    ``alignment`` is what its address is promised to be a multiple of, in bytes, None where nothing
    is said (:meth:`aligned_to` gives the number); one that is ``nonfinite`` may hold NaN and
    infinity.

    A size or scalar with ``equals`` is not drawn but follows from the sizes. A size with ``lower``
    and ``upper`` is drawn between these expressions over other sizes (both are None where the ends
    are plain numbers); ``low`` is then the lower end with every other size at its lowest, ``high``
    the upper end with every other size at its highest. :mod:`harness.problem.sizes` evaluates them.
    """

    name: str
    type: str
    role: Role
    line: int
    direction: Direction | None = None
    shape: tuple[Expression, ...] = ()
    values: Distribution = field(default_factory=Distribution)
    strides: tuple[Expression, ...] = ()
    alignment: Expression | None = None
    nonfinite: bool = False
    equals: Expression | None = None
    lower: Expression | None = None
    upper: Expression | None = None
    low: int = 1
    high: int = 1
    always: tuple[float, ...] = ()

    def data_type(self, dtype: str) -> DataType:
        """The type of one element (or of the scalar) when ``[VAR]`` stands for ``dtype``."""
        return data_type(self.type, dtype)

    def aligned_to(self, dtype: str) -> int:
        """Bytes that the tensor's address is a multiple of, and what a submission may rely on."""
        if self.alignment is None:
            return DEFAULT_ALIGNMENT
        return self.alignment.whole({SIZEOF_VAR: DTYPES[dtype].itemsize})

    @property
    def derived(self) -> bool:
        """Whether its value follows from the sizes, so that nobody draws or gives it."""
        return self.equals is not None

    def dimensions(self, values: Mapping[str, Number]) -> tuple[int, ...]:
        """The tensor's shape with the given sizes.

        Raises:
            ExpressionError: a size is missing or a dimension is no whole number.
        """
        return tuple(expression.whole(values) for expression in self.shape)

    def steps(self, values: Mapping[str, Number]) -> tuple[int, ...]:
        """The tensor's strides in elements with the given sizes.

        Raises:
            ExpressionError: as :meth:`dimensions`.
        """
        if self.strides:
            return tuple(expression.whole(values) for expression in self.strides)
        steps: list[int] = []
        step = 1
        for length in reversed(self.dimensions(values)):
            steps.append(step)
            step *= length
        return tuple(reversed(steps))

    def span(self, values: Mapping[str, Number]) -> int:
        """Elements from the tensor's first to its last, gaps included: what a buffer must hold.

        Raises:
            ExpressionError: as :meth:`dimensions`.
        """
        pairs = zip(self.dimensions(values), self.steps(values), strict=True)
        return 1 + sum((length - 1) * step for length, step in pairs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tolerance:
    """The error model's constants; see :mod:`harness.problem.tolerance` for the formula.

    ``accumulator`` names the precision in which sums must be kept (data type → data type),
    ``inputs`` the precision to which factors may be cut before they are multiplied (data type →
    one of :data:`~harness.problem.dtypes.PRECISIONS`; a type that is not named is not cut),
    ``length`` the number of terms summed, ``constant`` and ``factor`` the constants in front,
    ``roundings`` how often a result on its way may be rounded to the output's type.
    """

    accumulator: Mapping[str, str]
    length: Expression
    inputs: Mapping[str, str] = field(default_factory=dict)
    factor: float = 4.0
    constant: float = 16.0
    roundings: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a submission may use: seconds of wall time and bytes."""

    build_s: float = 120.0
    prepare_s: float = 60.0
    call_s: float = 10.0
    host_bytes: int = 4 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One judged task.

    ``benchmarks`` are the timed cases on a GPU, ``cpu_benchmarks`` those on the CPU path; each
    maps every size and scalar to its value, those that follow from others too. ``dtypes`` is what
    ``[VAR]`` may stand for, the first is the default. ``baselines`` maps a name to a solution file
    inside the package, the first is the one scores are relative to. ``complete`` is false when the
    front matter parses but leaves open what grading needs (``missing`` says what, in words).
    """

    slug: str
    title: str
    difficulty: str
    author: str
    tags: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    statement: str
    folder: Path
    hash: str
    dtypes: tuple[str, ...]
    benchmarks: tuple[Mapping[str, float], ...]
    cpu_benchmarks: tuple[Mapping[str, float], ...]
    cases: int
    tolerance: Tolerance | None
    flops: Expression | None
    bytes: Expression | None
    baselines: Mapping[str, Path]
    limits: Limits
    missing: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether the package declares everything that grading needs."""
        return not self.missing

    @property
    def tensors(self) -> tuple[Parameter, ...]:
        """The pointer parameters, in order."""
        return tuple(p for p in self.parameters if p.role is Role.TENSOR)

    @property
    def sizes(self) -> tuple[Parameter, ...]:
        """The integer parameters, in order."""
        return tuple(p for p in self.parameters if p.role is Role.SIZE)

    @property
    def scalars(self) -> tuple[Parameter, ...]:
        """The other numbers, in order."""
        return tuple(p for p in self.parameters if p.role is Role.SCALAR)

    @property
    def outputs(self) -> tuple[Parameter, ...]:
        """The tensors a submission must write, in order."""
        return tuple(p for p in self.tensors if p.direction is not Direction.IN)

    def evaluate(self, expression: Expression, values: Mapping[str, Number], dtype: str) -> float:
        """``expression`` (``flops``, ``bytes``, …) for the given sizes and scalars.

        Raises:
            ExpressionError: it has no value there.
        """
        return float(expression.evaluate({**values, SIZEOF_VAR: DTYPES[dtype].itemsize}))
