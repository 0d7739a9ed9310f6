"""Cases in which one size is as large as in any benchmark: what stops at 1,024 fails there."""

import random
from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256
from operator import itemgetter

from harness.problem.case import Case, CaseLimits, whole_case
from harness.problem.expressions import ExpressionError
from harness.problem.model import Declaration, Parameter
from harness.problem.sampling.cases import CaseSampler
from harness.problem.sizes import bounds, needs

_TRIES = 64
"""Values of a size that are tried, each less by a quarter, until a case keeps to the limits."""


def coverage_cases(problem: Declaration, seed: str, *, dtype: str, room: CaseLimits) -> list[Case]:
    """For each size a case with its largest value of all benchmarks, the others small.

    Small is as small as their ranges allow or, where only others allow that value, as in that
    benchmark. Where it is too much for ``room`` (a row counts for no more than its operations
    here), it is the largest of a few smaller values that is not.
    """
    digest = sha256(f"coverage|{seed}|{problem.slug}|{dtype}".encode()).digest()
    source = random.Random(digest)  # noqa: S311 - seeded by a secret
    sampler = CaseSampler(problem, dtype, source, replace(room, row_work=0.0))
    benchmarks = [whole_case(problem, shape) for shape in problem.benchmarks]
    cases: dict[tuple[int, ...], Case] = {}
    for size in sampler.drawn() if benchmarks else ():
        shape = max((case.sizes for case in benchmarks), key=itemgetter(size.name))
        if (case := _largest(sampler, size, shape)) is not None:
            cases.setdefault(tuple(case.sizes.values()), case)
    return list(cases.values())


def _largest(sampler: CaseSampler, size: Parameter, shape: Mapping[str, int]) -> Case | None:
    """The case with ``size`` as in ``shape``, or as near to that as the limits allow."""
    value = shape[size.name]
    for _ in range(_TRIES):
        case = _with(sampler, size, value, shape)
        if case is None or sampler.fits(case):
            return case
        value = size.grid.at_most(max(size.low, value * 3 // 4))
    return None


def _with(
    sampler: CaseSampler, size: Parameter, value: int, shape: Mapping[str, int]
) -> Case | None:
    """The case with ``value`` and the others small; None if there is no such case."""
    lowest = {p.name: p.low for p in sampler.drawn()} | {size.name: value}
    needed = {name: shape[name] for name in _needed(sampler, size) if name in lowest}
    for chosen in (lowest, lowest | needed, dict(shape) | {size.name: value}):
        try:
            sizes = sampler.sizes(chosen)
            low, high = bounds(size, sampler.derived(sizes))
            if sizes[size.name] == value and (low <= value <= high or not needs(size)):
                return sampler.case(sizes, sampler.scalars())
        except ExpressionError:
            continue
    return None


def _needed(sampler: CaseSampler, size: Parameter) -> set[str]:
    """The sizes on which the range of ``size`` depends, however indirectly."""
    ranges = {p.name: needs(p) for p in sampler.problem.sizes}
    found: set[str] = set()
    waiting = set(ranges[size.name])
    while waiting:
        name = waiting.pop()
        if name in ranges and name not in found:
            found.add(name)
            waiting |= ranges[name]
    return found
