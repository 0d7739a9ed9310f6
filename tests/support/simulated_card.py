"""A card whose memory is a number: arenas, the judge's tensors and its allocator's cache count.

Kernels are honest and take no time; the clock is made up, as in :mod:`support.fake_sessions`.
"""

from typing import Any

from torch.utils._python_dispatch import _disable_current_modes

from harness.device.base import OutOfDeviceMemory
from harness.device.cpu import CpuDevice, HostArena
from harness.judge.task import Task
from harness.problem.reference import Reference
from harness.session.fault import Fault
from support.fake_sessions import FakeSession
from support.live_memory import LiveMemory


class CardArena(HostArena):
    """Host memory that a card accounts for until judge and runner have let go of it."""

    def __init__(self, size: int, card: "SimulatedCard") -> None:
        super().__init__(size)
        self.holders: set[object] = {card}
        self._card = card

    def close(self) -> None:
        super().close()
        self.holders.discard(self._card)


class SimulatedCard(CpuDevice):
    """A card of ``total`` bytes; use it within its ``memory``, which counts the judge's tensors.

    Args:
        largest: no arena may have more bytes, whatever is free: the rest is in pieces.
        others: bytes that another program takes without its showing in :meth:`free_bytes`.
    """

    def __init__(self, total: int, *, largest: int | None = None, others: int = 0) -> None:
        super().__init__()
        self.total, self.largest, self.others = total, largest, others
        self.memory = LiveMemory(lambda: self.total - self.others - self.in_arenas)
        self.asked: list[int] = []
        """Sizes of all arenas that were asked for."""
        self.arenas: list[CardArena] = []

    @property
    def in_arenas(self) -> int:
        """Bytes of arenas that anybody holds."""
        self.arenas = [arena for arena in self.arenas if arena.holders]
        return sum(arena.size for arena in self.arenas)

    def free_bytes(self) -> int:
        return self.total - self.in_arenas - self.memory.live

    def arena(self, size: int) -> CardArena:
        self.asked.append(size)
        free = self.free_bytes() - self.others
        if size > min(free, self.largest or free):
            raise OutOfDeviceMemory(f"cannot allocate {size} bytes", "out of memory")
        self.arenas.append(CardArena(size, self))
        return self.arenas[-1]


class HonestSession(FakeSession):
    """Writes the right outputs into its arena, by the reference, which takes none of the card."""

    def __init__(self, task: Task, per_call: float = 1e-5) -> None:
        super().__init__(per_call)
        assert isinstance(task.reference, Reference)
        self.task, self.reference = task, task.reference
        self.arena: CardArena | None = None

    def map(self, arena: CardArena) -> Fault | None:
        self.unmap()
        self.arena = arena
        arena.holders.add(self)
        return None

    def unmap(self) -> Fault | None:
        if self.arena is not None:
            self.arena.holders.discard(self)
            self.arena = None
        return None

    def run(self, batch: Any, seed: str, **options: Any) -> float | Fault:
        batch.fill(seed)
        with _disable_current_modes():
            for call in range(batch.layout.calls):
                read = {
                    s.tensor.name: batch.layout.elements(batch.bytes, s)[call]
                    for s in batch.layout.read
                }
                for name, right in self.reference.expected(batch.case, read).items():
                    batch.outputs(call)[name].copy_(right)
        batch.take_receipt()
        self.batches.append((batch.layout.calls, seed))
        return self.per_call * batch.layout.calls
