"""The GPU to oneself while times are taken, and what it was like meanwhile."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from harness.device.affinity import pinned
from harness.device.lock import exclusive
from harness.device.memory import CudaDevice, Device
from harness.device.monitor import GpuMonitor


@contextmanager
def exclusive_timing(
    device: Device, waiting: Callable[[float], None]
) -> Iterator[GpuMonitor | None]:
    """Hold ``device`` alone, watch it, and have runners share a processor that is theirs.

    None on the CPU, which is not held.

    ``waiting`` is called now and then with the seconds so far while another grade holds it.

    Raises:
        MachineError: there is no place for a lock that all users of this machine share.
    """
    if not isinstance(device, CudaDevice):
        yield None
        return
    with exclusive(device.uuid, waiting), pinned(device), GpuMonitor(device.uuid) as watch:
        yield watch
