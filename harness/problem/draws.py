"""Cases: which sizes, scalars and kinds of values a submission is tried with.

A case is written and read as one line, its ``spec`` (``m=33,n=1,k=7,alpha=-0.5``). With the seed
it decides every bit of the inputs, so the pair replays a failure anywhere.
"""

import math
import random
import secrets
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256

from harness.errors import UsageError
from harness.problem.dtypes import C_TYPES
from harness.problem.expressions import Number
from harness.problem.frontmatter import printable
from harness.problem.model import Parameter, Problem
from harness.problem.parameters import MAX_SIZE
from harness.problem.suggest import did_you_mean
from harness.problem.values import FAMILIES

__all__ = [
    "FAMILIES",
    "Case",
    "benchmark_case",
    "draw_cases",
    "fresh_seed",
    "parse_case",
]

VALUES = "values"
"""The key in a spec that names the family of values."""

DECLARED = "declared"
"""The family of values that the problem file declares; not written in a spec."""

SMALL_FIRST = 3
"""So many of the smallest cases come first: most wrong submissions fail there, cheaply."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One set of arguments, but for the tensors' contents.

    ``scalars`` hold exactly what the submission receives: a ``float`` is already rounded to it.
    ``single`` names the scalars that are C ``float``: they are written with the fewest digits that
    give the same ``float``. ``family`` is one of :data:`FAMILIES`.
    """

    sizes: Mapping[str, int]
    scalars: Mapping[str, float] = field(default_factory=dict)
    single: frozenset[str] = field(default=frozenset(), compare=False)
    family: str = DECLARED

    @property
    def spec(self) -> str:
        """The case as text; :func:`parse_case` gives the same case back, bit for bit."""
        parts = [f"{name}={value}" for name, value in self.sizes.items()]
        parts += [
            f"{name}={_shortest(value) if name in self.single else repr(value)}"
            for name, value in self.scalars.items()
        ]
        if self.family != DECLARED:
            parts.append(f"{VALUES}={self.family}")
        return ",".join(parts)

    @property
    def values(self) -> dict[str, Number]:
        """Sizes and scalars by name, as expressions want them."""
        return {**self.sizes, **self.scalars}


def fresh_seed() -> str:
    """A new secret: 128 random bits in hexadecimal."""
    return secrets.token_hex(16)


def _shortest(value: float) -> str:
    """The fewest digits that round to the same C ``float``; nine always do."""
    for digits in range(1, 10):
        text = f"{value:.{digits}g}"
        if _to_single(float(text)) == value:
            return repr(float(text))
    return repr(value)


