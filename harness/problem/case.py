"""Cases: the sizes, scalars and kind of values of one call, as a record and as text.

A case is written and read as one line, its ``spec`` (``m=33,n=1,k=7,alpha=-0.5``). With the seed
it decides every bit of the inputs, so the pair replays a failure anywhere.
"""

import contextlib
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.errors import UsageError
from harness.problem.dtypes import C_TYPES
from harness.problem.expressions import ExpressionError, Number
from harness.problem.model import Declaration, Parameter
from harness.problem.sizes import as_received, check_tensor, completed, to_single
from harness.problem.terms import Direction, Role, TensorSpec
from harness.text.plain import printable
from harness.text.suggest import did_you_mean

_WHOLE = re.compile(r"-?\d{1,20}", re.ASCII)

VALUES = "values"
"""The key in a spec that names the family of values."""

DECLARED = "declared"
"""The family of values that the problem file declares; not written in a spec."""

NONFINITE = "nonfinite"
SPARSE = "sparse"

FAMILIES = (
    DECLARED,  # as the problem file says
    "uniform",  # positive, so that sums grow with their length
    "large",  # as declared, times a power of two
    "tiny",  # likewise
    "zeros",  # one in eight kept, the rest +0 or −0
    "integers",  # −3 … 3, exact in every type
    "mixed",  # neighbours of very different magnitude
    "constant",  # one value throughout
    "rows",  # one value along the last dimension
    # Neighbours along the last dimension are opposites but for a 64th or two, and those along every
    # other dimension alike, so that sums along a row nearly vanish, and products of matrices, too.
    "cancellation",
    NONFINITE,  # as declared, and some NaN and infinities in the tensors that may hold them
    "offset",  # as declared, each row moved by a number of its own, far from what is declared
    # Pairs as in cancellation, few of them, the rest +0 or −0: sums of so few terms lose nothing,
    # so that what was lost before, in rounding the terms, shows.
    SPARSE,
)

TIMED_FAMILIES = ("uniform", "large", "tiny", "zeros", NONFINITE, "offset", SPARSE)
"""Families that some calls of a timed batch take, where the problem names no others.

Those that tell right from wrong at any length. With the others errors grow with the length and not
with its root (:data:`harness.problem.sums.SUMS`), so that much is allowed where sums are long.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One set of arguments, but for the tensors' contents."""

    sizes: Mapping[str, int] = field(default_factory=dict)
    """Every size by name, as the submission receives it."""
    scalars: Mapping[str, float] = field(default_factory=dict)
    """Every scalar by name, exactly as received: a ``float`` is already rounded to one."""
    single: frozenset[str] = field(default=frozenset(), compare=False)
    """Scalars that are C ``float``: written with the fewest digits that give the same one."""
    derived: frozenset[str] = field(default=frozenset(), compare=False)
    """Sizes and scalars that follow from the sizes: received, and not written in the spec."""
    family: str = DECLARED
    """Kind of values in the tensors, one of :data:`FAMILIES`."""
    singly: bool = False
    """Whether its calls are laid out and made one at a time, since memory is scarce."""
    label: str | None = None
    """The whole spec of a case whose tensors only the problem knows (``test=3``), else None."""

    @property
    def spec(self) -> str:
        """The case as text, one line; ``parse_case`` gives it back, bit for bit."""
        if self.label is not None:
            return self.label
        parts = [f"{n}={value}" for n, value in self.sizes.items() if n not in self.derived]
        parts += [
            f"{name}={_shortest(value) if name in self.single else repr(value)}"
            for name, value in self.scalars.items()
            if name not in self.derived
        ]
        if self.family != DECLARED:
            parts.append(f"{VALUES}={self.family}")
        return ",".join(parts)

    @property
    def values(self) -> dict[str, Number]:
        """Sizes and scalars by name; what expressions are evaluated with."""
        return {**self.sizes, **self.scalars}


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseLimits:
    """Bounds of one case on the device at hand."""

    work: float | None = None
    """Most operations: the problem's ``flops``, or the product of its sizes; None for any."""
    row_work: float = 0.0
    """Operations that a row of an output counts at least, since kernels start a block for it."""
    bytes: int | None = None
    """Most memory for checking it (:mod:`harness.problem.sampling.footprint`); None for any."""
    in_range: bool = False
    """Whether ``always`` values above a size's range are left out."""


def _shortest(value: float) -> str:
    """The fewest digits that round to the same C ``float``; nine always do."""
    for digits in range(1, 10):
        text = f"{value:.{digits}g}"
        if to_single(float(text)) == value:
            return repr(float(text))
    return repr(value)


