"""Find the smallest case that still fails: one to follow by hand instead of 287×153×71.

A case is smaller than another if its tensors have fewer elements together, then if its sizes add
up to less (negative ones without their sign), then if its scalars are simpler (0, 1, −1, 2, ½, few
digits), then if its values are more readable (``integers``, ``constant``). Failures are seldom
monotone (“unless a multiple of 32”, “only above 128”, “k odd”), so the search is greedy and local:
sizes are moved together and one by one, each upwards through the numbers at which kernels break
until one fails, then by bisection between the last that passed and that one; again until nothing
changes; at last through all smaller sizes, and with other scalars and values, since some fail for
few values only.
"""

import contextlib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from harness.errors import UsageError
from harness.problem.case import FAMILIES, Case, parse_case
from harness.problem.expressions import ExpressionError, Number
from harness.problem.model import Declaration, Parameter
from harness.problem.scalars import moved
from harness.problem.sizes import as_received, bounds, derive, in_order, nearest

READABLE = ("integers", "constant", "declared")
"""Families of values, the most readable first; all others come after them."""

_SIMPLE = (0.0, 1.0, -1.0, 2.0, 0.5, -0.5, -2.0)
_DIGITS = 3
_SWEEP = 64
"""Values from the lowest on that are tried one after the other in the end."""

_SMALL = 6


@dataclass(frozen=True, slots=True)
class Search:
    """The smallest failing case found, and how many cases were run for it."""

    case: Case
    trials: int


def shrink(
    problem: Declaration,
    case: Case,
    fails: Callable[[Case], bool],
    *,
    in_time: Callable[[], bool] = lambda: True,
) -> Search:
    """Reduce ``case``, which fails, to a smaller one of ``problem`` that still does.

    ``fails`` is called with legal cases only: no size is below what the problem declares, dependent
    sizes and scalars are within their bounds. ``in_time`` is called before each; once it gives
    False the best so far is returned.
    """
    search = _Searcher(problem, case, fails, in_time)
    with contextlib.suppress(_OutOfTime):
        search.run()
    return Search(search.best, search.trials)


class _OutOfTime(Exception):
    """The budget is spent."""


