"""The part of a result that a profiler has to say."""

from typing import Annotated

from pydantic import Field

from harness.records.fields import MOST_WORK, Record, Text

Amount = Annotated[float, Field(ge=0, le=MOST_WORK)] | None


class KernelProfile(Record):
    """What Nsight Compute saw of one launch; None for what it did not tell."""

    name: Text
    """The kernel."""
    grid: Text
    """Blocks of the grid, as the profiler writes them."""
    block: Text
    """Threads of a block, likewise."""
    duration_s: Amount = None
    """Seconds that it took."""
    read_bytes: Amount = None
    """Bytes read from the card's memory (DRAM)."""
    written_bytes: Amount = None
    """Bytes written to it."""
    sm: Amount = None
    """Part reached of the multiprocessors' highest throughput."""
    memory: Amount = None
    """Part reached of the memory system's highest throughput."""
    occupancy: Amount = None
    """Warps that were there over the most that could be."""


class Profile(Record):
    """The launches of one call; or, if not ``one_call``, those of the call before it as well."""

    spec: Text
    kernels: tuple[KernelProfile, ...] = Field(min_length=1)
    one_call: bool
