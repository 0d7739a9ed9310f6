"""A problem package as data: what its front matter declares, checked and frozen.

Made by :mod:`harness.problem.format.load`; imports torch only where it is needed. Methods raise
``ExpressionError`` where a size is missing, or an expression has no (whole) value.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import ceil, floor
from pathlib import Path

from harness.problem.dtypes import C_TYPES, DTYPES, VARIABLE_TYPE, DataType
from harness.problem.expressions import SIZEOF_VAR, Expression, ExpressionError, Number
from harness.problem.grid import Grid
from harness.problem.terms import DEFAULT_ALIGNMENT, Direction, FormalParameter, Limits, Role

STATEMENT_FILE = "problem.md"
REFERENCE_FILE = "reference.py"
"""The files of a package."""

MAX_SIZE = 2**31 - 1
"""Largest value of a size that is part of a shape."""

DRAW = "draw"
"""The distribution of what the function of this name in ``reference.py`` draws."""

CHECK = "check"
"""The function of ``reference.py`` that says which elements of an answer are right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """``normal`` of mean ``a`` and standard deviation ``b``, or ``uniform`` from ``a`` to ``b``.

    With :data:`DRAW` what the author's function draws; the two numbers then say nothing.
    """

    kind: str = "normal"
    """Which of them."""
    a: float = 0.0
    """With ``a_of`` its lowest value over all sizes and scalars that loading tried."""
    b: float = 1.0
    """With ``b_of`` its highest value likewise."""
    a_of: Expression | None = None
    """What ``a`` follows from, over sizes and scalars; None where it is a plain number."""
    b_of: Expression | None = None
    """What ``b`` follows from likewise."""

    @property
    def names(self) -> frozenset[str]:
        """The sizes and scalars that it depends on."""
        return frozenset[str]().union(*(e.names for e in (self.a_of, self.b_of) if e is not None))

    def at(self, values: Mapping[str, Number], *, whole: bool = False) -> Distribution:
        """The same with plain numbers, for these sizes and scalars.

        ``whole``: bounds of which one is an expression move inwards to whole numbers, or, where
        there is none between them, to the nearest.

        Raises:
            ExpressionError: there is none: no number, an empty range, a deviation of 0 or less.
        """
        if not self.names:
            return self
        uniform = self.kind == "uniform"
        a = self.a if self.a_of is None else self.a_of.evaluate(values)
        b = self.b if self.b_of is None else self.b_of.evaluate(values)
        if uniform and a > b:
            raise ExpressionError(f"there is no value: low is {a:.9g}, and high {b:.9g}")
        if whole and uniform:
            a, b = (ceil(a), floor(b)) if ceil(a) <= floor(b) else (round(a), round(b))
        if not uniform and b <= 0:
            raise ExpressionError(f"the standard deviation {self.b_of} is {b:.9g}, not positive")
        return Distribution(kind=self.kind, a=float(a), b=float(b))


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter(FormalParameter):
    """One argument of ``solution``, as declared."""

    line: int
    """Where the front matter declares it, from 1."""
    shape: tuple[Expression, ...] = ()
    """A tensor's dimensions, row-major, over the sizes; none for a single element."""
    shaped: bool = True
    """Whether a tensor's shape is declared."""
    values: Distribution = field(default_factory=Distribution)
    """How a tensor's elements or a scalar are drawn."""
    strides: tuple[Expression, ...] = ()
    """A tensor's strides in elements; empty where it is dense and row-major."""
    alignment: Expression | None = None
    """Bytes that the address is declared to be a multiple of; :meth:`aligned_to` fills None in."""
    nonfinite: bool = False
    """Whether a tensor may hold NaN and infinity."""
    zeroed: bool = False
    """Whether a pure output is 0 before every call; else it holds arbitrary bits."""
    equals: Expression | None = None
    """What a size or scalar follows from, which is then not drawn."""
    lower: Expression | None = None
    """Lower end of a size's range, over other sizes; None where the ends are plain numbers."""
    upper: Expression | None = None
    """Upper end likewise."""
    low: int = 1
    """Lowest size; with ``lower`` its value when every other size is at its lowest."""
    high: int = 1
    """Highest size, included; with ``upper`` its value when every other is at its highest."""
    least: int = 1
    """Lowest value that a size may be given by hand; 1 for what is a dimension or stride."""
    most: int = MAX_SIZE
    """Highest value likewise."""
    grid: Grid = field(default_factory=Grid)
    """Which numbers of its range a size may be."""
    case_range: tuple[Expression, Expression] | None = None
    """Ends of the part of a size's range that cases are drawn from; None for all of it."""
    always: tuple[float, ...] = ()
    """Values of a size or scalar that every grade tries."""

    @property
    def drawn(self) -> bool:
        """Whether the author's function ``draw`` makes its contents."""
        return self.values.kind == DRAW

    def data_type(self, dtype: str) -> DataType:
        """The type of one element (or of the scalar) when ``[VAR]`` stands for ``dtype``."""
        return DTYPES[dtype if self.type == VARIABLE_TYPE else C_TYPES[self.type]]

    def aligned_to(self, dtype: str) -> int:
        """Bytes that the tensor's address is a multiple of: a submission may rely on that."""
        if self.alignment is None:
            return DEFAULT_ALIGNMENT
        return self.alignment.whole({SIZEOF_VAR: DTYPES[dtype].itemsize})

    @property
    def derived(self) -> bool:
        """Whether its value follows from the sizes, so that it is neither drawn nor given."""
        return self.equals is not None

    def dimensions(self, values: Mapping[str, Number]) -> tuple[int, ...]:
        """The tensor's shape with the given sizes."""
        return tuple(expression.whole(values) for expression in self.shape)

    def steps(self, values: Mapping[str, Number]) -> tuple[int, ...]:
        """The tensor's strides in elements with the given sizes."""
        if self.strides:
            return tuple(expression.whole(values) for expression in self.strides)
        shape = self.dimensions(values)
        return tuple(math.prod(shape[i + 1 :]) for i in range(len(shape)))


