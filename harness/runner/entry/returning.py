"""What all entry points have in common, and those that return their outputs."""

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING

from harness.runner.entry.outputs import Arguments, Outputs
from harness.runner.program import ProgramFailed
from harness.wire.arguments import Construct, ListedWeight, Parameters
from harness.wire.messages import FaultCode

if TYPE_CHECKING:
    from harness.runner.entry.output_placement import Placement

Entry = Callable[..., object]
Bound = tuple[Callable[[], object], Outputs]
"""One call, and where the tensors that it returns belong."""


def misfit(message: str) -> ProgramFailed:
    """The failure of a file that does not have what is called, or cannot be called so."""
    return ProgramFailed(FaultCode.NO_ENTRY, message)


def found_in(module: ModuleType, name: str) -> Entry:
    """What ``module`` calls ``name``.

    Raises:
        ProgramFailed: it has no such thing.
    """
    found = getattr(module, name, None)
    if not callable(found):
        kind = "class" if name == "ModelNew" else "function"
        raise misfit(f"the file defines no {kind} `{name}(...)`")
    return found  # type: ignore[no-any-return]


def _nothing() -> None:
    """What is done before calls where nothing has to be."""


class Caller:
    """Base of entry points, ready to be called."""

    copied: int | None = None
    """Outputs that the last call copied; None where none is returned."""
    ignored: str | None = None
    """What a call has returned although what is returned is ignored; None for nothing."""

    @property
    def placing(self) -> bool:
        """Whether outputs are made in their place; false once that turns out to be wrong."""
        return False

    def bind(self, calls: Sequence[Arguments], construct: Construct | None = None) -> None:
        """Prepare calls with these arguments, which have the same sizes and scalars.

        ``construct``: what a class is made with, where that does not follow from them.
        """
        raise NotImplementedError

    def weights(self, construct: Construct) -> tuple[ListedWeight, ...]:  # noqa: ARG002
        """What an object of its class is made with; none where it is a function."""
        return ()

    def warm_up(self, index: int, before: Callable[[], None] = _nothing) -> None:
        """Call it, before anything counts, as often as placing outputs takes; ``before`` each."""
        before()
        self.call(index)

    def call(self, index: int) -> None:
        """Call it with the arguments of one call."""
        raise NotImplementedError


class Returning(Caller):
    """Base of entry points that return their outputs; nothing has a gradient."""

    def __init__(self, entry: Entry, parameters: Parameters) -> None:
        self._entry = entry
        self._parameters = parameters
        self._calls: list[Bound] = []
        self._placement: Placement | None = None
        self._construct: Construct | None = None

    @property
    def placing(self) -> bool:
        """Whether it has been seen how they can be."""
        return self._placement is not None and self._placement.active

    def bind(self, calls: Sequence[Arguments], construct: Construct | None = None) -> None:
        """Prepare calls, and where what they return belongs."""
        if self._placement is not None:
            self._placement.forget()
        self._construct = construct
        self._calls = self._bound(calls)

    def _bound(self, calls: Sequence[Arguments]) -> list[Bound]:
        raise NotImplementedError

    def warm_up(self, index: int, before: Callable[[], None] = _nothing) -> None:
        """Call it, and see in further calls where its outputs are made."""
        before()
        self.call(index)  # may compile, tune, and make what it keeps
        import torch

        from harness.runner.entry.torch_private import PLACE_OUTPUTS

        if not PLACE_OUTPUTS:
            return
        if self._placement is None:
            from harness.runner.entry.output_placement import Placement

            self._placement = Placement()
        make, outputs = self._calls[index]

        def renewed() -> object:
            before()
            return make()

        with torch.no_grad():
            self._placement.learn(renewed, outputs)

    def call(self, index: int) -> None:
        """Call it; what it returns lies in its place then."""
        import torch

        make, outputs = self._calls[index]
        with torch.no_grad():
            if self._placement is None:
                self.copied = outputs.take(make())
            else:
                self.copied = self._placement.run(make, outputs)
