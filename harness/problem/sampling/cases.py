"""Which sizes, scalars and kinds of values a submission is tried with, decided by a seed."""

import math
import random
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256

from harness.errors import Diagnostic, ProblemError
from harness.problem.case import DECLARED, Case, families, whole_case
from harness.problem.expressions import ExpressionError, Number
from harness.problem.model import Direction, Parameter, Problem, Role
from harness.problem.sampling.distributions import NONFINITE
from harness.problem.sampling.footprint import footprint
from harness.problem.sizes import (
    as_received,
    bounds,
    derive,
    draw_size,
    in_order,
    needs,
)

SMALL_FIRST = 3
"""So many of the smallest cases come first: most wrong submissions fail there, cheaply."""

ATTEMPTS = 1000
"""So often the other sizes are drawn until an ``always`` value of a dependent size is in range."""


def fresh_seed() -> str:
    """A new secret: 128 random bits in hexadecimal."""
    return secrets.token_hex(16)


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseLimits:
    """What one case may take.

    ``work`` bounds its operations: the problem's ``flops``, or the product of its sizes. A row of
    an output (everything but its last dimension counts rows) is ``row_work`` operations at least,
    for kernels start a block for it. ``bytes`` bounds the memory that checking it takes
    (:func:`~harness.problem.sampling.footprint.footprint`). With ``in_range`` no size is larger than its
    range, not by ``always`` either.
    """

    work: float | None = None
    row_work: float = 0.0
    bytes: int | None = None
    in_range: bool = False


_ALL_ROOM = CaseLimits()


def draw_cases(
    problem: Problem, seed: str, *, dtype: str, room: CaseLimits = _ALL_ROOM
) -> list[Case]:
    """The correctness cases of one grade, all decided by ``seed``.

    Every ``always`` value of every size and scalar is in; so are all sizes at their smallest, all
    near their largest, each family of values, and ``problem.cases`` cases of random size
    (log-uniform) and random scalars. Where tensors may hold NaN there is a large case with some,
    and one for each ``always`` value of each scalar. Every case has the ``room`` it is given:
    other sizes shrink to make some for an edge, and an edge that is too much by itself is left
    out. So is an ``always`` value of a dependent size that is in its range with none of
    :data:`ATTEMPTS` draws of the others.

    The cheapest few come first, the rest in an order that the seed decides.

    Raises:
        ProblemError: sizes were drawn with which a range, a shape or a derived value makes no
            sense. Loading tries many, and complains; not all.
    """
    try:
        return _draw_cases(problem, seed, dtype, room)
    except ExpressionError as error:
        path = problem.folder / "problem.md"
        raise ProblemError([Diagnostic(path, 1, "parameters", str(error))]) from None


def _draw_cases(problem: Problem, seed: str, dtype: str, room: CaseLimits) -> list[Case]:
    digest = sha256(f"cases|{seed}|{problem.slug}|{dtype}".encode()).digest()
    source = random.Random(digest)  # noqa: S311 - seeded by a secret
    drawer = CaseSampler(problem, dtype, source, room)
    cases = drawer.edges()
    cases += [drawer.smallest(), drawer.largest()]
    cases += drawer.family_cases()
    cases += [drawer.random_case() for _ in range(problem.cases)]
    cases = list({case.spec: case for case in cases}.values())
    drawer.random.shuffle(cases)
    first = sorted(cases, key=drawer.work)[:SMALL_FIRST]
    return first + [case for case in cases if case not in first]