def inexact_types(parameters: Iterable[Parameter], dtypes: Iterable[str]) -> list[str]:
    """The floating-point and complex types that outputs have in these data types."""
    written = [p for p in parameters if p.direction not in (None, Direction.IN) and p.type]
    types = dict.fromkeys(p.data_type(dtype).name for p in written for dtype in dtypes)
    return [name for name in types if DTYPES[name].roundoff]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tolerance:
    """The error model's constants; see :mod:`harness.problem.tolerance` for the formula."""

    accumulator: Mapping[str, str]
    """Data type → data type in which its sums must be kept."""
    length: Expression
    """Terms that are summed for one element, over sizes and scalars."""
    inputs: Mapping[str, str] = field(default_factory=dict)
    """Data type → precision (of ``PRECISIONS``) that factors may be cut to; others are not cut. To
    the type itself only factors can be cut that are results."""
    factor: float = 4.0
    """In front of √length · |expected|."""
    constant: float = 16.0
    """In front of the magnitude of what was summed."""
    roundings: float = 1.0
    """How often an intermediate result may be rounded to the output's type."""
    rtol: Mapping[str, float] = field(default_factory=dict)
    """Data type of an output → part of |expected| that is allowed besides."""
    atol: Mapping[str, float] = field(default_factory=dict)
    """Data type of an output → error of any element that is allowed besides."""

    @property
    def modelled(self) -> bool:
        """Whether the error model allows anything: else ``rtol`` and ``atol`` alone do."""
        return bool(self.weighs_sums or self.factor or self.roundings)

    @property
    def weighs_sums(self) -> bool:
        """Whether the magnitude of what was summed counts."""
        return bool(self.constant or self.inputs)

    def plain(self, dtype: str) -> bool:
        """Whether an output of this type may be off by numbers that the problem states itself."""
        return bool(self.rtol.get(dtype) or self.atol.get(dtype))


# Constants of the error model that are the same for every problem (docs/explanation/tolerance.md).
# They are here, not beside the formula, so that they can be shown without importing torch.

TRUNCATION = 8.0
"""Unit roundoffs of the accumulator that a matrix unit may lose where rounding loses one."""

SUBNORMALS = 16.0
"""An intermediate result below the normal range loses up to half a subnormal absolutely, and what
it is multiplied with afterwards multiplies that."""

COMPLEX = 2.0
"""A component of a sum of complex products is a sum of twice as many real ones, and the distance in
the plane has the errors of two components: √2 each, if they are alike."""

