"""Impostors: ways of not solving a problem that its judge must see through.

They are made from the problem itself: its reference, its parameters, its tolerance. Each writes
what such a submission would into the outputs of a call. Where that is the right answer to the last
bit there is nothing to see through.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from harness.problem.dtypes import DTYPES, DtypeKind
from harness.problem.model import Direction, Problem
from harness.verify.arithmetic.model import ArithmeticModel
from harness.verify.arithmetic.rounding import (
    BFLOAT16,
    E4M3,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    TF32,
    Format,
    component,
    rounded,
)
from harness.verify.arithmetic.sums import Accumulator
from harness.verify.arithmetic.survey import ReferenceTraits
from harness.verify.tolerances import accumulator_of, inputs_allowed, result_type, storage
from harness.verify.trial import Answers, Trial, mean, write

TILE = 32
"""Elements that kernels commonly treat together: a warp's."""

STEP = 16
"""Products that a matrix unit adds exactly before it rounds."""

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
    excuse: str = ""
    """Why it may be accepted, in words; empty where it may not."""


_CASES = "add a value under `always`, a wider range, or other values, so that some case tells"
_TOLERANCE = "the tolerance is too wide: constant, factor, roundings or the magnitude"


def impostors(problem: Problem, dtype: str, seen: ReferenceTraits) -> list[Impostor]:
    """All impostors of a problem in one data type."""
    return [
        *_idle(problem, dtype),
        *_forgetful(),
        *_careless(problem),
        *_ignorant(problem, dtype),
        *_imprecise(problem, dtype, seen),
    ]


# -- computing nothing -----------------------------------------------------------------


def _idle(problem: Problem, dtype: str) -> Iterator[Impostor]:
    yield Impostor(name="writes nothing", write=lambda *_: None, remedy=_CASES)
    for name, value in (("zeros", 0.0), ("ones", 1.0), ("NaN", float("nan"))):
        if name == "NaN" and result_type(problem, dtype) is None:
            continue
        yield Impostor(name=f"writes {name}", write=_constant(value), remedy=_CASES)
    for parameter in problem.tensors:
        if parameter.direction is not Direction.OUT:
            yield Impostor(
                name=f"copies {parameter.name}", write=_copy(parameter.name), remedy=_CASES
            )
    constant = "the output hardly varies: draw values that make it"
    yield Impostor(name="writes its mean everywhere", write=_own_mean, remedy=constant)
    yield Impostor(name="writes the first case's mean", write=_first_mean, remedy=constant)


def _constant(value: float) -> Writer:
    def run(trial: Trial, call: int, views: Mapping[str, Tensor]) -> None:  # noqa: ARG001
        for view in views.values():
            exact = not (view.is_floating_point() or view.is_complex())
            view.fill_(0 if exact and value != value else value)

    return run


