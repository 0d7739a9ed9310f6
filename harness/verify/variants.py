"""Honest variants: ways of computing a problem that its judge must accept in every case."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import torch

from harness.problem.package import Problem
from harness.verify.arithmetic.model import ArithmeticModel
from harness.verify.arithmetic.rounding import FLOAT32, FLOAT64, Format, component, truncated
from harness.verify.arithmetic.sums import Accumulator, Order
from harness.verify.arithmetic.survey import ReferenceTraits
from harness.verify.trial import Answers, Trial

STEP = 16
"""Products that a matrix unit adds exactly before it truncates or rounds."""

ULPS = 2.0
"""Error of a library's exponentials and the like: most of CUDA's are within two units."""

_CUTTING = 2.0
"""Roundings to nearest that cutting off once may cost."""

Compute = Callable[[Trial, int], Answers]
"""Computes the outputs of a call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequiredFormats:
    """Formats that a problem's tolerance asks for in one data type.

    Of running sums (``accumulator``), of the first output that is not exact or of its components
    (``storage``), and the one that factors may be cut to (None where they may not be cut).
    """

    accumulator: Format
    storage: Format
    factors: Format | None

    @property
    def cut(self) -> Format | None:
        """:attr:`factors` if inputs lose by it, which are no more precise than ``storage``."""
        return self.factors if self.factors and self.factors.bits < self.storage.bits else None

    @property
    def working(self) -> Format:
        """The format in which an honest kernel holds what it computes."""
        return FLOAT64 if self.accumulator is FLOAT64 else FLOAT32


def required_formats(problem: Problem, dtype: str) -> RequiredFormats | None:
    """The formats for a problem in one data type; None if all its outputs are exact."""
    types = [parameter.data_type(dtype) for parameter in problem.outputs]
    inexact = [kind.name for kind in types if kind.roundoff]
    if not inexact or problem.tolerance is None:
        return None
    factors = problem.tolerance.inputs.get(dtype)
    return RequiredFormats(
        accumulator=component(problem.tolerance.accumulator[inexact[0]]),
        storage=component(inexact[0]),
        factors=None if factors is None else component(factors),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """One honest way; or ``why`` it does not apply to a problem, and no ``answer``."""

    name: str
    answer: Compute | None = None
    why: str = ""


def variants(problem: Problem, dtype: str, seen: ReferenceTraits) -> list[Variant]:
    """All honest variants of a problem in one data type."""
    found = [
        Variant(name="float64 inside", answer=lambda trial, call: trial.right[call]),
        Variant(name="zeros of the other sign", answer=_other_zeros),
    ]
    formats = required_formats(problem, dtype)
    if formats is None:
        return found
    accumulator = Accumulator(formats.accumulator)
    plain = ArithmeticModel(working=formats.working, accumulator=accumulator)
    for order in Order:
        # Without a sum the order does not matter: one is enough.
        first = order is Order.SEQUENTIAL
        name = "in order" if first and not seen.sums else f"{order} sums"
        machine = replace(plain, accumulator=replace(accumulator, order=order))
        against = {"nothing is summed": not (first or seen.sums)}
        found.append(_unless(against, name, on_machine(machine)))
    return [*found, *_others(problem, dtype, seen, formats, plain)]


def _others(
    problem: Problem,
    dtype: str,
    seen: ReferenceTraits,
    formats: RequiredFormats,
    plain: ArithmeticModel,
) -> Iterator[Variant]:
    """Variants that differ in more than the order of summation from a ``plain`` machine."""
    working, stored = formats.working, formats.storage
    blocks = replace(plain, accumulator=replace(plain.accumulator, order=Order.BLOCKED))

    # Unfused kernels: every result stored in the output's type; or only the last one, cut off.
    room = problem.tolerance.roundings if problem.tolerance else 0.0
    precise = {"the outputs have the precision of the computation": stored.bits >= working.bits}
    against = {
        **precise,
        f"{seen.roundings} steps round, the tolerance has room for {room:g}": seen.roundings > room,
        "what a step's rounding loses can be magnified after it": seen.magnified,
    }
    yield _unless(against, "every step rounded", on_machine(replace(blocks, storage=stored)))
    against = precise | {"the tolerance has room for one rounding to nearest": room < _CUTTING}
    yield _unless(against, "results cut off", _cut_off(problem, dtype, blocks))

    # Tensor cores: blocks of exact products onto an accumulator that cuts off.
    against = {
        "nothing is summed": not seen.sums,
        f"matrix units do not truncate {dtype}": stored.bits >= formats.accumulator.bits,
    }
    truncating = replace(plain.accumulator, step=STEP, truncates=True)
    answer = on_machine(replace(plain, accumulator=truncating))
    yield _unless(against, "truncating sums", answer)

    against = {"no exponential or the like is evaluated": not seen.functions}
    name = f"functions off by {ULPS:g} units"
    yield _unless(against, name, on_machine(replace(blocks, ulps=ULPS)))

    # Factors cut to what the tolerance allows, with and without rounding.
    if formats.factors is None:
        yield Variant(name="cut factors", why="the tolerance has no room for it")
    elif not seen.products:
        yield Variant(name="cut factors", why="no product of tensors is summed")
    else:
        name, cut = f"factors in {formats.factors.name}", replace(blocks, factors=formats.factors)
        yield Variant(name=name, answer=on_machine(cut))
        yield Variant(name=f"{name}, cut off", answer=on_machine(replace(cut, cut_off=True)))


def _unless(against: Mapping[str, bool], name: str, answer: Compute) -> Variant:
    """A variant, or why it does not apply: the first of the reasons against it that holds."""
    why = next((reason for reason, holds in against.items() if holds), "")
    return Variant(name=name, answer=None if why else answer, why=why)


def on_machine(machine: ArithmeticModel) -> Compute:
    """The answer of a machine that evaluates the reference."""
    return lambda trial, call: trial.evaluate(call, machine=machine)


def _cut_off(problem: Problem, dtype: str, machine: ArithmeticModel) -> Compute:
    """Cut each output off to its own type, where that is less than what is computed in."""

    def run(trial: Trial, call: int) -> Answers:
        found = trial.evaluate(call, machine=machine, store=False)
        for parameter in problem.outputs:
            kind = parameter.data_type(dtype)
            if kind.roundoff and component(kind.name).bits < machine.working.bits:
                found[parameter.name] = truncated(found[parameter.name], component(kind.name))
        return trial.stored(found)

    return run


def _other_zeros(trial: Trial, call: int) -> Answers:
    """The right answer, but −0 for +0 and +0 for −0."""
    return {
        name: torch.where(x == 0, -x, x) if x.is_floating_point() else x
        for name, x in trial.right[call].items()
    }
