"""Honest variants: ways of computing a problem that its judge must accept in every case."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import torch

from harness.problem.dtypes import DtypeKind
from harness.problem.model import Problem
from harness.verify.arithmetic.model import ArithmeticModel
from harness.verify.arithmetic.rounding import component, truncated
from harness.verify.arithmetic.sums import Accumulator, Order
from harness.verify.arithmetic.survey import ReferenceTraits
from harness.verify.tolerances import accumulator_of, inputs_allowed, result_type, storage, working
from harness.verify.trial import Answers, Trial

STEP = 16
"""Products that a matrix unit adds exactly before it truncates."""

ULPS = 2.0
"""Error of a library's exponentials and the like: most of CUDA's are within two units."""


_CUTTING = 2.0
"""Roundings to nearest that cutting off once may cost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """One honest way; ``answer`` computes the outputs of a call."""

    name: str
    answer: Callable[[Trial, int], Answers]


@dataclass(frozen=True, slots=True, kw_only=True)
class Absent:
    """A variant that does not apply to a problem, and why."""

    name: str
    why: str


def variants(problem: Problem, dtype: str, seen: ReferenceTraits) -> list[Variant | Absent]:
    """All honest variants of a problem in one data type."""
    found: list[Variant | Absent] = [
        Variant(name="float64 inside", answer=lambda trial, call: trial.right[call]),
        Variant(name="zeros of the other sign", answer=_other_zeros),
    ]
    if result_type(problem, dtype) is None:
        return found
    return found + list(_machines(problem, dtype, seen))


def _machines(problem: Problem, dtype: str, seen: ReferenceTraits) -> Iterator[Variant | Absent]:
    plain = ArithmeticModel(
        working=working(problem, dtype),
        accumulator=Accumulator(accumulator_of(problem, dtype)),
    )
    for order, name in _NAMES.items():
        # Without a sum the order does not matter: one is enough.
        if seen.sums or order is Order.SEQUENTIAL:
            accumulator = replace(plain.accumulator, order=order)
            yield _variant(
                name if seen.sums else "in order", replace(plain, accumulator=accumulator)
            )
        else:
            yield Absent(name=name, why="nothing is summed")
    in_blocks = replace(plain, accumulator=replace(plain.accumulator, order=Order.BLOCKED))
    yield from _unfused(problem, dtype, seen, in_blocks)
    yield from _matrix_unit(problem, dtype, seen, plain)
    name = f"functions off by {ULPS:g} units"
    if seen.functions:
        yield _variant(name, replace(in_blocks, ulps=ULPS))
    else:
        yield Absent(name=name, why="no exponential or the like is evaluated")
    yield from _factors(problem, dtype, seen, in_blocks)


_NAMES = {
    Order.SEQUENTIAL: "sequential sums",
    Order.REVERSED: "reversed sums",
    Order.PAIRWISE: "pairwise sums",
    Order.SPLIT: "split sums",
    Order.BLOCKED: "blocked sums",
}


def _unfused(
    problem: Problem, dtype: str, seen: ReferenceTraits, machine: ArithmeticModel
) -> Iterator[Variant | Absent]:
    """Unfused kernels: every result stored in the output's type; or only the last one, cut off."""
    name, stored = "every step rounded", storage(problem, dtype)
    allowed = problem.tolerance.roundings if problem.tolerance else 0.0
    if stored.bits >= machine.working.bits:
        yield Absent(name=name, why="the outputs have the precision of the computation")
    elif seen.roundings > allowed:
        why = f"{seen.roundings} steps round, the tolerance has room for {allowed:g}"
        yield Absent(name=name, why=why)
    elif seen.magnified:
        yield Absent(name=name, why="what a step's rounding loses can be magnified after it")
    else:
        yield _variant(name, replace(machine, storage=stored))
    name = "results cut off"
    if stored.bits >= machine.working.bits:
        yield Absent(name=name, why="the outputs have the precision of the computation")
    elif allowed < _CUTTING:
        yield Absent(name=name, why="the tolerance has room for one rounding to nearest")
    else:
        yield Variant(name=name, answer=_cut_off(problem, dtype, machine))


def _matrix_unit(
    problem: Problem, dtype: str, seen: ReferenceTraits, machine: ArithmeticModel
) -> Iterator[Variant | Absent]:
    """Tensor cores: blocks of exact products onto an accumulator that cuts off."""
    name = "truncating sums"
    if not seen.sums:
        yield Absent(name=name, why="nothing is summed")
    elif storage(problem, dtype).bits >= machine.accumulator.format.bits:
        yield Absent(name=name, why=f"matrix units do not truncate {dtype}")
    else:
        accumulator = replace(machine.accumulator, step=STEP, truncates=True)
        yield _variant(name, replace(machine, accumulator=accumulator))


def _factors(
    problem: Problem, dtype: str, seen: ReferenceTraits, machine: ArithmeticModel
) -> Iterator[Variant | Absent]:
    """Factors cut to what the tolerance allows, with and without rounding."""
    cut = inputs_allowed(problem, dtype)
    if cut is None:
        yield Absent(name="cut factors", why="the tolerance has no room for it")
    elif not seen.products:
        yield Absent(name="cut factors", why="no product of tensors is summed")
    else:
        yield _variant(f"factors in {cut.name}", replace(machine, factors=cut))
        truncating = replace(machine, factors=cut, cut_off=True)
        yield _variant(f"factors in {cut.name}, cut off", truncating)


def _variant(name: str, machine: ArithmeticModel) -> Variant:
    return Variant(name=name, answer=lambda trial, call: trial.evaluate(call, machine=machine))


def _cut_off(
    problem: Problem, dtype: str, machine: ArithmeticModel
) -> Callable[[Trial, int], Answers]:
    """Cut each output off to its own type, where that is less than what is computed in."""

    def run(trial: Trial, call: int) -> Answers:
        found = trial.computed(call, machine=machine)
        for parameter in problem.outputs:
            kind = parameter.data_type(dtype)
            if kind.kind in (DtypeKind.FLOAT, DtypeKind.COMPLEX):
                to = component(kind.name)
                if to.bits < machine.working.bits:
                    found[parameter.name] = truncated(found[parameter.name], to)
        return trial.stored(found)

    return run


def _other_zeros(trial: Trial, call: int) -> Answers:
    """The right answer, but −0 for +0 and +0 for −0."""
    return {
        name: torch.where(x == 0, -x, x) if x.is_floating_point() else x
        for name, x in trial.right[call].items()
    }
