"""The judge's card as a process with a problem's code has it, and memory that both share."""

import mmap
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import torch
from torch import Tensor

from harness.wire.memory import sealed_memory

_REPEATABLE = {"CUBLAS_WORKSPACE_CONFIG": ":4096:8"}
"""Of the environment: products are the same each time."""


class Room(Protocol):
    """Memory that two processes share."""

    fd: int
    """The descriptor that the other maps it by."""
    bytes: Tensor
    """All of it as uint8."""

    def close(self) -> None:
        """Let go of it."""


class Machine(Protocol):
    """What submissions run on, with a card or without: a :class:`~harness.device.base.Device`."""

    def nodes(self) -> tuple[str, ...]:
        """Files of its card and the driver; none without one."""

    def variables(self) -> Mapping[str, str]:
        """Of the environment, so that CUDA shows that card alone."""

    def arena(self, size: int) -> Room:
        """Memory of so many bytes, on the card."""

    def free_bytes(self) -> int:
        """Memory that can be had now: the card's, or the host's without one."""


@dataclass(frozen=True, slots=True)
class Card:
    """The judge's card, as a process of ours can be given it."""

    nodes: tuple[str, ...]
    """Its files, and the driver's."""
    variables: Mapping[str, str]
    """Of the environment: it is the only one that CUDA shows."""
    room: Callable[[int], Room] = field(compare=False)
    """Makes memory of so many bytes, on the card."""
    device: str = "cuda:0"
    """What torch calls it in that process."""

    @classmethod
    def of(cls, machine: Machine) -> "Card | None":
        """The machine's; None if it has none."""
        nodes = machine.nodes()
        return cls(nodes, {**machine.variables(), **_REPEATABLE}, machine.arena) if nodes else None


class HostRoom:
    """A :class:`Room` of the host's memory."""

    def __init__(self, size: int) -> None:
        self.fd = sealed_memory("foreign", size)
        self.bytes = torch.frombuffer(mmap.mmap(self.fd, size), dtype=torch.uint8)

    def close(self) -> None:
        """The last view unmaps it."""
        self.bytes = torch.empty(0, dtype=torch.uint8)
        os.close(self.fd)


def settle(memory: Tensor) -> None:
    """Wait until what was written to a card's memory is there for others."""
    if memory.is_cuda:
        torch.cuda.synchronize(memory.device)
