"""What a run of a session needs: a batch, and options."""

from dataclasses import dataclass
from typing import Protocol

from harness.problem.case import Case
from harness.problem.terms import Construction
from harness.wire.arguments import Argument, Construct


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options of a batch."""

    warmups: int = 0
    """Calls before the batch counts."""
    capture: bool = False
    """Whether the calls are recorded into one CUDA graph."""
    order: int = 0
    """The order in which the CPU executor runs threads."""
    order_seed: int = 0
    """Seed of that order."""
    tidy: bool = False
    """Whether memory that is kept for later calls is given back after each."""


class _Layout(Protocol):
    @property
    def calls(self) -> int: ...


class Fillable(Protocol):
    """A batch as a run sees it; mostly the one that was prepared."""

    @property
    def layout(self) -> _Layout:
        """Where its calls are."""

    def fill(self, seed: str) -> None:
        """Draw all inputs anew, and make the outputs what they are before a call."""

    def take_receipt(self) -> None:
        """Note what the outputs are just now; returns at once."""


class Bindable(Fillable, Protocol):
    """A batch as :meth:`Session.prepare` sees it."""

    @property
    def case(self) -> Case:
        """Its sizes and scalars."""

    @property
    def construction(self) -> Construction | None:
        """What a submission's class is made with, where there is one."""

    def arguments(self) -> tuple[Argument, ...]:
        """Those of the calls, in the order of the call."""


def construct(given: Construction) -> Construct:
    """What a runner is told of it."""
    return Construct(
        arguments=given.arguments,
        seed=given.seed,
        call=given.call,
        weights=given.weights,
        constants=given.constants,
    )
