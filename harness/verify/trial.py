"""One case of a grade, with all that impostors and variants need to make their answers."""

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field

import torch
from torch import Tensor

from harness.judge.batch import Batch
from harness.judge.task import Task
from harness.problem.case import Case
from harness.problem.gradable import Expectation
from harness.problem.model import Problem
from harness.problem.reference import Reference
from harness.problem.sampling.footprint import CALLS
from harness.verify.arithmetic.model import Arithmetic, ArithmeticModel

Answers = dict[str, Tensor]
"""The outputs of one call: name → tensor, in the output's type."""

_SAME_SIZE = {torch.uint16: torch.int16, torch.uint32: torch.int32, torch.uint64: torch.int64}


@dataclass(frozen=True, slots=True)
class PackageTask(Task):
    """A task on a package: impostors and variants need its declaration and its reference's code."""

    problem: Problem
    reference: Reference


@dataclass(slots=True)
class TrialMemory:
    """Answers that impostors which remember have seen so far in a grade."""

    answers: dict[tuple[tuple[int, ...], ...], list[Answers]] = field(default_factory=dict)
    """Shapes of all outputs → right answers of the calls of the last case that had them."""
    means: dict[str, float] = field(default_factory=dict)
    """Output → mean of the first case's."""


@dataclass(slots=True)
class Trial:
    """One case of a grade, laid out in a batch; the lists have an entry per call."""

    task: PackageTask
    case: Case
    number: int
    """Which case of the grade, from 0."""
    batch: Batch
    memory: TrialMemory
    """What was seen in the cases before it."""
    inputs: list[dict[str, Tensor]] = field(default_factory=list)
    """What the call reads, dense, in its own types."""
    expected: list[Mapping[str, Expectation]] = field(default_factory=list)
    """What the reference expects of it."""
    right: list[Answers] = field(default_factory=list)
    """The same, rounded to the outputs' types."""

    def prepare(self) -> None:
        """Draw the inputs and evaluate the reference for all calls.

        Raises:
            ProblemError: the reference is wrong.
        """
        self.batch.fill(self.task.seed)
        for call in range(CALLS):
            self.inputs.append(self.batch.inputs(call))
            self.expected.append(self.batch.expectations(call))
            answers = {name: e.expected for name, e in self.expected[call].items()}
            self.right.append(self.stored(answers))

    def stored(self, values: Mapping[str, Tensor]) -> Answers:
        """Round outputs in float64 (int64, complex128) to their own types."""
        problem, dtype = self.task.problem, self.task.dtype
        return {
            p.name: _as(values[p.name], getattr(torch, p.data_type(dtype).name))
            for p in problem.outputs
        }

    def evaluate(
        self,
        call: int,
        *,
        case: Case | None = None,
        inputs: Mapping[str, Tensor] | None = None,
        machine: ArithmeticModel | None = None,
    ) -> Answers:
        """Evaluate the reference for one call, with other arguments or on another machine.

        Raises:
            ProblemError: it cannot be evaluated so.
        """
        return self.stored(self.computed(call, case=case, inputs=inputs, machine=machine))

    def computed(
        self,
        call: int,
        *,
        case: Case | None = None,
        inputs: Mapping[str, Tensor] | None = None,
        machine: ArithmeticModel | None = None,
    ) -> dict[str, Tensor]:
        """Evaluate likewise, without storing: in float64 (int64, complex128)."""
        arguments = (case or self.case, inputs or self.inputs[call])
        with Arithmetic(machine) if machine is not None else nullcontext():
            return self.task.reference.expected(*arguments)

    def remember(self) -> None:
        """Add this case to what impostors of later ones remember."""
        self.memory.answers[self.shapes] = self.right
        for name, answer in self.right[0].items():
            self.memory.means.setdefault(name, mean(answer))

    @property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """Shapes of all outputs."""
        return tuple(tuple(x.shape) for x in self.right[0].values())

    def is_right(self, call: int, answers: Mapping[str, Tensor]) -> bool:
        """Whether ``answers`` are the right ones of a call, bit for bit but for the zeros' sign."""
        return all(equal(answers[name], right) for name, right in self.right[call].items())


def _as(x: Tensor, kind: torch.dtype) -> Tensor:
    if x.is_complex() and not kind.is_complex:
        x = x.real
    return x.to(kind)


def mean(x: Tensor) -> float:
    """The mean of the finite elements of any tensor; 0 where there are none."""
    if x.is_complex():
        x = torch.view_as_real(x)
    numbers = x.to(torch.float64)
    numbers = numbers[numbers.isfinite()]
    return float(numbers.mean().item()) if numbers.numel() else 0.0


def equal(a: Tensor, b: Tensor) -> bool:
    """Whether two tensors of one type hold the same, NaN for NaN; +0 and −0 are the same."""
    if a.dtype is torch.bool:
        a, b = a.view(torch.uint8), b.view(torch.uint8)
    elif a.dtype in _SAME_SIZE:
        a, b = a.view(_SAME_SIZE[a.dtype]), b.view(_SAME_SIZE[b.dtype])
    if torch.equal(a, b):
        return True
    if not (a.is_floating_point() or a.is_complex()):
        return False
    return bool(((a == b) | (a.isnan() & b.isnan())).all())


def write(views: Mapping[str, Tensor], answers: Mapping[str, Tensor]) -> None:
    """Write answers into the outputs, as a submission would."""
    for name, answer in answers.items():
        views[name].copy_(answer)
