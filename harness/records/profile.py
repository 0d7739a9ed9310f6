"""The part of a result that a profiler has to say."""

from typing import Annotated

from pydantic import Field

from harness.records.fields import Record, Text

Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)] | None


class KernelProfile(Record):
    """What Nsight Compute saw of one launch; None for what it did not tell.

    ``read_bytes`` and ``written_bytes`` are those of the card's memory (DRAM). ``sm`` and
    ``memory`` are the parts reached of the highest throughput of the multiprocessors and of the
    memory system, ``occupancy`` the warps that were there over the most that could be.
    """

    name: Text
    grid: Text
    block: Text
    duration_s: Amount = None
    read_bytes: Amount = None
    written_bytes: Amount = None
    sm: Amount = None
    memory: Amount = None
    occupancy: Amount = None


class Profile(Record):
    """The launches of one call; or, if not ``one_call``, those of the call before it as well."""

    spec: Text
    kernels: tuple[KernelProfile, ...] = Field(min_length=1)
    one_call: bool
