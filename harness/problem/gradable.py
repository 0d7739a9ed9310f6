"""Protocols that a problem meets for the judge: the seam between problem formats and the judge.

A format brings three objects, and the judge knows nothing else of it:

- :class:`Gradable`: facts and cases. Made without importing torch.
- :class:`InputSource`: the contents of input tensors, from a seed.
- :class:`AnswerKey`: the right outputs of a call, and how far off they may be.

For a correctness case, ``draw_cases`` (or ``parse_case``, for a replay) gives a
:class:`~harness.problem.case.Case`, and ``tensors_of`` the layout of its tensors. The judge places
buffers for some calls in an arena, has every input written by ``InputSource.write``, poisons the
outputs and runs the submission; ``AnswerKey.expectations`` then gives, from the inputs as they were
before the call, what each output must hold. Timed cases use ``InputSource.fill`` instead, for some
calls with the case's own values at a time, and once for each call with those of another family.
Both are asked for the same inputs again where a call overwrites them, or to tell what was changed:
with the same arguments, and an ``out`` of the same shape and strides, they must give the same bits.

Packages meet this with :class:`~harness.problem.package.Problem`,
:class:`~harness.problem.sampling.inputs.DeclaredInputs` and
:class:`~harness.problem.reference.Reference`. A format whose cases are concrete tensors gives each
case a ``label`` and looks up its tensors by it, as in tests/support/concrete_problem.py.

What draws, fills or evaluates raises ``ProblemError`` for a mistake of the problem's author.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pathlib import Path

    from torch import Tensor

    from harness.problem.case import Case, CaseLimits
    from harness.problem.model import Declaration
    from harness.problem.terms import (
        CallCost,
        Construction,
        Expectation,
        FormalParameter,
        Limits,
        TensorSpec,
    )


class InputSource(Protocol):
    """Draws input tensors: all from the seed, none to be guessed from another's values.

    Tensors that are drawn ``together`` (a field of their ``TensorSpec``) are never filled: ``draw``
    is asked for each of them, in timed batches, too, and all of one call come of one drawing.
    (Those of packages :mod:`~harness.problem.sampling.drawn_on_device` draws where calls run.)
    """

    def draw(self, tensor: TensorSpec, case: Case, seed: str) -> Tensor:
        """One tensor of one call of a correctness case: ``tensor.shape``, on the CPU.

        The same on every machine and each time, so that spec and seed replay a failure anywhere.
        """

    def write(self, out: Tensor, tensor: TensorSpec, case: Case, seed: str) -> None:
        """Write what :meth:`draw` returns to ``out``, of its shape on any device."""

    def fill(
        self, out: Tensor, tensor: TensorSpec, case: Case, seed: str, *, warm_up: bool
    ) -> None:
        """Fill ``out`` (calls, ...), a strided view on any device, with new values for each call.

        For timed batches, some calls at a time: quick, on the device of ``out``, not the same on
        all machines, but the same each time on one. The results of a ``warm_up`` are not checked:
        any values of the declared kind will do.
        """


class AnswerKey(Protocol):
    """The right outputs of a call, and how far off they may be."""

    @property
    def capturable(self) -> bool:
        """Whether ``expectations``, and their checks, may be recorded into a CUDA graph.

        Torch operations alone may; one that waits for the device is noticed.
        """

    def expectations(
        self, case: Case, dtype: str, inputs: Mapping[str, Tensor], *, summed: bool = True
    ) -> Mapping[str, Expectation]:
        """Expectations of every output, by name, on the device of ``inputs``.

        ``inputs`` holds every tensor that is read, dense, in its own type, as it was before the
        call; they must not be written to. Without ``summed`` the allowance may be smaller than
        it should be, never larger, where that is cheaper: what passes is right. An expectation with
        a ``check`` of its own may need ``inputs`` later on, and keeps them.
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
    def format(self) -> str:
        """The foreign format that it is in; empty for a package."""

    @property
    def entry(self) -> str:
        """The entry point that its format asks for; empty where any will do.

        Of several functions that are one, their names, with a comma and a space between.
        """

    @property
    def named(self) -> str:
        """What ``--problem`` takes for it."""

    def unfit(self, *, emulated: bool) -> str:
        """Why it cannot be graded on this machine, whatever is submitted; empty if it can."""

    def claims(self, *, emulated: bool) -> tuple[str, ...]:
        """What a result says less of than one of a package does: ``shapes: fixed``."""

    @property
    def dtypes(self) -> tuple[str, ...]:
        """Data types that it is graded in, by torch's name; the first is the default."""

    @property
    def parameters(self) -> Sequence[FormalParameter]:
        """The entry point's parameters, in the order of the call."""

    @property
    def libraries(self) -> tuple[str, ...] | None:
        """The CUDA libraries that a CUDA C++ file may use; None for any."""

    @property
    def limits(self) -> Limits:
        """Seconds and bytes that a submission may use."""

    @property
    def baselines(self) -> Mapping[str, Path]:
        """Name → solution file; scores are relative to the first."""

    @property
    def declared(self) -> Declaration | None:
        """What shrinking and ``harness verify`` vary: declared sizes; None for concrete cases."""

    def draw_cases(self, seed: str, *, dtype: str, room: CaseLimits) -> list[Case]:
        """The correctness cases of one grade, cheapest first; at least one."""

    def timed_cases(self, *, emulated: bool) -> list[Case]:
        """The cases that are timed: on a GPU, or small ones where kernels are ``emulated``."""

    def timed_families(self, dtype: str) -> Sequence[str]:
        """The families of values that some calls of a timed batch take beside the case's own.

        None where values are not drawn by family, or the cost of a call depends on them.
        """

    def parse_case(self, spec: str) -> Case:
        """The case that ``spec`` came from; a ``UsageError`` says why there is none."""

    def tensors_of(self, case: Case, dtype: str) -> tuple[TensorSpec, ...]:
        """The tensors of one call, in the order of ``parameters``."""

    def construction(self, case: Case) -> Construction | None:
        """What a submission's class is made with; None: its constructor asks for sizes by name."""

    def work(self, case: Case, dtype: str) -> CallCost:
        """Operations and bytes of one call."""

    def inputs(self) -> InputSource:
        """Its source of tensor contents."""

    def reference(self) -> AnswerKey:
        """Its answers; loads the author's code, so once is enough."""
