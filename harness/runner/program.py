"""What the runner needs from a loaded submission, whatever its language."""

from dataclasses import dataclass
from typing import Any, Protocol

from harness.runner.memory import ImportedArena
from harness.wire import FaultCode


class Failed(Exception):
    """A fault of the submission that the runner noticed itself; reported, never believed."""

    def __init__(self, fault: FaultCode, message: str) -> None:
        self.fault = fault
        self.message = message
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class BoundCalls:
    """``calls`` calls of the solution over one arena.

    ``arguments`` has one entry per parameter: a tensor as ``{base, stride, bytes, shape, strides,
    dtype}`` (call i starts at byte ``base + i * stride`` of the arena; ``strides`` are in elements,
    gaps between rows belong to nobody) or a scalar as ``{value, ctype}``. ``launches`` are those of
    each call where the submission has no code to launch them: ``{kernel, grid, block, shared,
    arguments}``, arguments by their index.
    """

    calls: int
    arguments: list[dict[str, Any]]
    order: int
    seed: int
    launches: list[dict[str, Any]]


class LoadedProgram(Protocol):
    """A loaded submission bound to a batch of calls.

    What has a body here is for programs that inherit it.
    """

    def bind(self, batch: BoundCalls, arena: ImportedArena) -> None:
        """Make the arguments of every call; nothing is executed."""

    def call(self, index: int) -> None:
        """Call the solution with the arguments of one call; may return before the work is done."""

    def warm_up(self, index: int) -> None:
        """Make a call, or several, before the inputs that count exist."""
        self.call(index)

    def capture(self) -> bool:
        """Record all calls into one graph; false where that cannot be done."""

    def replay(self) -> None:
        """Run what was captured."""

    def launched(self) -> int | None:
        """Kernels launched so far, counted since some moment before the batch; None if unknown."""

    def copied(self) -> int | None:
        """Outputs that were copied into place in each call; None where none is returned."""
        return None

    def synchronize(self) -> None:
        """Wait for all work, on all streams. Raises :class:`Failed` if some of it failed."""
