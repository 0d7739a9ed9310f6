"""Impostors that compute with too little precision: inputs, results or sums in a lesser format."""

from collections.abc import Iterator
from functools import partial

import torch
from torch import Tensor

from harness.problem.dtypes import DTYPES
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
from harness.verify.impostor import TOLERANCE, Impostor, Writer, answer, each_output
from harness.verify.trial import inexact
from harness.verify.variants import STEP, Compute, RequiredFormats, on_machine

_FINER = "what it loses may be less than rounding the result does: it is the more precise format"


def imprecise(dtype: str, seen: ReferenceTraits, formats: RequiredFormats) -> Iterator[Impostor]:
    """All of them, for a reference of such operations and the formats that it asks for."""
    make = partial(Impostor, remedy=TOLERANCE, precision=True)
    cuts = _cuts(dtype, formats)
    for cut in cuts:
        machine = on_machine(ArithmeticModel(factors=cut))
        compute = machine if seen.products else _inputs_cut(cut)
        name = f"{'factors' if seen.products else 'inputs'} in {cut.name}"
        yield make(name=name, write=answer(compute), both=False)
    if seen.products and formats.cut is None and formats.storage is FLOAT32:
        machine = on_machine(ArithmeticModel(factors=TWO_BFLOAT16))
        name = f"factors in {TWO_BFLOAT16.name}"
        yield make(name=name, write=answer(machine), both=False)
    if cuts and formats.cut is not None:
        # Where factors may be cut, results may lose a few roundoffs of that precision, which the
        # next one below is: the one after that is tried.
        cuts = [BELOW[cuts[0]]] if cuts[0] in BELOW else []
    for cut in cuts:
        yield make(name=f"results in {cut.name}", write=_results(cut))
    narrower = NARROWER.get(formats.accumulator, [])
    for sums in narrower if seen.sums or seen.additions else ():
        # The error of sums as precise as factors may be cut to is within what that may cost.
        if formats.cut is not None and sums.bits >= formats.cut.bits:
            continue
        accumulator = Accumulator(sums, step=STEP)
        machine = on_machine(ArithmeticModel(accumulator=accumulator, additions=not seen.sums))
        yield make(
            name=f"sums in {sums.name}",
            write=answer(machine),
            remedy=TOLERANCE + "; or sums are too short: raise the ranges",
            both=False,
            stepwise=True,
            excuse=_FINER if sums.bits > formats.storage.bits else "",
        )


def _cuts(dtype: str, formats: RequiredFormats) -> list[Format]:
    """Precisions below what the tolerance allows inputs to be cut to."""
    if not DTYPES[dtype].roundoff:
        return []
    below = BELOW[formats.cut or component(dtype)]
    return [below, BFLOAT16] if below.bits > BFLOAT16.bits else [below]


def _inputs_cut(to: Format) -> Compute:
    return lambda trial, call: trial.evaluate(
        call, inputs={name: _cut(x, to) for name, x in trial.inputs[call].items()}
    )


def _results(to: Format) -> Writer:
    return each_output(lambda view, right: view.copy_(_cut(right, to)))


def _cut(x: Tensor, to: Format) -> Tensor:
    wide = torch.complex128 if x.is_complex() else torch.float64
    return rounded(x.to(wide), to) if inexact(x) else x
