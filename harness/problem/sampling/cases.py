"""Draw the cases of a grade from a seed: sizes, scalars and families of values."""

import math
import random
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256

from harness.errors import Diagnostic, ProblemError
from harness.problem.case import (
    DECLARED,
    NONFINITE,
    Case,
    CaseLimits,
    families,
    tensors_of,
    whole_case,
)
from harness.problem.expressions import ExpressionError, Number
from harness.problem.model import Declaration, Parameter
from harness.problem.sampling.footprint import footprint
from harness.problem.scalars import draw_scalar, moved
from harness.problem.sizes import (
    as_received,
    bounds,
    case_bounds,
    derive,
    draw_size,
    in_order,
    nearest,
    needs,
    shaping,
)
from harness.problem.terms import Role

SMALL_FIRST = 3
"""Smallest cases that come first: most wrong submissions fail there, cheaply."""
ATTEMPTS = 1000
"""Draws of the other sizes until an ``always`` value of a dependent size is in range."""


def fresh_seed() -> str:
    """A new secret: 128 random bits in hexadecimal."""
    return secrets.token_hex(16)


_ALL_ROOM = CaseLimits()
_NONE: Mapping[str, float] = {}


def draw_cases(
    problem: Declaration, seed: str, *, dtype: str, room: CaseLimits = _ALL_ROOM
) -> list[Case]:
    """Draw the correctness cases of one grade, all decided by ``seed``; the cheapest few first.

    Every ``always`` value of every size and scalar is in; so are all sizes at their smallest, all
    near their largest, each family of values, and ``problem.cases`` cases of random size
    (log-uniform) and random scalars. Where tensors may hold NaN there is a large case with some,
    and one for each ``always`` value of each scalar. Every case keeps within ``room``: other sizes
    shrink for the sake of an ``always`` value, and one that is too much by itself is left out. So
    is that of a dependent size that is in range with none of :data:`ATTEMPTS` draws of the others.

    Raises:
        ProblemError: sizes were drawn that make no sense. Loading tries many sizes, not all.
    """
    digest = sha256(f"cases|{seed}|{problem.slug}|{dtype}".encode()).digest()
    source = random.Random(digest)  # noqa: S311 - seeded by a secret
    sampler = CaseSampler(problem, dtype, source, room)
    try:
        cases = sampler.boundary_cases()
        cases += [sampler.smallest(), sampler.largest()]
        cases += sampler.family_cases()
        cases += [sampler.random_case() for _ in range(problem.cases)]
        cases = list({case.spec: case for case in cases}.values())
        source.shuffle(cases)
        first = sorted(cases, key=sampler.work)[:SMALL_FIRST]
    except ExpressionError as error:
        path = problem.folder / "problem.md"
        raise ProblemError([Diagnostic(path, 1, "parameters", str(error))]) from None
    return first + [case for case in cases if case not in first]


