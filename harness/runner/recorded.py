"""Calls on the per-thread default stream, recorded into one CUDA graph and launched as one."""

import contextlib
from collections.abc import Callable

from harness.runner.driver import PER_THREAD_STREAM, CudaError, Driver


class Recorded:
    """At most one recorded graph, and how many kernels its launches have run."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._graph = 0
        self._kernels: int | None = None
        self._launched = 0

    def record(self, calls: Callable[[], None]) -> bool:
        """Record what ``calls`` enqueues; false if something forbids it."""
        try:
            self._driver.begin_capture(PER_THREAD_STREAM)
            calls()
            captured = self._driver.end_capture(PER_THREAD_STREAM)
            if captured is not None:
                self._graph, self._kernels = captured
        except CudaError:
            with contextlib.suppress(CudaError):
                self._driver.abandon_capture(PER_THREAD_STREAM)
        return self._graph != 0

    def forget(self) -> None:
        """Free the graph of an earlier batch, if there is one."""
        if self._graph:
            self._driver.destroy_graph(self._graph)
            self._graph = 0

    def replay(self) -> None:
        """Launch the graph."""
        self._driver.launch(self._graph, PER_THREAD_STREAM)
        self._launched += self._kernels or 0

    def launched(self) -> int | None:
        """Kernels of all replays so far; plain calls are not counted."""
        return self._launched if self._graph and self._kernels is not None else None