def _to_single(value: float) -> float:
    try:
        return float(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def singles(problem: Problem) -> frozenset[str]:
    """The scalars of a problem that are C ``float``."""
    return frozenset(p.name for p in problem.scalars if C_TYPES.get(p.type) == "float32")


def as_received(parameter: Parameter, value: float) -> float:
    """``value`` as the submission gets it: rounded to the parameter's C type."""
    return _to_single(value) if C_TYPES.get(parameter.type) == "float32" else float(value)


def benchmark_case(problem: Problem, benchmark: Mapping[str, float]) -> Case:
    """One entry of ``problem.benchmarks`` or ``problem.cpu_benchmarks`` as a case."""
    return Case(
        sizes={p.name: int(benchmark[p.name]) for p in problem.sizes},
        scalars={p.name: as_received(p, benchmark[p.name]) for p in problem.scalars},
        single=singles(problem),
    )


def parse_case(problem: Problem, text: str) -> Case:
    """Read a spec.

    Raises:
        UsageError: it is not one of this problem, and which part is to blame.
    """
    numbers = {p.name: p for p in (*problem.sizes, *problem.scalars)}
    given: dict[str, str] = {}
    for part in text.split(","):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals:
            raise UsageError(f"case: {printable(part)!r} is not name=value")
        if name not in numbers and name != VALUES:
            hint = did_you_mean(name, [*numbers, VALUES]) or f" (there are {', '.join(numbers)})"
            raise UsageError(f"case: unknown name {printable(name)!r}{hint}")
        if name in given:
            raise UsageError(f"case: {name} is given twice")
        given[name] = value
    absent = [name for name in numbers if name not in given]
    if absent:
        raise UsageError(f"case: no value for {', '.join(absent)}")
    family = given.get(VALUES, DECLARED)
    if family not in FAMILIES and VALUES not in numbers:
        hint = did_you_mean(family, FAMILIES) or f" (one of {', '.join(FAMILIES)})"
        raise UsageError(f"case: unknown family of values {printable(family)!r}{hint}")
    return Case(
        sizes={p.name: _parse_size(p.name, given[p.name]) for p in problem.sizes},
        scalars={p.name: _parse_scalar(p, given[p.name]) for p in problem.scalars},
        single=singles(problem),
        family=family,
    )


def _parse_size(name: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 10 and 1 <= int(text) <= MAX_SIZE):
        raise UsageError(
            f"case: {name} must be a whole number from 1 to {MAX_SIZE}, not {printable(text)!r}"
        )
    return int(text)


def _parse_scalar(parameter: Parameter, text: str) -> float:
    try:
        value = as_received(parameter, float(text))
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise UsageError(
            f"case: {parameter.name} must be a finite {parameter.type}, not {printable(text)!r}"
        )
    return value


def draw_cases(
    problem: Problem, seed: str, *, dtype: str, max_work: float | None = None
) -> list[Case]:
    """The correctness cases of one grade, all decided by ``seed``.

    Every ``always`` value of every size and scalar is in; so are all sizes at their smallest, all
    near their largest, each family of values, and ``problem.cases`` cases of random size
    (log-uniform) and random scalars. ``max_work`` bounds the ``flops`` of a case (its size where
    the problem has none): other sizes shrink to make room for an edge, and an edge that is too
    much by itself is left out.

    The cheapest few come first, the rest in an order that the seed decides.
    """
    digest = sha256(f"cases|{seed}|{problem.slug}|{dtype}".encode()).digest()
    drawer = _Drawer(problem, dtype, random.Random(digest), max_work)  # noqa: S311 - seeded by a secret
    cases = drawer.edges()
    cases += [drawer.smallest(), drawer.largest()]
    cases += [drawer.random_case(family=f) for f in FAMILIES if f != DECLARED]
    cases += [drawer.random_case() for _ in range(problem.cases)]
    cases = list({case.spec: case for case in cases}.values())
    drawer.random.shuffle(cases)
    first = sorted(cases, key=drawer.work)[:SMALL_FIRST]
    return first + [case for case in cases if case not in first]


@dataclass(slots=True)
class _Drawer:
    problem: Problem
    dtype: str
    random: random.Random
    max_work: float | None

    def case(
        self, sizes: Mapping[str, int], scalars: Mapping[str, float], family: str = DECLARED
    ) -> Case:
        return Case(sizes=sizes, scalars=scalars, single=singles(self.problem), family=family)

    def work(self, case: Case) -> float:
        """Operations of one case; the product of its sizes where the problem does not say."""
        flops = self.problem.flops
        if flops is None:
            return float(math.prod(case.sizes.values()))
        return self.problem.evaluate(flops, case.values, self.dtype)

    def fits(self, case: Case) -> bool:
        return self.max_work is None or self.work(case) <= self.max_work

    def smallest(self) -> Case:
        """Every size at its lowest."""
        return self.case({p.name: p.low for p in self.problem.sizes}, self.scalars())

    def largest(self) -> Case:
        """Every size in the top quarter of its range, as far as the bound on work allows."""
        sizes = {
            p.name: self.random.randint(max(p.low, p.high * 3 // 4), p.high)
            for p in self.problem.sizes
        }
        return self.shrunk(self.case(sizes, self.scalars()), keep=())

    def random_case(self, *, family: str = DECLARED) -> Case:
        """Random sizes and scalars, within the bound on work."""
        sizes = {p.name: self.size(p) for p in self.problem.sizes}
        return self.shrunk(self.case(sizes, self.scalars(), family), keep=())

    def edges(self) -> list[Case]:
        """Cases that together try every ``always`` value of every size and scalar."""
        parameters = (*self.problem.sizes, *self.problem.scalars)
        edges = {p.name: list(p.always) for p in parameters}
        for values in edges.values():
            self.random.shuffle(values)
        cases: list[Case] = []
        for row in range(max((len(values) for values in edges.values()), default=0)):
            chosen = {name: v[row % len(v)] for name, v in edges.items() if v}
            cases.append(self.with_edges(chosen))
        tried = {(name, value) for case in cases for name, value in case.values.items()}
        for parameter in parameters:
            for value in edges[parameter.name]:
                if (parameter.name, as_received(parameter, value)) not in tried:
                    case = self.with_edges({parameter.name: value}, keep=(parameter.name,))
                    cases.append(case)
        return [case for case in cases if self.fits(case)]

    def with_edges(self, chosen: Mapping[str, float], keep: tuple[str, ...] = ()) -> Case:
        """A case with the chosen values, the rest random; ``keep`` names sizes not to shrink."""
        sizes = {p.name: int(chosen.get(p.name, self.size(p))) for p in self.problem.sizes}
        scalars = self.scalars()
        for p in self.problem.scalars:
            if p.name in chosen:
                scalars[p.name] = as_received(p, chosen[p.name])
        return self.shrunk(self.case(sizes, scalars), keep=keep)

    def shrunk(self, case: Case, *, keep: tuple[str, ...]) -> Case:
        """``case`` with its largest sizes reduced until it fits, or can get no smaller."""
        sizes = dict(case.sizes)
        low = {p.name: p.low for p in self.problem.sizes}
        while not self.fits(self.case(sizes, case.scalars)):
            reducible = [n for n in sizes if n not in keep and sizes[n] > low[n]]
            if not reducible:
                break
            largest = max(reducible, key=lambda name: sizes[name])
            sizes[largest] = max(low[largest], sizes[largest] * self.random.randint(60, 90) // 100)
        return self.case(sizes, case.scalars, case.family)

    def size(self, parameter: Parameter) -> int:
        """Log-uniform over the range, both ends included."""
        exponent = self.random.uniform(math.log(parameter.low), math.log(parameter.high + 1))
        return min(max(int(math.exp(exponent)), parameter.low), parameter.high)

    def scalars(self) -> dict[str, float]:
        """Fresh values for all scalars, as their distributions say."""
        drawn: dict[str, float] = {}
        for p in self.problem.scalars:
            if p.values.kind == "uniform":
                value = self.random.uniform(p.values.a, p.values.b)
            else:
                value = self.random.gauss(p.values.a, p.values.b)
            drawn[p.name] = as_received(p, value)
        return drawn