class _Searcher:
    """The best case so far, and what was tried.

    Dependent sizes keep their distance from their lower bound, so that a row length that must be
    at least k follows when k shrinks.
    """

    def __init__(
        self,
        problem: Declaration,
        case: Case,
        fails: Callable[[Case], bool],
        in_time: Callable[[], bool],
    ) -> None:
        self._problem = problem
        self._fails = fails
        self._in_time = in_time
        self._sizes = [p for p in problem.sizes if p.equals is None]
        self._scalars = [p for p in problem.scalars if p.equals is None]
        self._ordered = in_order(problem.numbers)
        self._tried: dict[str, bool] = {case.spec: True}
        self.best = case
        self.trials = 0

    def run(self) -> None:
        """Shrink to a fixed point; the last, long passes only once nothing else helps."""
        before = None
        while self.best is not before:
            before = self.best
            self._shrink_sizes()
            self._shrink_scalars()
            self._shrink_family()
            if self.best is before:
                self._sweep()
            if self.best is before:
                self._draw_again()

    def _attempt(self, candidate: Case | None) -> bool:
        """Whether ``candidate`` is smaller than the best and fails; then it is the best."""
        if candidate is None or self._cost(candidate) >= self._cost(self.best):
            return False
        if candidate.spec not in self._tried:
            if not self._in_time():
                raise _OutOfTime
            self.trials += 1
            self._tried[candidate.spec] = self._fails(candidate)
        if failed := self._tried[candidate.spec]:
            self.best = candidate
        return failed

    def _cost(self, case: Case) -> tuple[float, ...]:
        """Costs that make a case hard to follow, the most important first."""
        values = case.values
        elements = sum(math.prod(p.dimensions(values)) for p in self._problem.tensors)
        sizes = sum(abs(values[p.name]) + 0.5 * (values[p.name] < 0) for p in self._sizes)
        scalars = sum(complexity(p, float(values[p.name])) for p in self._scalars)
        return elements, sizes, scalars, _unreadable(case.family)

    # -- sizes -----------------------------------------------------------------------------------

    def _shrink_sizes(self) -> None:
        """Shrink all together, then those that are equal, then one by one, the largest first.

        Before that try each at its lowest: irrelevant sizes are gone at once, the rest is cheap.
        """
        self._attempt(self._with_sizes(self._sizes, 0))
        for p in self._sizes:
            self._attempt(self._with_sizes([p], 0))
        values = self.best.values
        self._shrink_group(self._sizes)
        equal: dict[Number, list[Parameter]] = {}
        for p in self._sizes:
            equal.setdefault(values[p.name], []).append(p)
        for group in equal.values():
            if 1 < len(group) < len(self._sizes):
                self._shrink_group(group)
        for p in sorted(self._sizes, key=lambda p: -abs(values[p.name])):
            self._shrink_group([p])
            if (now := int(self.best.values[p.name])) < 0:
                self._attempt(self._with_size(p, -now))

    def _shrink_group(self, group: Sequence[Parameter]) -> None:
        """Try values upwards until one fails, then bisect between it and the one before."""
        if not group:
            return
        top = max(abs(int(self.best.values[p.name])) for p in group)
        passed: int | None = None
        for value in _edges(group, top):
            if self._attempt(self._with_sizes(group, value)):
                self._bisect(group, passed, value)
                return
            passed = value
        # Nothing below fails; perhaps what lies between the last edge and the case itself does.
        self._bisect(group, passed, top)

    def _bisect(self, group: Sequence[Parameter], passed: int | None, failed: int) -> None:
        while passed is not None and failed - passed > 1:
            middle = (passed + failed) // 2
            if self._attempt(self._with_sizes(group, middle)):
                failed = middle
            else:
                passed = middle

    def _sweep(self) -> None:
        """Try every value below each size, from the lowest on."""
        for p in self._sizes:
            for value in islice(_below(p, int(self.best.values[p.name])), _SWEEP):
                if self._attempt(self._with_size(p, value)):
                    break

    def _draw_again(self) -> None:
        """Try smaller sizes with other scalars and families, which change all values drawn."""
        for scalars, family in self._variants():
            for p in self._sizes:
                now = int(self.best.values[p.name])
                smaller = {_reduced(p, now, limit) for limit in (0, abs(now) // 2, abs(now) - 1)}
                for value in sorted(smaller, key=_magnitude):
                    if self._attempt(self._case({p.name: value}, scalars, family)):
                        return

    def _variants(self) -> list[tuple[dict[str, float], str]]:
        """Scalars and families to draw again with: one thing changed in each."""
        given, family = self._best_scalars(), self.best.family
        variants = [(given, other) for other in FAMILIES if other != family]
        for p in self._scalars:
            simple = (as_received(p, value) for value in _SIMPLE)
            variants += [({**given, p.name: x}, family) for x in simple if _drawable(p, x)]
        return variants

    def _with_sizes(self, group: Sequence[Parameter], value: int) -> Case | None:
        """The best case with no size of ``group`` above ``value``; None if there is no such."""
        chosen = {p.name: _reduced(p, int(self.best.values[p.name]), value) for p in group}
        return self._case(chosen, self._best_scalars(), self.best.family)

    def _with_size(self, size: Parameter, value: int) -> Case | None:
        """The best case with another value of one size; None if there is no such."""
        return self._case({size.name: value}, self._best_scalars(), self.best.family)

    def _case(
        self, chosen: Mapping[str, int], scalars: Mapping[str, float], family: str
    ) -> Case | None:
        """The legal case with these sizes, what depends on them moved along; None if there is none.

        As ``--case`` reads it, so that it can be replayed.
        """
        new: dict[str, Number] = {}
        try:
            for p in self._ordered:
                if p.name in scalars:
                    value: Number | None = moved(p, new, scalars[p.name])
                else:
                    value = _resolved(p, chosen, self.best.values, new)
                if value is None:
                    return None
                new[p.name] = value
            parts = [f"{p.name}={new[p.name]}" for p in self._sizes]
            parts += [f"{p.name}={new[p.name]!r}" for p in self._scalars]
            parts += [f"values={family}"] if family != "declared" else []
            return parse_case(self._problem, ",".join(parts))
        except (ExpressionError, UsageError):
            return None

    # -- the rest --------------------------------------------------------------------------------

    def _best_sizes(self) -> dict[str, int]:
        return {p.name: int(self.best.values[p.name]) for p in self._sizes}

    def _best_scalars(self) -> dict[str, float]:
        return {p.name: float(self.best.values[p.name]) for p in self._scalars}

    def _shrink_scalars(self) -> None:
        """Take each scalar to the simplest value with which the case still fails."""
        for p in self._scalars:
            given = self._best_scalars()
            for value in simpler(p, given[p.name]):
                changed = {**given, p.name: value}
                if self._attempt(self._case(self._best_sizes(), changed, self.best.family)):
                    break

    def _shrink_family(self) -> None:
        """Take the most readable family of values with which the case still fails."""
        for family in sorted(FAMILIES, key=_unreadable):
            if self._attempt(self._case(self._best_sizes(), self._best_scalars(), family)):
                return


def complexity(parameter: Parameter, value: float) -> float:
    """Rank a scalar by how hard it is to read: 0, 1, … for simple ones, then by its digits."""
    if value in _SIMPLE:
        return _SIMPLE.index(value)
    written = (as_received(parameter, float(f"{value:.{d}g}")) for d in range(1, 17))
    digits = next((d for d, x in enumerate(written, start=1) if x == value), 17)
    # 1e-30 has one digit, and is harder to think about than 3.
    return len(_SIMPLE) + digits + abs(math.log10(abs(value))) / 64


def simpler(parameter: Parameter, value: float) -> list[float]:
    """Values of a scalar that are simpler than ``value``, the simplest first.

    All within what the problem draws: a divisor that is never 0 is not made 0.
    """
    rounded = [float(f"{value:.{digits}g}") for digits in range(1, _DIGITS + 1)]
    whole = [float(round(value))] if abs(value) < 1e9 else []
    received = (as_received(parameter, x) for x in (*_SIMPLE, *whole, *rounded))
    ranks = {x: complexity(parameter, x) for x in received if _drawable(parameter, x)}
    here = complexity(parameter, value)
    return sorted((x for x, rank in ranks.items() if rank < here), key=ranks.__getitem__)


def _drawable(parameter: Parameter, value: float) -> bool:
    """Whether the problem may draw ``value``; of a normal distribution, within 4 deviations."""
    values = parameter.values
    if value in (as_received(parameter, x) for x in parameter.always):
        return True
    if values.kind == "uniform":
        return values.a <= value <= values.b
    return abs(value - values.a) <= 4 * values.b


def _unreadable(family: str) -> int:
    return READABLE.index(family) if family in READABLE else len(READABLE)


def _magnitude(value: int) -> tuple[int, bool]:
    """What whole numbers are sorted by to have the simplest first: 0, 1, −1, 2."""
    return abs(value), value < 0


def _lowest(size: Parameter) -> int:
    """The smallest value of a size in magnitude."""
    near = [size.low]
    if size.low < 0:
        zero = (size.grid.at_most(0), size.grid.at_least(0))
        near += [size.high, *(value for value in zero if size.low <= value <= size.high)]
    return min((*near, *map(int, size.always)), key=_magnitude)


def _reduced(size: Parameter, now: int, limit: int) -> int:
    """What a size may be instead of ``now``: of this sign, and in magnitude ``limit`` at most.

    Where that is too little, the smallest it may be.
    """
    if abs(now) <= limit:
        return now
    value = size.grid.at_least(-limit) if now < 0 else size.grid.at_most(limit)
    lowest = _lowest(size)
    return lowest if _magnitude(value) < _magnitude(lowest) else value


def _below(size: Parameter, now: int) -> Iterator[int]:
    """The values of a size that are smaller than ``now`` in magnitude, the smallest first."""
    value = size.low
    if value < 0:
        both = (sign * m for m in range(abs(now) + 1) for sign in (1, -1))
        yield from (x for x in both if size.low <= x <= size.high and x in size.grid)
        return
    while value < now:
        yield value
        value = size.grid.after(value)


def _resolved(
    size: Parameter, chosen: Mapping[str, int], old: Mapping[str, Number], new: Mapping[str, Number]
) -> Number | None:
    """The new value of one size: computed, chosen, or as far above its lower bound as it was.

    None if it would be illegal.
    """
    if size.equals is not None:
        return derive(size, new)
    value = chosen.get(size.name, int(old[size.name]))
    if size.lower is None and size.upper is None:
        # A case given by hand may lie above the range.
        legal = size.low <= value <= max(size.high, int(old[size.name])) or value in size.always
        return value if legal else None
    low, high = bounds(size, new)
    if size.name not in chosen:
        value = low + value - bounds(size, old)[0]
    return nearest(size, value, low, high)


def _edges(group: Iterable[Parameter], top: int) -> list[int]:
    """Values below ``top`` at which kernels break, ascending: the smallest, powers of two ± 1."""
    edges: set[int] = set()
    for p in group:
        edges |= {*islice(_below(p, top), _SMALL), *map(int, p.always)}
    for exponent in range(2, top.bit_length()):
        edges |= {2**exponent + near for near in (-1, 0, 1)}
    lowest = min(abs(_lowest(p)) for p in group)
    return sorted(x for x in {*map(abs, edges), lowest} if lowest <= x < top)