def _copy(name: str) -> Writer:
    def run(trial: Trial, call: int, views: Mapping[str, Tensor]) -> None:
        source = trial.inputs[call][name].flatten()
        for view in views.values():
            times = -(-view.numel() // source.numel())
            cycled = source.repeat(times)[: view.numel()].view(view.shape)
            view.copy_(cycled.real if cycled.is_complex() and not view.is_complex() else cycled)

    return run


def _fill(view: Tensor, value: float) -> None:
    view.fill_(value if view.is_floating_point() or view.is_complex() else round(value))


def _own_mean(trial: Trial, call: int, views: Mapping[str, Tensor]) -> None:
    for name, view in views.items():
        if view.numel() == 1:
            view.copy_(trial.right[call][name])
        else:
            _fill(view, mean(trial.right[call][name]))


def _first_mean(trial: Trial, call: int, views: Mapping[str, Tensor]) -> None:
    if not trial.memory.means:
        write(views, trial.right[call])
        return
    for name, view in views.items():
        _fill(view, trial.memory.means[name])


# -- remembering -----------------------------------------------------------------------


def _forgetful() -> Iterator[Impostor]:
    remedy = "draw other values for each call: an input that decides the output is constant"
    yield Impostor(name="the previous call's answer", write=_previous_call, remedy=remedy)
    yield Impostor(name="an earlier case's answer", write=_earlier_case, remedy=remedy, rare=True)


def _previous_call(trial: Trial, call: int, views: Mapping[str, Tensor]) -> None:
    write(views, trial.right[max(0, call - 1)])


def _earlier_case(trial: Trial, call: int, views: Mapping[str, Tensor]) -> None:
    write(views, trial.memory.answers.get(trial.shapes, trial.right)[call])


# -- missing a part -----------------------------------------------------------------


def _careless(problem: Problem) -> Iterator[Impostor]:
    if max(len(p.shape) for p in problem.outputs) > 1:
        yield Impostor(name="misses the last row", write=_all_but_last(2), remedy=_CASES)
        yield Impostor(name="misses the last column", write=_all_but_last(1), remedy=_CASES)
        yield Impostor(name="transposed", write=_transposed, remedy=_CASES)
    else:
        yield Impostor(name="misses the last element", write=_all_but_last(1), remedy=_CASES)
    name = f"misses the last tile of {TILE}"
    yield Impostor(name=name, write=_all_but_tile, remedy=_CASES)
    name = f"right for multiples of {TILE} only"
    yield Impostor(name=name, write=_whole_tiles, remedy=_CASES)


def _all_but_last(from_end: int) -> Writer:
    """Write all but the last along the dimension so far from the end; all if it has one."""

    def run(trial: Trial, call: int, views: Mapping[str, Tensor]) -> None:
        for name, view in views.items():
            _written(view, trial.right[call][name], max(0, view.dim() - from_end), 1)

    return run


def _written(view: Tensor, right: Tensor, dim: int, missing: int) -> None:
    """Write ``right``, but for the last ``missing`` along a dimension."""
    kept = view.shape[dim] - missing
    if kept > 0:
        view.narrow(dim, 0, kept).copy_(right.narrow(dim, 0, kept))


def _all_but_tile(trial: Trial, call: int, views: Mapping[str, Tensor]) -> None:
    for name, view in views.items():
        right, length = trial.right[call][name], view.shape[-1]
        missing = (length - 1) % TILE + 1 if length > TILE else 0
        _written(view, right, view.dim() - 1, missing)


def _whole_tiles(trial: Trial, call: int, views: Mapping[str, Tensor]) -> None:
    for name, view in views.items():
        right = trial.right[call][name]
        for dim, length in enumerate(view.shape):
            # A dimension shorter than a tile is taken to be no loop of the kernel's, but for the
            # last one.
            if length > TILE or dim == view.dim() - 1:
                kept = length // TILE * TILE
                view, right = view.narrow(dim, 0, kept), right.narrow(dim, 0, kept)
        view.copy_(right)


def _transposed(trial: Trial, call: int, views: Mapping[str, Tensor]) -> None:
    for name, view in views.items():
        right = trial.right[call][name]
        if right.dim() > 1:
            right = right.transpose(-1, -2).reshape(right.shape)
        view.copy_(right)


# -- ignoring an argument -------------------------------------------------------------


def _ignorant(problem: Problem, dtype: str) -> Iterator[Impostor]:
    for scalar in problem.scalars:
        for value in dict.fromkeys([1.0, 0.0, *scalar.always[:1]]):
            yield Impostor(
                name=f"takes {scalar.name} for {value:g}",
                write=_fixed(scalar.name, value),
                remedy=f"draw {scalar.name} from a wider range, or list more values of it",
                both=False,
            )
    written = frozenset[str]().union(*(e.names for p in problem.outputs for e in p.shape))
    for parameter in problem.tensors:
        if parameter.direction is Direction.OUT:
            continue
        remedy = f"draw larger values for {parameter.name}: it hardly matters"
        for word, make in (("zeros", torch.zeros_like), ("ones", torch.ones_like)):
            yield Impostor(
                name=f"takes {parameter.name} for {word}",
                write=_replaced(parameter.name, make),
                remedy=remedy,
                both=False,
            )
        if parameter.nonfinite and parameter.data_type(dtype).roundoff:
            yield Impostor(
                name=f"takes NaN in {parameter.name} for zero",
                write=_replaced(parameter.name, _without_nan),
                remedy="some grades draw no NaN: allow no sizes so small that there is none",
                both=False,
            )
        for dim, length in enumerate(parameter.shape):
            if length.names and not length.names & written:
                yield Impostor(
                    name=f"misses the last of {parameter.name} along {length}",
                    write=_replaced(parameter.name, _without_last(dim)),
                    remedy=remedy,
                    both=False,
                )


def _fixed(name: str, value: float) -> Writer:
    def run(trial: Trial, call: int, views: Mapping[str, Tensor]) -> None:
        if trial.case.scalars[name] == value:
            write(views, trial.right[call])
        else:
            case = replace(trial.case, scalars={**trial.case.scalars, name: value})
            write(views, trial.evaluate(call, case=case))

    return run


def _replaced(name: str, how: Callable[[Tensor], Tensor]) -> Writer:
    def run(trial: Trial, call: int, views: Mapping[str, Tensor]) -> None:
        inputs = trial.inputs[call]
        write(views, trial.evaluate(call, inputs={**inputs, name: how(inputs[name])}))

    return run


def _without_nan(x: Tensor) -> Tensor:
    return torch.where(x.isnan(), torch.zeros_like(x), x)


def _without_last(dim: int) -> Callable[[Tensor], Tensor]:
    def run(x: Tensor) -> Tensor:
        if x.shape[dim] < 2:
            return x
        x = x.clone()
        x.select(dim, -1).zero_()
        return x

    return run


# -- too little precision ---------------------------------------------------------

_BELOW = {
    FLOAT64: FLOAT32,
    FLOAT32: TF32,
    TF32: BFLOAT16,
    FLOAT16: E4M3,
    BFLOAT16: E4M3,
}
"""The next precision that hardware offers and that is not enough."""


def _imprecise(problem: Problem, dtype: str, seen: ReferenceTraits) -> Iterator[Impostor]:
    skips = ArithmeticModel(skips=True)
    yield Impostor(
        name="skips the last term of every sum",
        write=_machine(skips),
        remedy=_TOLERANCE,
        both=False,
    )
    if result_type(problem, dtype) is None:
        return
    for cut in cuts(problem, dtype):
        what = "factors" if seen.products else "inputs"
        how = _machine(ArithmeticModel(factors=cut)) if seen.products else _inputs_cut(cut)
        yield Impostor(
            name=f"{what} in {cut.name}", write=how, remedy=_TOLERANCE, both=False, precision=True
        )
    for cut in result_cuts(problem, dtype):
        yield Impostor(
            name=f"results in {cut.name}", write=_results(cut), remedy=_TOLERANCE, precision=True
        )
    if not (seen.sums or seen.additions):
        return
    for format_ in cheaper(problem, dtype):
        machine = ArithmeticModel(
            accumulator=Accumulator(format_, step=STEP), additions=not seen.sums
        )
        yield Impostor(
            name=f"sums in {format_.name}",
            write=_machine(machine),
            remedy=_TOLERANCE + "; or sums are too short: raise the ranges",
            both=False,
            precision=True,
            excuse=_FINER if format_.bits > storage(problem, dtype).bits else "",
        )


_FINER = "what it loses may be less than rounding the result does: it is the more precise format"


def cuts(problem: Problem, dtype: str) -> list[Format]:
    """Precisions below what the tolerance allows inputs to be cut to."""
    if DTYPES[dtype].kind not in (DtypeKind.FLOAT, DtypeKind.COMPLEX):
        return []
    allowed = inputs_allowed(problem, dtype) or component(dtype)
    found = [_BELOW[allowed]]
    if found[0].bits > BFLOAT16.bits:
        found.append(BFLOAT16)
    return found


def result_cuts(problem: Problem, dtype: str) -> list[Format]:
    """Precisions to which no result may be cut.

    Where factors may be cut, results may lose a few roundoffs of that precision, which the next
    one below is: the one after that is tried.
    """
    found = cuts(problem, dtype)
    if found and inputs_allowed(problem, dtype) is not None:
        return [_BELOW[found[0]]] if found[0] in _BELOW else []
    return found


def cheaper(problem: Problem, dtype: str) -> list[Format]:
    """Formats too narrow for sums, which an impostor keeps them in.

    Not those as precise as what factors may be cut to: their loss cannot be told from that.
    """
    accumulator = accumulator_of(problem, dtype)
    found = {FLOAT64: [FLOAT32], FLOAT32: [FLOAT16, BFLOAT16]}.get(accumulator, [])
    allowed = inputs_allowed(problem, dtype)
    return [f for f in found if allowed is None or f.bits < allowed.bits]


def _machine(machine: ArithmeticModel) -> Writer:
    def run(trial: Trial, call: int, views: Mapping[str, Tensor]) -> None:
        write(views, trial.evaluate(call, machine=machine))

    return run


def _inputs_cut(to: Format) -> Writer:
    def run(trial: Trial, call: int, views: Mapping[str, Tensor]) -> None:
        inputs = {name: _cut(x, to) for name, x in trial.inputs[call].items()}
        write(views, trial.evaluate(call, inputs=inputs))

    return run


def _cut(x: Tensor, to: Format) -> Tensor:
    if x.is_complex():
        return rounded(x.to(torch.complex128), to)
    return rounded(x.to(torch.float64), to) if x.is_floating_point() else x


def _results(to: Format) -> Writer:
    def run(trial: Trial, call: int, views: Mapping[str, Tensor]) -> None:
        answers: Answers = trial.right[call]
        write(views, {name: _cut(x, to) for name, x in answers.items()})

    return run
