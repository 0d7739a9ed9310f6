"""The record of an impostor, and how its answers are made and written."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from torch import Tensor

from harness.verify.trial import Answers, Trial, write
from harness.verify.variants import Compute

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


TOLERANCE = "the tolerance is too wide: constant, factor, roundings or the magnitude"
"""What an author should change who accepts what is not exact enough."""


def answer(compute: Compute) -> Writer:
    """Write what ``compute`` gives for a call."""
    return lambda trial, call, views: write(views, compute(trial, call))


def each_output(how: Callable[[Tensor, Tensor], object]) -> Writer:
    """Treat each output by itself: ``how`` gets its view and the right answer."""

    def run(trial: Trial, call: int, views: Mapping[str, Tensor]) -> None:
        for name, view in views.items():
            how(view, trial.right[call][name])

    return run


def replaced(name: str, how: Callable[[Tensor], Tensor]) -> Writer:
    """The answer for another input."""

    def compute(trial: Trial, call: int) -> Answers:
        inputs = trial.inputs[call]
        return trial.evaluate(call, inputs={**inputs, name: how(inputs[name])})

    return answer(compute)
