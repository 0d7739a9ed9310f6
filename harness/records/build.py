"""The part of a result that says how the submission was compiled, and what came of it."""

from typing import Literal

from pydantic import Field

from harness.records.fields import Count, Record, Text


class Occupancy(Record):
    """Warps that a multiprocessor can hold at once, as a part of what it holds at most."""

    threads: int = Field(ge=1, description="per block")
    fraction: float = Field(gt=0, le=1)
    limit: Literal["warps", "blocks", "registers", "shared memory"]


class KernelResources(Record):
    """What the compiler said about one kernel, and the ``occupancy`` that follows from it.

    ``threads`` are those of a block where the build knows them; where it does not, the occupancy is
    that of some usual sizes. Empty for an architecture whose limits are not known.
    """

    name: Text
    registers: Count
    shared_bytes: Count = 0
    spill_store_bytes: Count = 0
    spill_load_bytes: Count = 0
    threads: Count | None = None
    occupancy: tuple[Occupancy, ...] = ()


class Build(Record):
    """How a submission was compiled, and how it is called: ``contract`` names its entry point.

    ``log`` is untrusted text, capped.
    """

    seconds: float
    cached: bool
    target: Text
    log: Text = ""
    kernels: tuple[KernelResources, ...] = ()
    contract: Literal["solution", "solve", "custom_kernel", "ModelNew"] = "solution"
