"""Programs on a GPU whose calls can be recorded into one CUDA graph and launched as one."""

import contextlib

from harness.runner.driver import PER_THREAD_STREAM, CudaError, Driver
from harness.runner.program import LoadedProgram


class GraphProgram(LoadedProgram):
    """What such programs share: at most one graph, of calls on the per-thread default stream."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._calls = 0
        self._graph = 0
        self._kernels: int | None = None
        self._launched = 0

    def begin(self, calls: int) -> None:
        """Forget the graph of an earlier batch; the next has ``calls`` calls."""
        self._calls = calls
        if self._graph:
            self._driver.destroy_graph(self._graph)
            self._graph = 0

    def capture(self) -> bool:
        """Record all calls; false if something forbids it."""
        try:
            self._driver.begin_capture(PER_THREAD_STREAM)
            for index in range(self._calls):
                self.call(index)
            captured = self._driver.end_capture(PER_THREAD_STREAM)
            if captured is not None:
                self._graph, self._kernels = captured
        except CudaError:
            with contextlib.suppress(CudaError):
                self._driver.abandon_capture(PER_THREAD_STREAM)
        return self._graph != 0

    def replay(self) -> None:
        """Launch the recorded graph."""
        self._driver.launch(self._graph, PER_THREAD_STREAM)
        self._launched += self._kernels or 0

    def launched(self) -> int | None:
        """Kernels of all replays so far; plain calls are not counted."""
        return self._launched if self._graph and self._kernels is not None else None
