"""A problem package as data: what its front matter declares, checked and frozen.

Loading (:mod:`harness.problem.format.load`) makes these records. :class:`Problem` is the judge's
:class:`~harness.problem.gradable.Gradable`; nothing here imports torch before it is needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from harness.problem.dtypes import DTYPES, VARIABLE_TYPE, DataType, data_type
from harness.problem.expressions import SIZEOF_VAR, Expression, Number
from harness.problem.gradable import (
    DEFAULT_ALIGNMENT,
    CallCost,
    Direction,
    Limits,
    Role,
    TensorSpec,
    span,
)

if TYPE_CHECKING:
    from harness.problem.case import Case
    from harness.problem.reference import Reference
    from harness.problem.sampling.cases import CaseLimits
    from harness.problem.sampling.inputs import DeclaredInputs

__all__ = [
    "COMPLEX",
    "CUT_MEAN",
    "CUT_SPREAD",
    "CUT_WORST",
    "DEFAULT_ALIGNMENT",
    "SUBNORMALS",
    "TRUNCATION",
    "VARIABLE_TYPE",
    "Direction",
    "Distribution",
    "Limits",
    "Parameter",
    "Problem",
    "Role",
    "Tolerance",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """Distribution of the values of a tensor or a scalar.

    ``kind`` is ``normal`` (mean in ``a``, standard deviation in ``b``) or ``uniform`` (lowest in
    ``a``, highest in ``b``).
    """

    kind: str = "normal"
    a: float = 0.0
    b: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One argument of ``solution``, in the order of the call; a tensor, a size or a scalar.

    :mod:`harness.problem.sizes` evaluates ``equals``, ``lower`` and ``upper``.
    """

    name: str
    """An identifier in C and Python."""
    type: str
    """C type of an element or of the value, or ``[VAR]``."""
    role: Role
    """Tensor, size or scalar."""
    line: int
    """Where the front matter declares it, from 1."""
    direction: Direction | None = None
    """Which way a tensor's contents go; None for numbers."""
    shape: tuple[Expression, ...] = ()
    """A tensor's dimensions, row-major, over the sizes."""
    values: Distribution = field(default_factory=Distribution)
    """How a tensor's elements or a scalar are drawn."""
    strides: tuple[Expression, ...] = ()
    """A tensor's strides in elements; empty where it is dense and row-major."""
    alignment: Expression | None = None
    """Bytes that the address is promised to be a multiple of; None where nothing is said
    (:meth:`aligned_to` gives the number)."""
    nonfinite: bool = False
    """Whether a tensor may hold NaN and infinity."""
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
    always: tuple[float, ...] = ()
    """Values of a size or scalar that every grade tries."""

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
        """Elements from the tensor's first to its last, gaps included.

        Raises:
            ExpressionError: as :meth:`dimensions`.
        """
        return span(self.dimensions(values), self.steps(values))


@dataclass(frozen=True, slots=True, kw_only=True)
class Tolerance:
    """The error model's constants; see :mod:`harness.problem.tolerance` for the formula."""

    accumulator: Mapping[str, str]
    """Data type → data type in which its sums must be kept."""
    length: Expression
    """Terms that are summed for one element, over sizes and scalars."""
    inputs: Mapping[str, str] = field(default_factory=dict)
    """Data type → precision to which factors may be cut before they are multiplied, one of
    :data:`~harness.problem.dtypes.PRECISIONS`; types that are not named are not cut."""
    factor: float = 4.0
    """In front of √length · |expected|."""
    constant: float = 16.0
    """In front of the magnitude of what was summed."""
    roundings: float = 1.0
    """How often a result on its way may be rounded to the output's type."""


# Constants of the error model that are the same for every problem (docs/tolerance.md). They are
# here, not beside the formula, so that they can be shown without importing torch.

TRUNCATION = 8.0
"""Unit roundoffs of the accumulator that a matrix unit may lose where rounding loses one."""

SUBNORMALS = 16.0
"""An intermediate result below the normal range loses up to half a subnormal absolutely, and what
it is multiplied with afterwards multiplies that."""

COMPLEX = 2.0
"""A component of a sum of complex products is a sum of twice as many real ones, and the distance in
the plane has the errors of two components: √2 each, if they are alike."""

CUT_WORST, CUT_SPREAD, CUT_MEAN = 4.0, 16.0, 4.0
"""Factors that are cut to unit roundoff u make a product wrong by at most ``CUT_WORST`` u; of many
terms it is ``CUT_SPREAD`` u over the square root of their number, and ``CUT_MEAN`` u of the sum.
One product's error has a spread of about 0.6 u; of a sum of k products, each of about
magnitude / k, that makes 0.9 u · magnitude / √k for normal data: 16 is more than ten times as much
as is likely."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One judged task. Meets :class:`~harness.problem.gradable.Gradable`."""

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

    # -- as the judge asks (harness.problem.gradable) --------------------------------------------

    @property
    def declared(self) -> Problem:
        """Itself: its cases are made of declared sizes and scalars."""
        return self

    def tensors_of(self, case: Case, dtype: str) -> tuple[TensorSpec, ...]:
        """The tensors of one call, in order.

        Raises:
            ExpressionError: a shape or stride has no value for this case.
        """
        values = case.values
        return tuple(
            TensorSpec(
                name=p.name,
                dtype=p.data_type(dtype).name,
                shape=p.dimensions(values),
                strides=p.steps(values),
                direction=p.direction or Direction.IN,
                alignment=p.aligned_to(dtype),
            )
            for p in self.tensors
        )

    def draw_cases(self, seed: str, *, dtype: str, room: CaseLimits) -> list[Case]:
        """The correctness cases of one grade: :func:`harness.problem.sampling.cases.draw_cases`."""
        from harness.problem.sampling.cases import draw_cases

        return draw_cases(self, seed, dtype=dtype, room=room)

    def timed_cases(self, *, emulated: bool) -> list[Case]:
        """``benchmarks``, or ``cpu_benchmarks`` where kernels are emulated."""
        from harness.problem.case import benchmark_case

        shapes = self.cpu_benchmarks if emulated else self.benchmarks
        return [benchmark_case(self, shape) for shape in shapes]

    def parse_case(self, spec: str) -> Case:
        """Read a spec: :func:`harness.problem.case.parse_case`."""
        from harness.problem.case import parse_case

        return parse_case(self, spec)

    def work(self, case: Case, dtype: str) -> CallCost:
        """``flops`` and ``bytes`` of one call.

        Raises:
            ExpressionError: one has no value for this case.
        """
        cut = self.tolerance.inputs if self.tolerance else {}
        return CallCost(
            flops=self.evaluate(self.flops, case.values, dtype) if self.flops else None,
            bytes=self.evaluate(self.bytes, case.values, dtype) if self.bytes else None,
            tf32=cut.get(dtype) == "tf32",
        )

    def inputs(self) -> DeclaredInputs:
        """Values by the declared distributions and families."""
        from harness.problem.sampling.inputs import DeclaredInputs

        return DeclaredInputs(self)

    def reference(self) -> Reference:
        """The package's ``reference.py``, loaded, with the error model.

        Raises:
            ProblemError: the file is wrong.
        """
        from harness.problem.reference import Reference

        return Reference(self)