@dataclass(slots=True)
class CaseSampler:
    problem: Problem
    dtype: str
    random: random.Random
    room: CaseLimits

    def case(
        self, sizes: Mapping[str, int], scalars: Mapping[str, float], family: str = DECLARED
    ) -> Case:
        return whole_case(self.problem, {**sizes, **scalars}, family)

    def work(self, case: Case) -> float:
        """Operations of one case; the product of its sizes where the problem does not say."""
        flops = self.problem.flops
        if flops is None:
            work = float(math.prod(case.sizes.values()))
        else:
            work = self.problem.evaluate(flops, case.values, self.dtype)
        return max(work, self.room.row_work * self.rows(case) if self.room.row_work else 0.0)

    def rows(self, case: Case) -> int:
        """Of the output that has most."""
        outputs = (p for p in self.problem.tensors if p.direction is not Direction.IN)
        return max((math.prod(p.dimensions(case.values)[:-1]) for p in outputs), default=1)

    def fits(self, case: Case) -> bool:
        room = self.room
        if room.work is not None and self.work(case) > room.work:
            return False
        return room.bytes is None or footprint(self.problem, case, self.dtype) <= room.bytes

    def smallest(self) -> Case:
        """Every size at its lowest."""
        return self.case(self.settled({p.name: p.low for p in self.drawn()}), self.scalars())

    def largest(self, family: str = DECLARED) -> Case:
        """Every size in the top quarter of its range, as far as the bounds allow."""
        sizes: dict[str, int] = {}
        for p in self.drawn():
            low, high = bounds(p, self.derived(sizes))
            sizes[p.name] = self.random.randint(max(low, high * 3 // 4), high)
        return self.shrunk(self.case(sizes, self.scalars(), family), keep=())

    def random_case(
        self, *, family: str = DECLARED, fixed: Mapping[str, float] | None = None
    ) -> Case:
        """Random sizes and scalars, but for the ``fixed`` ones, within the bounds."""
        scalars = {**self.scalars(), **(fixed or {})}
        return self.shrunk(self.case(self.sizes(), scalars, family), keep=())

    def family_cases(self) -> Iterator[Case]:
        """One case for each family of values; of ``nonfinite``, one for each scalar's edge.

        And a large one: where there is a single element, NaN in one tensor hides that in another.
        """
        for family in families(self.problem, self.dtype):
            if family not in (DECLARED, NONFINITE):
                yield self.random_case(family=family)
            elif family == NONFINITE:
                edges = [(p, v) for p in self.problem.scalars for v in p.always]
                for p, value in edges:
                    fixed = {p.name: as_received(p, value)}
                    yield self.random_case(family=family, fixed=fixed)
                yield self.largest(family)

    def edges(self) -> list[Case]:
        """Cases that together try every ``always`` value of every size and scalar."""
        parameters = (*self.problem.sizes, *self.problem.scalars)
        edges = {p.name: self.always(p) for p in parameters}
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
                    if case.values[parameter.name] == as_received(parameter, value):
                        cases.append(case)
        return [case for case in cases if self.fits(case)]

    def always(self, parameter: Parameter) -> list[float]:
        """Its ``always`` values that there is room for."""
        if parameter.role is Role.SIZE and self.room.in_range and not needs(parameter):
            return [value for value in parameter.always if value <= parameter.high]
        return list(parameter.always)

    def with_edges(self, chosen: Mapping[str, float], keep: tuple[str, ...] = ()) -> Case:
        """A case with the chosen values, the rest random; ``keep`` names sizes not to shrink.

        A value that a dependent size cannot have with the others is moved into the range.
        """
        edges = {p.name: int(chosen[p.name]) for p in self.drawn() if p.name in chosen}
        sizes = self.sizes(edges)
        for _ in range(ATTEMPTS if any(needs(p) for p in self.drawn() if p.name in keep) else 0):
            if all(sizes[name] == value for name, value in edges.items()):
                break
            sizes = self.sizes(edges)
        scalars = self.scalars()
        for p in self.problem.scalars:
            if p.name in chosen:
                scalars[p.name] = as_received(p, chosen[p.name])
        return self.shrunk(self.case(sizes, scalars), keep=keep)

    def shrunk(self, case: Case, *, keep: tuple[str, ...]) -> Case:
        """``case`` with its largest sizes reduced until it fits, or can get no smaller."""
        sizes = {p.name: case.sizes[p.name] for p in self.drawn()}
        stuck = set(keep)
        while not self.fits(self.case(sizes, self.given(case.scalars))):
            low = self.lowest(sizes)
            reducible = [n for n in sizes if n not in stuck and sizes[n] > low[n]]
            if not reducible:
                break
            largest = max(reducible, key=lambda name: sizes[name])
            less = max(low[largest], sizes[largest] * self.random.randint(60, 90) // 100)
            reduced = self.settled({**sizes, largest: less})
            if any(reduced[name] != sizes[name] for name in keep if name in sizes):
                stuck.add(largest)  # what is to be kept needs it
            else:
                sizes = reduced
        return self.case(sizes, self.given(case.scalars), case.family)

    # -- sizes -------------------------------------------------------------------------------

    def drawn(self) -> list[Parameter]:
        """The sizes that are drawn, each after those that its range depends on."""
        ordered = in_order(self.problem.parameters)
        return [p for p in ordered if p.role is Role.SIZE and not p.derived]

    def derived(self, sizes: Mapping[str, int]) -> dict[str, Number]:
        """``sizes`` and those that follow from them, as far as they are known."""
        known: dict[str, Number] = dict(sizes)
        for p in in_order(self.problem.sizes):
            if p.derived and needs(p) <= known.keys():
                known[p.name] = derive(p, known)
        return known

    def sizes(self, edges: Mapping[str, int] | None = None) -> dict[str, int]:
        """Random sizes, log-uniform; those with an edge as close to it as the range allows."""
        sizes: dict[str, int] = {}
        for p in self.drawn():
            known = self.derived(sizes)
            if edges is None or p.name not in edges:
                sizes[p.name] = draw_size(p, known, self.random)
            elif needs(p):
                low, high = bounds(p, known)
                sizes[p.name] = min(max(edges[p.name], low), high)
            else:
                sizes[p.name] = edges[p.name]
        return sizes

    def settled(self, sizes: Mapping[str, int]) -> dict[str, int]:
        """``sizes`` with the dependent ones moved into their ranges."""
        new: dict[str, int] = {}
        for p in self.drawn():
            new[p.name] = sizes[p.name]
            if needs(p):
                low, high = bounds(p, self.derived(new))
                new[p.name] = min(max(sizes[p.name], low), high)
        return new

    def lowest(self, sizes: Mapping[str, int]) -> dict[str, int]:
        """The least that each size could be with the others as they are."""
        known = self.derived(sizes)
        return {p.name: bounds(p, known)[0] if needs(p) else p.low for p in self.drawn()}

    # -- scalars -----------------------------------------------------------------------------

    def scalars(self) -> dict[str, float]:
        """Fresh values for all scalars that are drawn, as their distributions say."""
        drawn: dict[str, float] = {}
        for p in self.problem.scalars:
            if p.derived:
                continue
            if p.values.kind == "uniform":
                value = self.random.uniform(p.values.a, p.values.b)
            else:
                value = self.random.gauss(p.values.a, p.values.b)
            drawn[p.name] = as_received(p, value)
        return drawn

    def given(self, scalars: Mapping[str, float]) -> dict[str, float]:
        """``scalars`` without those that follow from the sizes."""
        return {p.name: scalars[p.name] for p in self.problem.scalars if not p.derived}