CUT_WORST, CUT_SPREAD, CUT_MEAN = 4.0, 16.0, 4.0
"""Factors cut to unit roundoff u make a product wrong by at most ``CUT_WORST`` u, a sum of k by
``CUT_SPREAD`` u / √k and ``CUT_MEAN`` u of the sum. One product's error has a spread of about
0.6 u; of a sum of k, each of about magnitude / k, that makes 0.9 u · magnitude / √k for normal
data: 16 is more than ten times as much as is likely."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """What a package declares: parameters, cases, tolerance, limits."""

    slug: str
    """Name in paths, commands and results: a-z, 0-9, - and _."""
    title: str
    """Name for people, one line."""
    difficulty: str
    """The author's word for it; may be empty."""
    author: str
    """Who wrote the problem; may be empty."""
    tags: tuple[str, ...]
    """The author's keywords."""
    parameters: tuple[Parameter, ...]
    """The entry point's parameters, in the order of the call."""
    statement: str
    """Markdown below the front matter."""
    folder: Path
    """The package."""
    hash: str
    """SHA-256 (hex) of the files that decide what a score means."""
    dtypes: tuple[str, ...]
    """What ``[VAR]`` may stand for; the first is the default."""
    benchmarks: tuple[Mapping[str, float], ...]
    """Timed cases on a GPU: every size and scalar by name, those that follow from others too."""
    cpu_benchmarks: tuple[Mapping[str, float], ...]
    """Timed cases on the CPU path, likewise."""
    benchmark_values: tuple[str, ...] | None = None
    """Families of values that some timed calls take, ``declared`` for none other; None for all that
    are safe."""
    without_values: tuple[str, ...] = ()
    """Families of values that no case and no timed call has; never ``declared``."""
    cases: int
    """Correctness cases with random sizes, beside those for edges and families of values."""
    tolerance: Tolerance | None
    """Constants of the error model; None where all outputs are integers, or nothing is said."""
    flops: Expression | None
    """Floating-point operations of one call; None where nothing is said."""
    bytes: Expression | None
    """Bytes that one call must read and write; None where nothing is said."""
    baselines: Mapping[str, Path]
    """Name → solution file in the package; scores are relative to the first."""
    limits: Limits
    """Seconds and bytes that a submission may use."""
    missing: tuple[str, ...] = ()
    """What grading needs and the front matter leaves open, in words."""
    libraries: tuple[str, ...] | None = None
    """The CUDA libraries that a CUDA C++ file may use; None for any."""
    unpassed: tuple[Parameter, ...] = ()
    """Sizes that are no parameters: drawn and named in cases, not passed to the entry point."""

    @property
    def complete(self) -> bool:
        """Whether the package declares everything that grading needs."""
        return not self.missing

    @property
    def has_variable_type(self) -> bool:
        """Whether a parameter's type is ``[VAR]``; else it is graded in one data type."""
        return any(p.type == VARIABLE_TYPE for p in self.parameters)

    @property
    def tensors(self) -> tuple[Parameter, ...]:
        """The pointer parameters, in order."""
        return tuple(p for p in self.parameters if p.role is Role.TENSOR)

    @property
    def numbers(self) -> tuple[Parameter, ...]:
        """All that is no tensor: sizes that are no parameters, then parameters, in order."""
        return (*self.unpassed, *(p for p in self.parameters if p.role is not Role.TENSOR))

    @property
    def sizes(self) -> tuple[Parameter, ...]:
        """The integers among them."""
        return tuple(p for p in self.numbers if p.role is Role.SIZE)

    @property
    def scalars(self) -> tuple[Parameter, ...]:
        """The other numbers, in order."""
        return tuple(p for p in self.parameters if p.role is Role.SCALAR)

    @property
    def outputs(self) -> tuple[Parameter, ...]:
        """The tensors a submission must write, in order."""
        return tuple(p for p in self.tensors if p.direction is not Direction.IN)

    def evaluate(self, expression: Expression, values: Mapping[str, Number], dtype: str) -> float:
        """``expression`` (``flops``, ``bytes``, …) for the given sizes and scalars."""
        return float(expression.evaluate({**values, SIZEOF_VAR: DTYPES[dtype].itemsize}))
