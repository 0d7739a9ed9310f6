"""Check all calls of a batch with one wait for the device.

Checking a call takes some forty small kernels: the reference in float64, the magnitude of what was
summed, the allowance, the comparison. Where calls are short, launching them takes longer than they
do, and a batch has up to a thousand calls. So on a GPU they are captured once for each shape, into
a graph that works on buffers of the judge's own, and each call costs a few copies and one launch.

Where calls are long, the magnitude is up to half of the work. It only makes the allowance larger:
calls within what is allowed without it are right beyond doubt, too.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor

from harness.errors import ProblemError
from harness.judge.compare import CHUNK, all_surely_right, every_surely_right
from harness.judge.task import Task
from harness.problem.case import Case
from harness.problem.terms import Expectation

Tensors = Mapping[str, Tensor]
Each = Callable[[int], tuple[Tensors, Tensors]]
"""What one call read and wrote, by its number."""

_MIN_CAPTURED = 16
"""Calls of a batch from which on capturing a graph pays."""


class Checker:
    """Checks calls of one task.

    One that is ``reused`` by many batches tries, for each shape, the quick ways first: without the
    magnitude, and in a graph.
    """

    def __init__(self, task: Task, *, reused: bool = False) -> None:
        self._task = task
        self._reused = reused
        self._case: Case | None = None
        self._summed = True
        self._recorded: _GraphedCheck | None = None
        self._recordable = False
        self._expected: tuple[str, list[Mapping[str, Expectation]]] = ("", [])

    def expect(self, case: Case, inputs: Sequence[Tensors], seed: str) -> None:
        """Compute what is expected of the next calls, which read these ``inputs``; not waited for.

        The check of calls with the same ``seed`` then only compares.

        Raises:
            ProblemError: the reference is wrong.
        """
        reference, dtype = self._task.reference, self._task.dtype
        self._expected = seed, [reference.expectations(case, dtype, each) for each in inputs]

    def all_surely_right(self, case: Case, calls: int, each: Each, seed: str = "") -> bool:
        """Whether all ``calls`` are right beyond doubt; ``each`` gives what one read and wrote.

        ``seed`` is what their inputs were drawn from, if that is known.

        Where it is False, :func:`harness.judge.compare.compare` decides.

        Raises:
            ProblemError: the reference is wrong.
        """
        (seen, expected), self._expected = self._expected, ("", [])
        if expected and seen == seed:
            return self._as_expected(expected, each)
        if self._case != case:
            self._turn_to(case, summed=not self._reused)
        if self._all(case, calls, each):
            return True
        if self._summed:
            return False
        self._turn_to(case, summed=True)
        return self._all(case, calls, each)

    def _as_expected(self, expected: Sequence[Mapping[str, Expectation]], each: Each) -> bool:
        calls = ((each(call)[1], known) for call, known in enumerate(expected))
        return every_surely_right(calls, self._task.device.within)

    def _turn_to(self, case: Case, *, summed: bool) -> None:
        """Check ``case`` from now on, with the magnitude of what was ``summed`` or without."""
        self._case, self._summed = case, summed
        self._recorded = None  # frees its memory
        self._recordable = self._reused and self._task.device.captures_graphs

    def _all(self, case: Case, calls: int, each: Each) -> bool:
        # Stays on the device until the end: each bool() would wait for it.
        sure = torch.ones((), dtype=torch.bool, device=self._task.device.torch_device)
        for call in range(calls):
            inputs, outputs = each(call)
            if recorded := self._recorded_for(case, calls, inputs, outputs):
                sure &= recorded.surely_right(inputs, outputs)
            else:
                sure &= _surely_right(self._task, case, inputs, outputs, self._summed)
        return bool(sure)

    def _recorded_for(
        self, case: Case, calls: int, inputs: Tensors, outputs: Tensors
    ) -> "_GraphedCheck | None":
        """The graph for this shape, captured now if that pays; None to check without one."""
        if self._recorded is not None or not self._recordable or calls < _MIN_CAPTURED:
            return self._recorded
        if not self._task.reference.capturable:
            return None
        # Beyond a chunk the kernels take longer than their launches.
        if sum(tensor.numel() for tensor in (*inputs.values(), *outputs.values())) > CHUNK:
            return None
        try:
            self._recorded = _GraphedCheck(self._task, case, inputs, outputs, self._summed)
        except (RuntimeError, ProblemError):
            # A reference may wait for the device, which cannot be recorded. Other faults of it show
            # when it runs as it is.
            self._recordable = False
        return self._recorded


class _GraphedCheck:
    """The check of one shape as a CUDA graph; RuntimeError or ProblemError if it has none."""

    def __init__(
        self, task: Task, case: Case, inputs: Tensors, outputs: Tensors, summed: bool
    ) -> None:
        self._inputs = _copies(inputs)
        self._outputs = _copies(outputs)
        # Libraries make their plans and workspaces in their first call, which none may capture.
        with _no_waits():
            _surely_right(task, case, self._inputs, self._outputs, summed)
        torch.cuda.synchronize()
        self._graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self._graph, capture_error_mode="thread_local"):
            self._sure = _surely_right(task, case, self._inputs, self._outputs, summed)

    def surely_right(self, inputs: Tensors, outputs: Tensors) -> Tensor:
        """Replay the check on copies of these: a bool without dimensions, until the next call."""
        for own, given in ((self._inputs, inputs), (self._outputs, outputs)):
            for name, tensor in given.items():
                own[name].copy_(tensor)
        self._graph.replay()
        return self._sure


@contextmanager
def _no_waits() -> Iterator[None]:
    """What waits for the device in this block is a RuntimeError.

    A capture that fails would be one, too, but would leave torch in the middle of it: its allocator
    gives no memory back from then on, and its generator draws nothing (seen with torch 2.11).
    """
    before = torch.cuda.get_sync_debug_mode()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch calls this mode a prototype
            torch.cuda.set_sync_debug_mode("error")
        yield
    finally:
        torch.cuda.set_sync_debug_mode(before)


def _surely_right(
    task: Task, case: Case, inputs: Tensors, outputs: Tensors, summed: bool
) -> Tensor:
    """Whether one call's outputs are right beyond doubt: a bool tensor, not waited for."""
    known = task.reference.expectations(case, task.dtype, inputs, summed=summed)
    return all_surely_right(outputs, known, task.device.within)


def _copies(tensors: Tensors) -> dict[str, Tensor]:
    return {name: tensor.contiguous().clone() for name, tensor in tensors.items()}
