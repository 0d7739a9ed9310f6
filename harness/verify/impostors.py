"""Impostors: ways of not solving a problem that its judge must see through.

They are made from the problem itself: its reference, its parameters, its tolerance. Each writes
what such a submission would into the outputs of a call. Where that is the right answer to the last
bit there is nothing to see through.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

import torch
from torch import Tensor

from harness.problem.dtypes import DTYPES
from harness.problem.model import Distribution
from harness.problem.package import Problem
from harness.problem.terms import Direction
from harness.verify.arithmetic.model import ArithmeticModel
from harness.verify.arithmetic.rounding import (
    BELOW,
    BFLOAT16,
    FLOAT32,
    NARROWER,
    TWO_BFLOAT16,
    Format,
    component,
    rounded,
)
from harness.verify.arithmetic.sums import Accumulator
from harness.verify.arithmetic.survey import ReferenceTraits
from harness.verify.trial import Answers, Trial, as_type, inexact, mean, write
from harness.verify.variants import STEP, Compute, RequiredFormats, on_machine, required_formats

TILE = 32
"""Elements of a tile, as kernels commonly have them: a warp's."""

Writer = Callable[[Trial, int, Mapping[str, Tensor]], None]
"""Writes into the outputs of one call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Impostor:
    """One way to go wrong."""

    name: str
    """What it does: ``writes zeros``."""
    write: Writer
    """Leaves its answer in the outputs of a call."""
    remedy: str
    """What an author should change if it is accepted."""
    both: bool = True
    """Whether it goes wrong in both calls of a case; else in one of them (which one alternates),
    which saves half the work and makes it harder to find."""
    rare: bool = False
    """Whether grades may lack a case where it differs."""
    precision: bool = False
    """Whether it differs from an honest computation by its accuracy alone."""
    timed: bool = True
    """Whether it has to be seen through in a timed shape, too."""
    stepwise: bool = False
    """Whether its sums are imitated step by step, which takes long where they are long."""
    excuse: str = ""
    """Why it may be accepted, in words; empty where it may not."""


_CASES = "add a value under `always`, a wider range, or other values, so that some case tells"
_TOLERANCE = "the tolerance is too wide: constant, factor, roundings or the magnitude"


def impostors(problem: Problem, dtype: str, seen: ReferenceTraits) -> list[Impostor]:
    """All impostors of a problem in one data type."""
    formats = required_formats(problem, dtype)
    return [
        *_idle(problem, formats is None),
        *_forgetful(),
        *_careless(problem),
        *_ignorant(problem, dtype),
        *_guessing(problem, dtype, seen),
        Impostor(
            name="skips the last term of every sum",
            write=_answer(on_machine(ArithmeticModel(skips=True))),
            remedy=_TOLERANCE,
            both=False,
            timed=False,  # one of so many terms may be less than a result of 16 bits is rounded by
        ),
        *(_imprecise(dtype, seen, formats) if formats else ()),
    ]


def _answer(compute: Compute) -> Writer:
    """Write what ``compute`` gives for a call."""
    return lambda trial, call, views: write(views, compute(trial, call))


def _each(how: Callable[[Tensor, Tensor], object]) -> Writer:
    """Treat each output by itself: ``how`` gets its view and the right answer."""

    def run(trial: Trial, call: int, views: Mapping[str, Tensor]) -> None:
        for name, view in views.items():
            how(view, trial.right[call][name])

    return run


def _idle(problem: Problem, exact: bool) -> Iterator[Impostor]:
    """Impostors that compute nothing."""
    make = partial(Impostor, remedy=_CASES)
    yield make(name="writes nothing", write=lambda *_: None)
    for name, value in (("zeros", 0.0), ("ones", 1.0), ("NaN", math.nan)):
        if not (exact and name == "NaN"):
            yield make(name=f"writes {name}", write=_constant(value))
    for parameter in problem.tensors:
        if parameter.direction is not Direction.OUT:
            yield make(name=f"copies {parameter.name}", write=_copy(parameter.name))
    make = partial(Impostor, remedy="the output hardly varies: draw values that make it")
    yield make(name="writes its mean everywhere", write=_each(_own_mean))
    yield make(name="writes the first case's mean", write=_first_mean)


def _constant(value: float) -> Writer:
    return _each(lambda view, _: _fill(view, value))


def _fill(view: Tensor, value: float) -> None:
    """Write one number everywhere: rounded in integers, 0 for NaN."""
    if not inexact(view):
        value = 0 if math.isnan(value) else round(value)
    view.fill_(value)


def _copy(name: str) -> Writer:
    def run(trial: Trial, call: int, views: Mapping[str, Tensor]) -> None:
        source = trial.inputs[call][name].flatten()
        for view in views.values():
            times = -(-view.numel() // source.numel())
            cycled = source.repeat(times)[: view.numel()].view(view.shape)
            view.copy_(as_type(cycled, view.dtype))

    return run


def _own_mean(view: Tensor, right: Tensor) -> None:
    if view.numel() == 1:
        view.copy_(right)
    else:
        _fill(view, mean(right))


def _first_mean(trial: Trial, call: int, views: Mapping[str, Tensor]) -> None:
    means = trial.memory.means
    for name, view in views.items():
        if name in means:
            _fill(view, means[name])
        else:
            view.copy_(trial.right[call][name])


def _forgetful() -> Iterator[Impostor]:
    """Impostors that return remembered answers."""
    remedy = "draw other values for each call: an input that decides the output is constant"
    make = partial(Impostor, remedy=remedy)
    previous = _answer(lambda trial, call: trial.right[max(0, call - 1)])
    yield make(name="the previous call's answer", write=previous)
    earlier = _answer(lambda trial, call: trial.memory.answers.get(trial.shapes, trial.right)[call])
    yield make(name="an earlier case's answer", write=earlier, rare=True)


def _careless(problem: Problem) -> Iterator[Impostor]:
    """Impostors that miss a part of the outputs."""
    writers = {"misses the last element": _all_but_last(1)}
    if max(len(p.shape) for p in problem.outputs) > 1:
        writers = {
            "misses the last row": _all_but_last(2),
            "misses the last column": _all_but_last(1),
            "transposed": _each(_transposed),
        }
    writers[f"misses the last tile of {TILE}"] = _each(_all_but_tile)
    writers[f"right for multiples of {TILE} only"] = _each(_whole_tiles)
    for name, writer in writers.items():
        yield Impostor(name=name, write=writer, remedy=_CASES)


def _all_but_last(from_end: int) -> Writer:
    """Write all but the last along the dimension so far from the end; all if it has one."""
    return _each(lambda view, right: _written(view, right, max(0, view.dim() - from_end), 1))


def _written(view: Tensor, right: Tensor, dim: int, missing: int) -> None:
    """Write ``right``, but for the last ``missing`` along a dimension."""
    length = view.shape[dim] - missing
    if length > 0:
        view.narrow(dim, 0, length).copy_(right.narrow(dim, 0, length))


def _all_but_tile(view: Tensor, right: Tensor) -> None:
    length = view.shape[-1]
    _written(view, right, view.dim() - 1, (length - 1) % TILE + 1 if length > TILE else 0)


def _whole_tiles(view: Tensor, right: Tensor) -> None:
    for dim, length in enumerate(view.shape):
        # A dimension shorter than a tile is taken to be no loop of the kernel's, but for the last.
        if length > TILE or dim == view.dim() - 1:
            whole = length // TILE * TILE
            view, right = view.narrow(dim, 0, whole), right.narrow(dim, 0, whole)
    view.copy_(right)


def _transposed(view: Tensor, right: Tensor) -> None:
    view.copy_(right.transpose(-1, -2).reshape(right.shape) if right.dim() > 1 else right)


def _ignorant(problem: Problem, dtype: str) -> Iterator[Impostor]:
    """Impostors that ignore an argument."""
    for scalar in problem.scalars:
        for value in dict.fromkeys([1.0, 0.0, *scalar.always[:1]]):
            yield Impostor(
                name=f"takes {scalar.name} for {value:g}",
                write=_fixed(scalar.name, value),
                remedy=f"draw {scalar.name} from a wider range, or list more values of it",
                both=False,
                timed=False,  # a shape's scalars are no secret
            )
    written = frozenset[str]().union(*(e.names for p in problem.outputs for e in p.shape))
    for parameter in problem.tensors:
        if parameter.direction is Direction.OUT:
            continue
        name = parameter.name
        remedy = f"draw larger values for {name}: it hardly matters"
        make = partial(Impostor, remedy=remedy, both=False)
        yield make(name=f"takes {name} for zeros", write=_replaced(name, torch.zeros_like))
        yield make(name=f"takes {name} for ones", write=_replaced(name, torch.ones_like))
        if parameter.nonfinite and parameter.data_type(dtype).roundoff:
            remedy = "some grades draw no NaN: allow no sizes so small that there is none"
            writer = _replaced(name, _without_nan)
            yield make(name=f"takes NaN in {name} for zero", write=writer, remedy=remedy)
        for dim, length in enumerate(parameter.shape):
            if length.names and not length.names & written:
                writer = _replaced(name, partial(_without_last, dim=dim))
                yield make(name=f"misses the last of {name} along {length}", write=writer)


def _fixed(name: str, value: float) -> Writer:
    def compute(trial: Trial, call: int) -> Answers:
        scalars = trial.case.scalars
        if scalars[name] == value:
            return trial.right[call]
        return trial.evaluate(call, case=replace(trial.case, scalars={**scalars, name: value}))

    return _answer(compute)


def _replaced(name: str, how: Callable[[Tensor], Tensor], only: str = "") -> Writer:
    """The answer for another input; in the output ``only``, if it is given, the rest right."""

    def compute(trial: Trial, call: int) -> Answers:
        inputs = trial.inputs[call]
        found = trial.evaluate(call, inputs={**inputs, name: how(inputs[name])})
        return {**trial.right[call], only: found[only]} if only else found

    return _answer(compute)


def _without_nan(x: Tensor) -> Tensor:
    return torch.where(x.isnan(), torch.zeros_like(x), x)


def _without_last(x: Tensor, dim: int) -> Tensor:
    if x.shape[dim] > 1:
        x = x.clone()
        x.select(dim, -1).zero_()
    return x


_VALUES = "the values hardly differ from what is declared: leave out no family of timed values"
_BULK = 6.0
"""Standard deviations from its mean that nearly all numbers of a normal distribution are within."""
_TOP = 4.0
"""Standard deviations from its mean that the largest of many such numbers is off by."""


def _guessing(problem: Problem, dtype: str, seen: ReferenceTraits) -> Iterator[Impostor]:
    """Impostors that are right for the declared values, or nearly, and for no others."""
    make = partial(Impostor, remedy=_VALUES)
    read = [p for p in problem.tensors if p.direction is not Direction.OUT]
    drawn = {p.name: p.values for p in read if p.data_type(dtype).roundoff}
    if not drawn:
        return
    clamped = partial(_clamped, drawn)
    name = "takes numbers outside the declared range for its ends"
    yield make(name=name, write=_answer(clamped), both=False, rare=True)
    first = next(iter(drawn.values()))
    if seen.maxima:
        top = first.b if first.kind == "uniform" else first.a + _TOP * first.b
        machine = ArithmeticModel(working=FLOAT32, maximum=top)
        name = "takes every maximum for that of declared values"
        # In exact arithmetic it may cancel: it shows where numbers overflow, or vanish.
        yield make(name=name, write=_answer(on_machine(machine)), both=False, precision=True)
    written = frozenset[str]().union(*(e.names for p in problem.outputs for e in p.shape))
    for parameter in (p for p in read if p.name in drawn):
        name, values = parameter.name, parameter.values
        middle = (values.a + values.b) / 2 if values.kind == "uniform" else values.a
        ways = {}
        if middle not in (0.0, 1.0):  # there are impostors for these
            ways[f"takes {name} for its declared mean"] = partial(
                torch.full_like, fill_value=middle
            )
        for dim, length in enumerate(parameter.shape):
            if length.names and not length.names & written:
                way = partial(_first_half_twice, dim=dim)
                ways[f"takes half of {name} along {length} for the whole"] = way
        for said, how in ways.items():
            for output in problem.outputs:
                writer = _replaced(name, how, only=output.name)
                where = f", in {output.name}" if len(problem.outputs) > 1 else ""
                yield make(name=said + where, write=writer, both=False)


def _clamped(drawn: Mapping[str, Distribution], trial: Trial, call: int) -> Answers:
    """The answer for inputs within what is declared, as nearly all declared ones are."""
    inputs = dict(trial.inputs[call])
    for name, values in drawn.items():
        normal = values.kind == "normal"
        low = values.a - _BULK * values.b if normal else values.a
        high = values.a + _BULK * values.b if normal else values.b
        x = inputs[name]
        parts = torch.view_as_real(x) if x.is_complex() else x
        cut = parts.clamp(low, high)
        inputs[name] = torch.view_as_complex(cut) if x.is_complex() else cut
    return trial.evaluate(call, inputs=inputs)


def _first_half_twice(x: Tensor, dim: int) -> Tensor:
    half = x.shape[dim] // 2
    if half:
        x = x.clone()
        x.narrow(dim, half, half).copy_(x.narrow(dim, 0, half).clone())
    return x


_FINER = "what it loses may be less than rounding the result does: it is the more precise format"


def _imprecise(dtype: str, seen: ReferenceTraits, formats: RequiredFormats) -> Iterator[Impostor]:
    """Impostors that compute with too little precision."""
    make = partial(Impostor, remedy=_TOLERANCE, precision=True)
    cuts = _cuts(dtype, formats)
    for cut in cuts:
        machine = on_machine(ArithmeticModel(factors=cut))
        answer = machine if seen.products else _inputs_cut(cut)
        name = f"{'factors' if seen.products else 'inputs'} in {cut.name}"
        yield make(name=name, write=_answer(answer), both=False)
    if seen.products and formats.factors is None and formats.storage is FLOAT32:
        machine = on_machine(ArithmeticModel(factors=TWO_BFLOAT16))
        name = f"factors in {TWO_BFLOAT16.name}"
        yield make(name=name, write=_answer(machine), both=False)
    if cuts and formats.factors is not None:
        # Where factors may be cut, results may lose a few roundoffs of that precision, which the
        # next one below is: the one after that is tried.
        cuts = [BELOW[cuts[0]]] if cuts[0] in BELOW else []
    for cut in cuts:
        yield make(name=f"results in {cut.name}", write=_results(cut))
    narrower = NARROWER.get(formats.accumulator, [])
    for sums in narrower if seen.sums or seen.additions else ():
        # The error of sums as precise as factors may be cut to is within what that may cost.
        if formats.factors is not None and sums.bits >= formats.factors.bits:
            continue
        accumulator = Accumulator(sums, step=STEP)
        machine = on_machine(ArithmeticModel(accumulator=accumulator, additions=not seen.sums))
        yield make(
            name=f"sums in {sums.name}",
            write=_answer(machine),
            remedy=_TOLERANCE + "; or sums are too short: raise the ranges",
            both=False,
            stepwise=True,
            excuse=_FINER if sums.bits > formats.storage.bits else "",
        )


def _cuts(dtype: str, formats: RequiredFormats) -> list[Format]:
    """Precisions below what the tolerance allows inputs to be cut to."""
    if not DTYPES[dtype].roundoff:
        return []
    below = BELOW[formats.factors or component(dtype)]
    return [below, BFLOAT16] if below.bits > BFLOAT16.bits else [below]


def _inputs_cut(to: Format) -> Compute:
    return lambda trial, call: trial.evaluate(
        call, inputs={name: _cut(x, to) for name, x in trial.inputs[call].items()}
    )


def _results(to: Format) -> Writer:
    return _each(lambda view, right: view.copy_(_cut(right, to)))


def _cut(x: Tensor, to: Format) -> Tensor:
    wide = torch.complex128 if x.is_complex() else torch.float64
    return rounded(x.to(wide), to) if inexact(x) else x
