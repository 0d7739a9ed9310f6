"""A loaded submission, whatever its language, and what programs on a GPU share."""

import contextlib
from collections.abc import Callable
from typing import Protocol

from harness.runner.driver import PER_THREAD_STREAM, CudaError, Driver
from harness.runner.memory import ImportedArena
from harness.wire.arguments import Construct, ListedWeight
from harness.wire.messages import FaultCode, Prepare


class ProgramFailed(Exception):
    """A fault of the submission that the runner noticed itself; reported, never believed."""

    def __init__(self, fault: FaultCode, message: str) -> None:
        self.fault = fault
        self.message = message
        super().__init__(message)


class LoadedProgram(Protocol):
    """A loaded submission bound to a batch of calls; the methods with a body are inherited."""

    def bind(self, batch: Prepare, arena: ImportedArena) -> None:
        """Make the arguments of every call; nothing is executed."""

    def weights(self, construct: Construct) -> tuple[ListedWeight, ...]:  # noqa: ARG002
        """What the module that ``construct`` makes holds; none where the solution is no class."""
        return ()

    def call(self, index: int) -> None:
        """Call the solution with the arguments of one call; may return before the work is done."""

    def warm_up(self, index: int, before: Callable[[], None]) -> None:
        """Make a call, or several, before the inputs that count exist; ``before`` each of them."""
        before()
        self.call(index)

    def capture(self) -> bool:
        """Record all calls into one graph; false where that cannot be done."""
        return False

    def upload(self) -> None:
        """Make what was captured ready to run; nothing runs."""
        raise AssertionError("nothing was captured")

    def replay(self) -> None:
        """Run what was captured."""
        raise AssertionError("nothing was captured")

    def recorded(self) -> int | None:
        """Count the kernels of what was captured; None if unknown."""
        return None

    def launched(self) -> int | None:
        """Count the kernels that calls have launched so far; None if unknown."""
        return None

    def copied(self) -> int | None:
        """Count the outputs that each call copied into place; None where none is returned."""
        return None

    def returned(self) -> str | None:
        """What a call returned in vain: its entry point fills its outputs; None for nothing."""
        return None

    def tidy(self) -> None:
        """Give memory back that is kept for later calls; all work is done."""
        return

    def synchronize(self) -> None:
        """Wait for all work, on all streams; whatever failed in it is raised here."""


class GraphProgram(LoadedProgram):
    """Base of programs whose calls, on the per-thread default stream, can become a CUDA graph."""

    def __init__(self, driver: Driver | None) -> None:
        self._driver = driver  # None on a CPU, where nothing is ever captured
        self._calls = 0
        self._graph = 0
        self._kernels: int | None = None

    def begin(self, calls: int) -> None:
        """Forget the graph of an earlier batch; the next has ``calls`` calls."""
        self._calls = calls
        if self._graph:
            self.cuda.destroy_graph(self._graph)
            self._graph = 0

    @property
    def cuda(self) -> Driver:
        """The driver of the GPU that the program runs on."""
        assert self._driver is not None, "there are no graphs on a CPU"
        return self._driver

    def capture(self) -> bool:
        """Record all calls; false if something forbids it."""
        try:
            self.cuda.begin_capture(PER_THREAD_STREAM)
            for index in range(self._calls):
                self.call(index)
            captured = self.cuda.end_capture(PER_THREAD_STREAM)
            if captured is not None:
                self._graph, self._kernels = captured
        except CudaError:
            with contextlib.suppress(CudaError):
                self.cuda.abandon_capture(PER_THREAD_STREAM)
        return self._graph != 0

    def upload(self) -> None:
        """Send the recorded graph to the device, so that its first launch takes no longer."""
        self.cuda.upload(self._graph, PER_THREAD_STREAM)

    def replay(self) -> None:
        """Launch the recorded graph: by the driver, so that it costs the same in all languages."""
        self.cuda.launch(self._graph, PER_THREAD_STREAM)

    def recorded(self) -> int | None:
        """Count the kernels in the graph; None where there is none, or that is unknown."""
        return self._kernels if self._graph else None

    def synchronize(self) -> None:
        """Wait for the device; what a kernel did wrong is reported here."""
        if self._driver is not None:
            self._driver.synchronize()
