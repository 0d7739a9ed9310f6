"""Impostors: ways of not solving a problem that its judge must see through.

They are made from the problem itself: its reference, its parameters, its tolerance. Each writes
what such a submission would into the outputs of a call. Where that is the right answer to the last
bit there is nothing to see through.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor

from harness.problem.model import DRAW, Parameter, inexact_types
from harness.problem.package import Problem
from harness.problem.sizes import may_be
from harness.problem.terms import Direction, Role
from harness.verify.arithmetic.model import ArithmeticModel
from harness.verify.arithmetic.survey import ReferenceTraits
from harness.verify.guesses import guesses
from harness.verify.impostor import TOLERANCE, Impostor, Writer, answer, each_output, replaced
from harness.verify.imprecision import imprecise
from harness.verify.trial import Answers, Trial, as_type, inexact, mean
from harness.verify.variants import on_machine, required_formats

TILE = 32
"""Elements of a tile, as kernels commonly have them: a warp's."""

_CASES = "add a value under `always`, a wider range, or other values, so that some case tells"


_STATED = "it may be within the rtol and atol that the problem states"


def impostors(problem: Problem, dtype: str, seen: ReferenceTraits) -> list[Impostor]:
    """All impostors of a problem in one data type."""
    formats = required_formats(problem, dtype)
    found = [
        *_idle(problem, formats is None),
        *_forgetful(),
        *_careless(problem),
        *_ignorant(problem, dtype),
        *guesses(problem, dtype, seen),
        Impostor(
            name="skips the last term of every sum",
            write=answer(on_machine(ArithmeticModel(skips=True))),
            remedy=TOLERANCE,
            both=False,
            timed=False,  # one of so many terms may be less than a result of 16 bits is rounded by
        ),
        *(imprecise(dtype, seen, formats) if formats else ()),
    ]
    types = inexact_types(problem.outputs, [dtype])
    if problem.tolerance is None or not any(map(problem.tolerance.plain, types)):
        return found
    return [replace(one, excuse=one.excuse or _STATED) if one.precision else one for one in found]


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
    yield make(name="writes its mean everywhere", write=each_output(_own_mean))
    yield make(name="writes the first case's mean", write=_first_mean)


def _constant(value: float) -> Writer:
    return each_output(lambda view, _: _fill(view, value))


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
    previous = answer(lambda trial, call: trial.right[max(0, call - 1)])
    yield make(name="the previous call's answer", write=previous)
    earlier = answer(lambda trial, call: trial.memory.answers.get(trial.shapes, trial.right)[call])
    yield make(name="an earlier case's answer", write=earlier, rare=True)


def _careless(problem: Problem) -> Iterator[Impostor]:
    """Impostors that miss a part of the outputs."""
    writers = {"misses the last element": _all_but_last(1)}
    if max(len(p.shape) for p in problem.outputs) > 1:
        writers = {
            "misses the last row": _all_but_last(2),
            "misses the last column": _all_but_last(1),
            "transposed": each_output(_transposed),
        }
    writers[f"misses the last tile of {TILE}"] = each_output(_all_but_tile)
    writers[f"right for multiples of {TILE} only"] = each_output(_whole_tiles)
    for name, writer in writers.items():
        yield Impostor(name=name, write=writer, remedy=_CASES)


def _all_but_last(from_end: int) -> Writer:
    """Write all but the last along the dimension so far from the end; all if it has one."""
    return each_output(lambda view, right: _written(view, right, max(0, view.dim() - from_end), 1))


def _written(view: Tensor, right: Tensor, dim: int, missing: int) -> None:
    """Write ``right``, but for the last ``missing`` along a dimension; all where there is none."""
    if not view.dim():
        view.copy_(right)
        return
    length = view.shape[dim] - missing
    if length > 0:
        view.narrow(dim, 0, length).copy_(right.narrow(dim, 0, length))


def _all_but_tile(view: Tensor, right: Tensor) -> None:
    length = view.shape[-1] if view.dim() else 1
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
    dimensions = {name for p in problem.tensors for e in (*p.shape, *p.strides) for name in e.names}
    for number in problem.parameters:
        if number.role is Role.TENSOR or number.name in dimensions:
            continue
        for value in dict.fromkeys([1, 0, *number.always[:1]]):
            yield Impostor(
                name=f"takes {number.name} for {value:g}",
                write=_fixed(number, value),
                remedy=f"draw {number.name} from a wider range, or list more values of it",
                both=False,
                timed=False,  # a shape's scalars are no secret
            )
    written = frozenset[str]().union(*(e.names for p in problem.outputs for e in p.shape))
    if any(p.drawn for p in problem.tensors):
        yield Impostor(
            name=f"takes what {DRAW} made for the other call",
            write=answer(_others_structure),
            remedy=f"{DRAW} must make other tensors for each call, from its generator",
            both=False,
        )
    for parameter in problem.tensors:
        # Indices that are all 0, or 1, may lead out of what they index: no answer at all.
        if parameter.direction is Direction.OUT or parameter.drawn:
            continue
        name = parameter.name
        remedy = f"draw larger values for {name}: it hardly matters"
        make = partial(Impostor, remedy=remedy, both=False)
        yield make(name=f"takes {name} for zeros", write=replaced(name, torch.zeros_like))
        yield make(name=f"takes {name} for ones", write=replaced(name, torch.ones_like))
        if parameter.nonfinite and parameter.data_type(dtype).roundoff:
            remedy = "some grades draw no NaN: allow no sizes so small that there is none"
            writer = replaced(name, _without_nan)
            # In both calls: the only NaN of one may lie where another tensor has one.
            yield make(name=f"takes NaN in {name} for zero", write=writer, remedy=remedy, both=True)
        for dim, length in enumerate(parameter.shape):
            if length.names and not length.names & written:
                writer = replaced(name, partial(_without_last, dim=dim))
                yield make(name=f"misses the last of {name} along {length}", write=writer)


def _others_structure(trial: Trial, call: int) -> Answers:
    """The answer for the tensors that the author's function drew for the other call."""
    other = trial.inputs[1 - call]
    drawn = {p.name: other[p.name] for p in trial.task.problem.tensors if p.drawn}
    return trial.evaluate(call, inputs={**trial.inputs[call], **drawn})


def _fixed(number: Parameter, value: float) -> Writer:
    """The answer where a size or scalar has another value, unless a size may not have that."""
    name = number.name

    def compute(trial: Trial, call: int) -> Answers:
        case = trial.case
        if case.values[name] == value:
            return trial.right[call]
        if name in case.scalars:
            other = replace(case, scalars={**case.scalars, name: value})
        elif may_be(number, int(value), case.values):
            other = replace(case, sizes={**case.sizes, name: int(value)})
        else:
            return trial.right[call]
        return trial.evaluate(call, case=other)

    return answer(compute)


def _without_nan(x: Tensor) -> Tensor:
    return torch.where(x.isnan(), torch.zeros_like(x), x)


def _without_last(x: Tensor, dim: int) -> Tensor:
    if x.shape[dim] > 1:
        x = x.clone()
        x.select(dim, -1).zero_()
    return x