def families(problem: Declaration, dtype: str | None = None) -> tuple[str, ...]:
    """The families of values that cases have: those that the problem does not leave out.

    ``nonfinite`` where a tensor may, and has a NaN.
    """
    kinds = problem.dtypes if dtype is None else (dtype,)
    nan = any(p.nonfinite and p.data_type(k).roundoff for p in problem.tensors for k in kinds)
    left = (f for f in FAMILIES if f not in problem.without_values)
    return tuple(f for f in left if nan or f != NONFINITE)


def timed_families(problem: Declaration, dtype: str) -> tuple[str, ...]:
    """The families that some calls of a timed batch take; none where only declared values may."""
    named = problem.benchmark_values
    chosen = TIMED_FAMILIES if named is None else tuple(f for f in named if f != DECLARED)
    known = families(problem, dtype)
    return tuple(f for f in chosen if f in known)


def tensors_of(problem: Declaration, case: Case, dtype: str) -> tuple[TensorSpec, ...]:
    """The tensors of one call, in order."""
    return tuple(
        TensorSpec(
            name=p.name,
            dtype=p.data_type(dtype).name,
            shape=p.dimensions(case.values),
            strides=p.steps(case.values),
            direction=p.direction or Direction.IN,
            alignment=p.aligned_to(dtype),
            zeroed=p.zeroed,
            together=p.drawn,
        )
        for p in problem.tensors
    )


def whole_case(problem: Declaration, chosen: Mapping[str, Number], family: str = DECLARED) -> Case:
    """The case with these values and what follows; an ``ExpressionError`` if there is none."""
    values = completed(problem.numbers, chosen)
    singles = (p.name for p in problem.scalars if C_TYPES.get(p.type) == "float32")
    return Case(
        sizes={p.name: int(values[p.name]) for p in problem.sizes},
        scalars={p.name: as_received(p, values[p.name]) for p in problem.scalars},
        single=frozenset(singles),
        derived=frozenset(p.name for p in problem.numbers if p.derived),
        family=family,
    )


def parse_case(problem: Declaration, text: str) -> Case:
    """Read a spec: every size and scalar that does not follow from others, once.

    Raises:
        UsageError: which part is none of this problem's.
    """
    follows = {p.name: p.equals for p in problem.numbers if p.equals is not None}
    numbers = {p.name: p for p in (*problem.sizes, *problem.scalars) if p.name not in follows}
    given: dict[str, str] = {}
    for part in text.split(",") if text.strip() or numbers else ():
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals:
            raise UsageError(f"case: {printable(part)!r} is not name=value")
        if name in follows:
            raise UsageError(f"case: {name} follows from the sizes ({follows[name]}): leave it out")
        if name not in numbers and name != VALUES:
            hint = did_you_mean(name, [*numbers, VALUES]) or f" (there are {', '.join(numbers)})"
            raise UsageError(f"case: unknown name {printable(name)!r}{hint}")
        if name in given:
            raise UsageError(f"case: {name} is given twice")
        given[name] = value
    if absent := [name for name in numbers if name not in given]:
        raise UsageError(f"case: no value for {', '.join(absent)}")
    family = given.get(VALUES, DECLARED)
    known = families(problem)
    if family not in known:
        if family in problem.without_values:
            raise UsageError(f"case: {problem.slug} leaves these values out (values={family})")
        if family in FAMILIES:
            raise UsageError(f"case: no tensor of {problem.slug} may hold NaN (values={family})")
        hint = did_you_mean(family, known) or f" (one of {', '.join(known)})"
        raise UsageError(f"case: unknown family of values {printable(family)!r}{hint}")
    parsed = {name: _parse_number(p, given[name]) for name, p in numbers.items()}
    try:
        case = whole_case(problem, parsed, family)
        for parameter in problem.tensors:
            check_tensor(parameter, case.values)
            _check_values(parameter, case)
    except ExpressionError as error:
        raise UsageError(f"case: {error}") from None
    return case


def _check_values(tensor: Parameter, case: Case) -> None:
    """Check that a tensor's bounds leave it a value; an ``ExpressionError`` if they do not."""
    try:
        tensor.values.at(case.values)
    except ExpressionError as error:
        raise ExpressionError(f"{tensor.name}: {error}") from None


def _parse_number(parameter: Parameter, text: str) -> Number:
    if parameter.role is Role.SIZE:
        wanted = f"a whole number from {parameter.least} to {parameter.most}"
        if _WHOLE.fullmatch(text) and parameter.least <= int(text) <= parameter.most:
            return int(text)
    else:
        wanted = f"a finite {parameter.type}"
        with contextlib.suppress(ValueError):
            value = as_received(parameter, float(text))
            if math.isfinite(value):
                return value
    raise UsageError(f"case: {parameter.name} must be {wanted}, not {printable(text)!r}")
