"""Inputs that are drawn on the CPU, by several idle processors at once.

Large ones of the next correctness cases are drawn while a case runs on the GPU, one number after
the other, which takes longer than all else of a case. Those that a problem's author draws take a
tenth of a second for each of hundreds of timed calls. Each tensor of a call has a seed of its own,
so that many can be drawn at once.
"""

import math
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import NamedTuple

from torch import Tensor

from harness.device.affinity import move_thread
from harness.judge.task import Task
from harness.problem.case import Case
from harness.problem.dtypes import DTYPES
from harness.problem.gradable import InputSource
from harness.problem.sampling.footprint import CALLS
from harness.problem.terms import Direction, TensorSpec
from harness.sandbox.host_memory import free_bytes
from harness.sandbox.processors import usable_processors

MOST_BYTES = 1 << 30
"""Drawn and not asked for yet; one tensor may be larger."""
_MOST_DRAWERS, _DRAWER_BYTES = 8, 1 << 30
"""So many at once, each with so much free memory: an author's process holds torch."""

_LARGE = 1 << 18
"""Bytes that take one processor a millisecond, nearly all of it in torch. Smaller ones take a tenth
of one, most of it in Python: threads that drew them would keep the judge from going on."""

_Key = tuple[str, str, str]
"""A tensor's name, the case's spec, the call's seed."""


class Wanted(NamedTuple):
    """Tensors of one call that one processor draws, one after the other."""

    tensors: tuple[TensorSpec, ...]
    case: Case
    seed: str

    @property
    def keys(self) -> list[_Key]:
        """Of its tensors, in this order."""
        return [_key(tensor, self.case, self.seed) for tensor in self.tensors]

    @property
    def bytes(self) -> int:
        """What they take."""
        return sum(math.prod(t.shape) * DTYPES[t.dtype].itemsize for t in self.tensors)


def _key(tensor: TensorSpec, case: Case, seed: str) -> _Key:
    return tensor.name, case.spec, seed


class _Drawing(NamedTuple):
    """``left`` are those of its tensors that have not been asked for."""

    future: Future[dict[_Key, Tensor]]
    bytes: int
    left: set[_Key]


class DrawnAhead:
    """An ``InputSource`` that begins to draw what will be asked for.

    Args:
        inputs: what draws; its ``draw`` is called by several threads at once.
        drawers: how many.
        processors: what they may run on; empty for where this thread may.
        wanted: what will be asked for, in this order; anything else is drawn when it is.
        most_bytes: drawn and not asked for yet.
    """

    def __init__(
        self,
        inputs: InputSource,
        drawers: int,
        wanted: Iterable[Wanted],
        most_bytes: int = MOST_BYTES,
        processors: frozenset[int] = frozenset(),
    ) -> None:
        self._inputs = inputs
        begin = partial(move_thread, processors) if processors else None
        self._pool = ThreadPoolExecutor(drawers, "draw", begin)
        self._waiting = {tuple(each.keys): each for each in wanted}
        self._of = {key: keys for keys in self._waiting for key in keys}
        self._begun: dict[tuple[_Key, ...], _Drawing] = {}
        self._most_bytes = most_bytes
        self._begin()

    def draw(self, tensor: TensorSpec, case: Case, seed: str) -> Tensor:
        """One tensor of one call, as the source draws it, which may have happened already."""
        key = _key(tensor, case, seed)
        keys = self._of.pop(key, ())
        self._waiting.pop(keys, None)  # there was no room to begin it
        drawing = self._begun.get(keys)
        if drawing is not None and drawing.future.cancel():  # nobody has begun it
            del self._begun[keys]
            drawing = None
        if drawing is None:
            drawn = self._inputs.draw(tensor, case, seed)
        else:
            drawing.left.discard(key)
            if not drawing.left:
                del self._begun[keys]
            drawn = drawing.future.result().pop(key)
        self._begin()
        return drawn

    def write(self, out: Tensor, tensor: TensorSpec, case: Case, seed: str) -> None:
        """The same, to where it belongs."""
        out.copy_(self.draw(tensor, case, seed))

    def fill(
        self, out: Tensor, tensor: TensorSpec, case: Case, seed: str, *, warm_up: bool
    ) -> None:
        """As the source does."""
        self._inputs.fill(out, tensor, case, seed, warm_up=warm_up)

    def close(self) -> None:
        """Draw nothing more; returns when no processor is drawing."""
        self._waiting.clear()
        self._pool.shutdown(cancel_futures=True)
        self._begun.clear()

    def _begin(self) -> None:
        """Begin to draw as much as there is room for, what one call wants at least."""
        held = sum(each.bytes for each in self._begun.values())
        for keys, wanted in list(self._waiting.items()):
            if held and held + wanted.bytes > self._most_bytes:
                break
            del self._waiting[keys]
            future = self._pool.submit(self._drawn, wanted)
            self._begun[keys] = _Drawing(future, wanted.bytes, set(keys))
            held += wanted.bytes

    def _drawn(self, wanted: Wanted) -> dict[_Key, Tensor]:
        tensors, case, seed = wanted
        return {_key(each, case, seed): self._inputs.draw(each, case, seed) for each in tensors}


@contextmanager
def inputs_of(task: Task, cases: Iterable[Case]) -> Iterator[InputSource]:
    """What draws the inputs of correctness cases, for a block that runs ``cases`` in this order.

    Ahead where they are run on a GPU, there are idle processors, and they follow from the seed
    alone (what another format draws comes from one process).
    """
    wanted = filter(_takes_long, _of_cases(task, cases))
    with drawing(task, task.problem.inputs(), wanted) as inputs:
        yield inputs


@contextmanager
def drawing(task: Task, inputs: InputSource, wanted: Iterable[Wanted]) -> Iterator[InputSource]:
    """What draws these tensors, by several processors where :func:`inputs_of` says."""
    if task.device.emulated or task.problem.declared is None:
        yield inputs
        return
    place = task.device.workplace
    # A thread that takes times may run on one processor alone: those beside it are idle meanwhile.
    beside = frozenset[int]() if place is None else place.beside()
    processors = len(beside) or usable_processors()
    drawers = min(_MOST_DRAWERS, processors // 2, free_bytes() // _DRAWER_BYTES)
    if drawers < 2:
        yield inputs
        return
    ahead = DrawnAhead(inputs, drawers, wanted, processors=beside)
    try:
        yield ahead
    finally:
        ahead.close()


def _of_cases(task: Task, cases: Iterable[Case]) -> Iterator[Wanted]:
    """What the batches of ``cases`` ask for, one after the other."""
    for case in cases:
        tensors = task.problem.tensors_of(case, task.dtype)
        for drawn in by_drawing(t for t in tensors if t.direction is not Direction.OUT):
            for call in range(CALLS):
                yield Wanted(drawn, case, f"{task.seed}/{call}")


def _takes_long(wanted: Wanted) -> bool:
    """Whether drawing takes so long that another processor should; an author's functions may."""
    return wanted.bytes >= _LARGE or any(each.together for each in wanted.tensors)


def by_drawing(read: Iterable[TensorSpec]) -> Iterator[tuple[TensorSpec, ...]]:
    """One call's tensors, those drawn together in one part.

    One processor draws them and brings each into its own type, which takes as long.
    """
    tensors = list(read)
    together = tuple(t for t in tensors if t.together)
    for tensor in tensors:
        if not tensor.together:
            yield (tensor,)
        elif tensor is together[0]:
            yield together
