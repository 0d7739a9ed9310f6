"""The part of a result that says how the submission was compiled, and what came of it."""

from typing import Literal

from pydantic import Field

from harness.records.fields import Count, Name, Record, Seconds, Text


class Occupancy(Record):
    """Warps that a multiprocessor can hold at once, as a part of what it holds at most."""

    threads: int = Field(ge=1, description="per block")
    fraction: float = Field(gt=0, le=1)
    limit: Literal["warps", "blocks", "registers", "shared memory"]


class KernelResources(Record):
    """What the compiler said about one kernel, and the occupancy that follows from it."""

    name: Text
    """The kernel: untrusted."""
    registers: Count
    """Registers per thread."""
    shared_bytes: Count = 0
    """Static shared memory per block."""
    spill_store_bytes: Count = 0
    """Bytes per thread written to local memory for want of registers."""
    spill_load_bytes: Count = 0
    """Bytes per thread read back from there."""
    threads: Count | None = None
    """Threads of a block, where the build knows them."""
    occupancy: tuple[Occupancy, ...] = ()
    """For ``threads``, else for usual sizes; empty if the architecture's limits are not known."""


class UsedLibrary(Record):
    """A CUDA library that a CUDA C++ file was built with."""

    name: Name
    """Its name, as ``cublasLt``."""
    version: Text = ""
    """Its version, by its headers; empty where none was looked for."""


class Build(Record):
    """How a submission was compiled, and how it is called."""

    seconds: Seconds
    """Seconds to build it, or to find it in the cache."""
    cached: bool
    """Whether it was found in the cache."""
    target: Text
    """The architecture, as ``sm_90``."""
    log: Text = ""
    """Messages of the compiler: untrusted, capped."""
    kernels: tuple[KernelResources, ...] = ()
    """What the compiler said about each kernel."""
    contract: Literal["solution", "solve", "custom_kernel", "ModelNew", "run", "functions"] = (
        "solution"
    )
    """Name of the entry point; `functions` where that is several."""
    libraries: tuple[UsedLibrary, ...] = ()
    """The CUDA libraries that it uses."""

    @property
    def with_libraries(self) -> str:
        """Their names and versions in words, ``cublasLt 13.0.2, cutlass 4.2.0``: untrusted."""
        return ", ".join(f"{each.name} {each.version}".strip() for each in self.libraries)
