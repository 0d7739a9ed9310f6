"""What judges in a Ray cluster get: so many GPUs, or processors, and how many judges there are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from harness.errors import NoDeviceError, UsageError
from harness.text.plain import plain

CPUS = 2
"""Processors of a judge without a GPU."""
_MOST_CPUS = 16
"""Processors that are asked for beside a GPU, at most."""
_TYPE = "accelerator_type:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is asked of a cluster."""

    address: str
    """``auto``, or what Ray takes for one."""
    gpu: str | None = None
    """Ray's name of a kind of GPU (``H100``), or a card's own; None: the only kind there is."""
    judges: int | None = None
    """How many; None: as many as there is room for now."""
    require_sandbox: bool = False
    """Refuse machines on which submissions cannot be confined."""
    program: str | None = None
    """What runs in the place of judges, in tests."""


class Room(NamedTuple):
    """What each judge of a run gets, and how many there are."""

    gpu: bool
    kind: str | None
    cpus: int
    judges: int


def room_of(nodes: Sequence[Mapping[str, float]], device: str, wanted: Wanted) -> Room:
    """What judges get, from the resources of each node.

    Raises:
        UsageError: there is no such kind of GPU, or one of several has to be named.
        NoDeviceError: a GPU is asked for, and there is none; or no processor.
    """
    if device == "cpu" and wanted.gpu is not None:
        raise UsageError("--gpu: says which GPU, and --device cpu uses none: leave one away")
    found = [node for node in nodes if node.get("GPU", 0) >= 1]
    if device == "cpu" or (device == "auto" and not found and wanted.gpu is None):
        counts = [max(1, int(node["CPU"]) // CPUS) for node in nodes if node.get("CPU", 0) >= 1]
        judges = wanted.judges or sum(counts)
        if not judges:
            raise NoDeviceError("--cluster: no node has a processor to give: ray status")
        least = min((int(node["CPU"]) for node in nodes if node.get("CPU", 0) >= 1), default=CPUS)
        return Room(gpu=False, kind=None, cpus=min(CPUS, least), judges=judges)
    kinds = sorted({kind for node in found for kind in _kinds(node)})
    kind = _kind(wanted, kinds)
    if kind is not None:
        found = [node for node in found if kind in _kinds(node)]
    judges = wanted.judges or sum(int(node["GPU"]) for node in found)
    if not judges:
        raise NoDeviceError(
            "--cluster: no node has a GPU; where an autoscaler brings them, --judges says how many"
        )
    cpus = min((int(node.get("CPU", 0) // node["GPU"]) for node in found), default=1)
    return Room(gpu=True, kind=kind, cpus=min(cpus, _MOST_CPUS), judges=judges)


def _kinds(node: Mapping[str, float]) -> list[str]:
    return [key.removeprefix(_TYPE) for key in node if key.startswith(_TYPE)]


def _kind(wanted: Wanted, kinds: Sequence[str]) -> str | None:
    there = ", ".join(kinds)
    if wanted.gpu is None:
        if len(kinds) > 1:
            raise UsageError(f"--cluster: each board is of one kind of GPU: --gpu one of {there}")
        return kinds[0] if kinds else None
    for kind in kinds:
        if wanted.gpu.lower() in (kind.lower(), kind.replace("-", " ").lower()):
            return kind
    named = _accelerator_type(wanted.gpu)
    if named in kinds or wanted.judges:  # an autoscaler may bring it
        return named
    said = f"there is {there}" if kinds else "no node has a GPU that Ray names"
    raise UsageError(
        f"--gpu {plain(wanted.gpu, 60)}: {said}; where an autoscaler brings it, --judges says how "
        "many"
    )


def _accelerator_type(name: str) -> str:
    """Ray's word for a card that calls itself so: of ``NVIDIA H100 80GB HBM3``, ``H100``."""
    from ray._private.accelerators.nvidia_gpu import NvidiaGPUAcceleratorManager

    if " " not in name:
        return name
    return str(NvidiaGPUAcceleratorManager._gpu_name_to_accelerator_type(name))