@dataclass(slots=True)
class CaseSampler:
    """Draws single cases from one stream of random numbers; the order of calls matters."""

    problem: Declaration
    dtype: str
    random: random.Random
    room: CaseLimits
    in_order: tuple[Parameter, ...] = field(init=False)
    """The sizes, each after those that it depends on."""

    def __post_init__(self) -> None:
        self.in_order = tuple(in_order(self.problem.sizes))

    def work(self, case: Case) -> float:
        """Count operations; the product of the dimensions' sizes where the problem does not say.

        Every element of a tensor is one at least, however few ``flops`` are declared.
        """
        flops = self.problem.flops
        if flops is None:
            sizes = (case.sizes[name] for name in shaping(self.problem))
            work = float(math.prod(max(1, abs(size)) for size in sizes))
        else:
            work = self.problem.evaluate(flops, case.values, self.dtype)
        tensors = (math.prod(p.dimensions(case.values)) for p in self.problem.tensors)
        work = max(work, *tensors)
        rows = self.room.row_work and self.room.row_work * max(self._rows(case), default=1)
        return max(work, rows)

    def _rows(self, case: Case) -> Iterator[int]:
        """How many rows each output has; as many as an input that is reduced to a number a row."""
        shapes = [p.dimensions(case.values) for p in self.problem.tensors]
        reduced = [shape[:-1] for shape in shapes if len(shape) > 1]
        for p in self.problem.outputs:
            shape = p.dimensions(case.values)
            yield math.prod(shape if shape in reduced else shape[:-1])

    def fits(self, case: Case) -> bool:
        """Whether a case keeps to its limits."""
        work, size = self.room.work, self.room.bytes
        if work is not None and self.work(case) > work:
            return False
        return size is None or footprint(tensors_of(self.problem, case, self.dtype)) <= size

    def smallest(self) -> Case:
        """A case with every size at its lowest."""
        sizes = self.sizes({p.name: p.low for p in self.drawn()})
        return self.case(sizes, self.scalars())

    def largest(self, family: str = DECLARED) -> Case:
        """A case with every size in the top quarter of its range, as far as the limits allow."""
        sizes: dict[str, int] = {}
        for p in self.drawn():
            low, high = case_bounds(p, self.derived(sizes))
            quarter = high * 3 // 4 if low > 0 else high - (high - low) // 4
            sizes[p.name] = p.grid.at_most(self.random.randint(max(low, quarter), high))
        return self.shrunk(sizes, self.scalars(), family)

    def random_case(self, family: str = DECLARED, fixed: Mapping[str, float] = _NONE) -> Case:
        """A case with random sizes and scalars, but for the ``fixed`` ones, within the limits."""
        scalars = {**self.scalars(), **fixed}
        return self.shrunk(self.sizes({}), scalars, family)

    def family_cases(self) -> Iterator[Case]:
        """One case for each family of values; for ``nonfinite``, one for each scalar's edge."""
        for family in families(self.problem, self.dtype):
            if family not in (DECLARED, NONFINITE):
                yield self.random_case(family)
            elif family == NONFINITE:
                for p in self.problem.scalars:
                    for value in p.always:
                        yield self.random_case(family, {p.name: as_received(p, value)})
                # Large, too: where there is one element, NaN in one tensor hides that in another.
                yield self.largest(family)

    def boundary_cases(self) -> list[Case]:
        """Cases that together try every ``always`` value of every size and scalar."""
        parameters = (*self.problem.sizes, *self.problem.scalars)
        edges = {p.name: self.always(p) for p in parameters}
        for values in edges.values():
            self.random.shuffle(values)
        # Values side by side, one of each parameter per case: as few cases as the longest list.
        cases = [
            self.with_boundary_values({name: v[row % len(v)] for name, v in edges.items() if v})
            for row in range(max(map(len, edges.values()), default=0))
        ]
        # What the limits shrank, or a range moved, is tried again in a case of its own.
        tried = {(name, value) for case in cases for name, value in case.values.items()}
        for p in parameters:
            for value in edges[p.name]:
                if (p.name, as_received(p, value)) not in tried:
                    case = self.with_boundary_values({p.name: value}, keep=p.name)
                    if case.values[p.name] == as_received(p, value):
                        cases.append(case)
        return [case for case in cases if self.fits(case)]

    def always(self, parameter: Parameter) -> list[float]:
        """A parameter's ``always`` values within the limits."""
        if parameter.role is Role.SIZE and self.room.in_range and not needs(parameter):
            highest = case_bounds(parameter, {})[1]
            return [value for value in parameter.always if value <= highest]
        return list(parameter.always)

    def with_boundary_values(self, chosen: Mapping[str, float], keep: str = "") -> Case:
        """A case with the chosen values, or those nearest in range; ``keep`` is not to shrink."""
        edges = {p.name: int(chosen[p.name]) for p in self.drawn() if p.name in chosen}
        sizes = self.sizes(edges)
        dependent = any(needs(p) for p in self.drawn() if p.name == keep)
        for _ in range(ATTEMPTS if dependent else 0):
            if edges.items() <= sizes.items():
                break
            sizes = self.sizes(edges)
        scalars = self.scalars()
        for p in self.problem.scalars:
            if p.name in chosen:
                scalars[p.name] = as_received(p, chosen[p.name])
        follows = any(needs(p) and not p.derived for p in self.problem.scalars if p.name == keep)
        for _ in range(ATTEMPTS if follows else 0):
            tried = self.case(sizes, scalars)
            if tried.scalars[keep] == scalars[keep]:
                scalars = dict(tried.scalars)
                break
            sizes, scalars = self.sizes({}), {**self.scalars(), keep: scalars[keep]}
        return self.shrunk(sizes, scalars, DECLARED, keep)

    def shrunk(
        self, sizes: dict[str, int], scalars: dict[str, float], family: str, keep: str = ""
    ) -> Case:
        """The case with its largest sizes but ``keep`` reduced until it fits, or cannot shrink."""
        stuck = {keep, *sizes.keys() - shaping(self.problem)}
        while not self.fits(case := self.case(sizes, scalars, family)):
            known = self.derived(sizes)
            low = {p.name: bounds(p, known)[0] for p in self.drawn()}
            drawn = {p.name: p for p in self.drawn() if p.name not in stuck}
            reducible = [n for n in drawn if sizes[n] > low[n]]
            if not reducible:
                break
            largest = max(reducible, key=lambda name: sizes[name])
            # By a random share, so that cases that are too large do not all end at one size.
            share = min(sizes[largest] * self.random.randint(60, 90) // 100, sizes[largest] - 1)
            less = max(low[largest], drawn[largest].grid.at_most(share))
            reduced = self.sizes({**sizes, largest: less})
            if keep in sizes and reduced[keep] != sizes[keep]:
                stuck.add(largest)  # what is to be kept needs it
            else:
                sizes = reduced
        return case

    def drawn(self) -> list[Parameter]:
        """The sizes that are drawn, each after those that its range depends on."""
        return [p for p in self.in_order if not p.derived]

    def derived(self, sizes: Mapping[str, int]) -> dict[str, Number]:
        """``sizes`` and those that follow from them, as far as these can be computed."""
        known: dict[str, Number] = dict(sizes)
        for p in self.in_order:
            if p.derived and needs(p) <= known.keys():
                known[p.name] = derive(p, known)
        return known

    def sizes(self, chosen: Mapping[str, int]) -> dict[str, int]:
        """``chosen`` sizes, dependent ones moved into their ranges; others random, log-uniform."""
        sizes: dict[str, int] = {}
        for p in self.drawn():
            known = self.derived(sizes)
            if p.name not in chosen:
                sizes[p.name] = draw_size(p, known, self.random)
            elif needs(p):
                sizes[p.name] = nearest(p, chosen[p.name], *bounds(p, known))
            else:
                sizes[p.name] = chosen[p.name]
        return sizes

    def case(
        self, sizes: Mapping[str, int], scalars: Mapping[str, float], family: str = DECLARED
    ) -> Case:
        """The whole case: scalars with bounds that follow from others are moved there, or drawn."""
        known: dict[str, Number] = {**sizes, **scalars}
        for p in in_order(self.problem.numbers):
            if p.derived:
                known[p.name] = derive(p, known)
            elif p.name in scalars:
                known[p.name] = moved(p, known, scalars[p.name])
            elif p.name not in known:
                known[p.name] = draw_scalar(p, known, self.random)
        return whole_case(self.problem, known, family)

    def scalars(self) -> dict[str, float]:
        """Draw all scalars that follow from nothing else, by their distributions."""
        free = (p for p in self.problem.scalars if not p.derived and not needs(p))
        return {p.name: draw_scalar(p, {}, self.random) for p in free}
