"""One case of a grade, with all that impostors and variants need to make their answers."""

import math
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import InitVar, dataclass, field

import torch
from torch import Tensor

from harness.device.base import Arena
from harness.judge.batch import Batch
from harness.judge.task import Task
from harness.problem.case import Case
from harness.problem.package import Problem
from harness.problem.reference import Reference
from harness.problem.sampling.footprint import CALLS
from harness.problem.terms import Expectation
from harness.verify.arithmetic.model import Arithmetic, ArithmeticModel

LITTLE = 1e6
"""Operations up to which a machine is imitated on the processor: thousands of steps, in each of
which a GPU would have microseconds of launching and nanoseconds of work."""

Answers = dict[str, Tensor]
"""The outputs of one call: name → tensor, in the output's type."""


@dataclass(frozen=True, slots=True)
class PackageTask(Task):
    """A task on a package: impostors and variants need its declaration and its reference's code."""

    problem: Problem
    reference: Reference


@dataclass(slots=True)
class TrialMemory:
    """Answers of a grade so far, for impostors that remember."""

    answers: dict[tuple[tuple[int, ...], ...], list[Answers]] = field(default_factory=dict)
    """Shapes of all outputs → right answers of the calls of the last case that had them."""
    means: dict[str, float] = field(default_factory=dict)
    """Output → mean of the first case's."""


@dataclass(slots=True)
class Trial:
    """One case of a grade, laid out in a batch and evaluated; the lists have an entry per call.

    Raises:
        ProblemError: on making one, the reference is wrong.
    """

    task: PackageTask
    case: Case
    number: int
    """Which case of the grade, from 0."""
    arena: InitVar[Arena]
    memory: TrialMemory
    """Of the cases before it."""
    timed: bool = False
    """Whether its batch is one as times are taken of, not a correctness case's."""
    batch: Batch = field(init=False)
    inputs: list[dict[str, Tensor]] = field(init=False)
    """What the call reads, dense, in its own types."""
    expected: list[Mapping[str, Expectation]] = field(init=False)
    """The reference's expectations."""
    right: list[Answers] = field(init=False)
    """The same, rounded to the outputs' types."""
    _near: dict[int, dict[str, Tensor]] = field(default_factory=dict, init=False)
    """Inputs on the processor, by call."""

    def __post_init__(self, arena: Arena) -> None:
        # On a GPU drawn there: nobody replays these elsewhere, and the CPU takes ten times as long.
        portable = self.task.device.emulated and not self.timed
        self.batch = Batch(
            self.task, self.case, arena, calls=CALLS, portable=portable, alike=not self.timed
        )
        self.batch.fill(self.task.seed)
        self.inputs = [self.batch.filled(call) for call in range(CALLS)]
        self.expected = [
            self.batch.expectations(call, inputs) for call, inputs in enumerate(self.inputs)
        ]
        self.right = [
            self.stored({name: e.expected for name, e in outputs.items()})
            for outputs in self.expected
        ]

    def stored(self, values: Mapping[str, Tensor]) -> Answers:
        """Round outputs in float64 (int64, complex128) to their own types."""
        dtype = self.task.dtype
        return {
            p.name: as_type(values[p.name], getattr(torch, p.data_type(dtype).name))
            for p in self.task.problem.outputs
        }

    def evaluate(
        self,
        call: int,
        *,
        case: Case | None = None,
        inputs: Mapping[str, Tensor] | None = None,
        machine: ArithmeticModel | None = None,
        store: bool = True,
    ) -> Answers:
        """Evaluate the reference for one call, with other arguments or on another machine.

        With ``store`` outputs are rounded to their types, else in float64 (int64, complex128). A
        machine is imitated on the processor where that is little work.

        Raises:
            ProblemError: it cannot be evaluated so.
        """
        given = inputs or (self._at_hand(call) if machine else self.inputs[call])
        with Arithmetic(machine) if machine is not None else nullcontext():
            found = self.task.reference.expected(case or self.case, given)
        found = {name: x.to(self.task.device.torch_device) for name, x in found.items()}
        return self.stored(found) if store else found

    def _at_hand(self, call: int) -> dict[str, Tensor]:
        """A call's inputs, on the processor where a GPU would spend its time on launches."""
        cost = self.task.problem.work(self.case, self.task.dtype).flops
        if (cost or math.prod(self.case.sizes.values())) > LITTLE:
            return self.inputs[call]
        if call not in self._near:
            self._near[call] = {name: x.cpu() for name, x in self.inputs[call].items()}
        return self._near[call]

    def remember(self) -> None:
        """Add this case to the memory, for impostors of later ones."""
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


def inexact(x: Tensor) -> bool:
    """Whether the elements are floating-point numbers, real or complex."""
    return x.is_floating_point() or x.is_complex()


def as_type(x: Tensor, dtype: torch.dtype) -> Tensor:
    """``x`` in another type; of complex numbers the real part where the type is real."""
    return (x.real if x.is_complex() and not dtype.is_complex else x).to(dtype)


def mean(x: Tensor) -> float:
    """The mean of the finite elements of any tensor; 0 where there are none."""
    numbers = (torch.view_as_real(x) if x.is_complex() else x).to(torch.float64)
    numbers = numbers[numbers.isfinite()]
    return float(numbers.mean().item()) if numbers.numel() else 0.0


def same_bits(a: Tensor, b: Tensor) -> bool:
    """Whether two tensors have one type and shape, and hold the same bits."""
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    dense = (x.resolve_conj().clone(memory_format=torch.contiguous_format) for x in (a, b))
    return torch.equal(*(x.flatten().view(torch.uint8) for x in dense))


def equal(a: Tensor, b: Tensor) -> bool:
    """Whether two tensors of one type hold the same, NaN for NaN; +0 and −0 are the same."""
    if not inexact(a):
        return same_bits(a, b)
    return torch.equal(a, b) or bool(((a == b) | (a.isnan() & b.isnan())).all())


def write(views: Mapping[str, Tensor], answers: Mapping[str, Tensor]) -> None:
    """Write answers into the outputs, as a submission would."""
    for name, answer in answers.items():
        views[name].copy_(answer)
