"""Protocols that a problem meets for the judge: the seam between problem formats and the judge.

A format brings three objects, and the judge knows nothing else of it:

- :class:`Gradable`: facts and cases. Made without importing torch.
- :class:`InputSource`: the contents of input tensors, from a seed.
- :class:`AnswerKey`: the right outputs of a call, and how far off they may be.

For a correctness case, ``draw_cases`` (or ``parse_case``, for a replay) gives a
:class:`~harness.problem.case.Case`, and ``tensors_of`` the layout of its tensors. The judge places
buffers for some calls in an arena, fills every input with ``InputSource.draw``, poisons the outputs
and runs the submission; ``AnswerKey.expectations`` then gives, from the judge's own copy of the
inputs, what each output must hold. Timed cases use ``InputSource.fill`` instead.

Packages meet this with :class:`~harness.problem.model.Problem`,
:class:`~harness.problem.sampling.inputs.DeclaredInputs` and
:class:`~harness.problem.reference.Reference`. A format whose cases are concrete tensors gives each
case a ``label`` and looks up its tensors by it, as in tests/support/concrete_problem.py.

What draws, fills or evaluates raises ``ProblemError`` for a mistake of the problem's author.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pathlib import Path

    from torch import Tensor

    from harness.problem.case import Case
    from harness.problem.model import Problem
    from harness.problem.sampling.cases import CaseLimits

DEFAULT_ALIGNMENT = 256
"""Bytes; what CUDA's own allocator promises."""


class Direction(StrEnum):
    """Which way a tensor's contents go, seen from the submission."""

    IN = "in"
    OUT = "out"
    INOUT = "inout"


class Role(StrEnum):
    """Use of a parameter: pointers are tensors, integers sizes, other numbers scalars."""

    TENSOR = "tensor"
    SIZE = "size"
    SCALAR = "scalar"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds of what a submission may use: wall times in seconds, and host memory.

    ``prepare_s`` covers loading it and the calls that warm it up.
    """

    build_s: float = 120.0
    prepare_s: float = 60.0
    call_s: float = 10.0
    host_bytes: int = 4 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorSpec:
    """One tensor argument of a case, all of it known."""

    name: str
    """The parameter's name."""
    dtype: str
    """Element type, by torch's name: ``float32``; one of :data:`~harness.problem.dtypes.DTYPES`."""
    shape: tuple[int, ...]
    """Elements along each dimension, row-major; empty for a single element."""
    strides: tuple[int, ...]
    """Elements from one index to the next of each dimension; no two elements overlap."""
    direction: Direction
    """Whether the submission reads it, writes it, or both."""
    alignment: int = DEFAULT_ALIGNMENT
    """Bytes that the address is promised to be a multiple of."""

    @property
    def span(self) -> int:
        """Elements from the first to the last, gaps included: what a buffer must hold."""
        return 1 + sum((n - 1) * s for n, s in zip(self.shape, self.strides, strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class CallCost:
    """Least work of one call of a case, from which the speed of light (SOL) follows.

    Floating-point operations, and bytes read and written; None where the problem does not say.
    ``tf32``: float32 factors may be cut to TF32, which matrix units multiply faster.
    """

    flops: float | None = None
    bytes: float | None = None
    tf32: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """The right values of one output, and how far off each may be."""

    expected: Tensor
    """float64 (integers int64 or bool, complex complex128), the output's shape; NaN or infinite
    where NaN or infinity in the inputs reaches."""
    allowed: Tensor
    """float64, same shape and device: the largest |got − expected| that is right. 0 for integers.
    Of no use where ``expected`` is not finite."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FormalParameter:
    """One parameter of the entry point, as a signature shows it."""

    name: str
    """An identifier in C and Python."""
    type: str
    """C type of an element or of the value; ``[VAR]`` for the data type of the grade."""
    role: Role
    direction: Direction | None = None
    """Which way a tensor's contents go; None for numbers."""


class InputSource(Protocol):
    """Draws input tensors: all from the seed, none to be guessed from another's values."""

    def draw(self, tensor: TensorSpec, case: Case, seed: str) -> Tensor:
        """One tensor of one call of a correctness case: ``tensor.shape``, on the CPU.

        The same on every machine, so that spec and seed replay a failure anywhere.
        """

    def fill(
        self, out: Tensor, tensor: TensorSpec, case: Case, seed: str, *, warm_up: bool
    ) -> None:
        """Fill ``out`` (calls, ...), a strided view on any device, with new values for each call.

        For timed batches: quick, on the device of ``out``, not the same on all machines. The
        results of a ``warm_up`` are not checked: any values of the declared kind will do.
        """


class AnswerKey(Protocol):
    """The right outputs of a call, and how far off they may be."""

    @property
    def capturable(self) -> bool:
        """Whether ``expectations`` may be recorded into a CUDA graph: torch operations alone."""

    def expectations(
        self, case: Case, dtype: str, inputs: Mapping[str, Tensor], *, summed: bool = True
    ) -> Mapping[str, Expectation]:
        """Expectations of every output, by name, on the device of ``inputs``.

        ``inputs`` holds every tensor that is read, dense, in its own type, as it was before the
        call; they must not be written to. Without ``summed`` the allowance may be smaller than
        it should be, never larger, where that is cheaper: what passes is right.
        """


class Gradable(Protocol):
    """One problem as the judge sees it. No member needs torch but ``inputs`` and ``reference``."""

    @property
    def slug(self) -> str:
        """Its name in paths, commands and results: a-z, 0-9, - and _."""

    @property
    def title(self) -> str:
        """Its name for people, one line."""

    @property
    def hash(self) -> str:
        """SHA-256 (hex) of all that decides what a score means; boards compare equal ones only."""

    @property
    def dtypes(self) -> tuple[str, ...]:
        """Data types that it is graded in, by torch's name; the first is the default."""

    @property
    def parameters(self) -> Sequence[FormalParameter]:
        """The entry point's parameters, in the order of the call."""

    @property
    def limits(self) -> Limits:
        """Seconds and bytes that a submission may use."""

    @property
    def baselines(self) -> Mapping[str, Path]:
        """Name → solution file; scores are relative to the first."""

    @property
    def declared(self) -> Problem | None:
        """What shrinking and ``harness verify`` vary: declared sizes; None for concrete cases."""

    def draw_cases(self, seed: str, *, dtype: str, room: CaseLimits) -> list[Case]:
        """The correctness cases of one grade, cheapest first; at least one."""

    def timed_cases(self, *, emulated: bool) -> list[Case]:
        """The cases that are timed: on a GPU, or small ones where kernels are ``emulated``."""

    def parse_case(self, spec: str) -> Case:
        """The case that ``spec`` came from; a ``UsageError`` says why there is none."""

    def tensors_of(self, case: Case, dtype: str) -> tuple[TensorSpec, ...]:
        """The tensors of one call, in the order of ``parameters``."""

    def work(self, case: Case, dtype: str) -> CallCost:
        """Operations and bytes of one call."""

    def inputs(self) -> InputSource:
        """Its source of tensor contents."""

    def reference(self) -> AnswerKey:
        """Its answers; loads the author's code, so once is enough."""
