"""A machine's cores: which processors share one, which are fast, and which are near a card.

``system`` is everywhere where ``/proc`` and ``/sys`` are; what is not there is left out.
"""

import contextlib
from collections.abc import Collection
from pathlib import Path

_SLOWEST = 0.9
"""A fast core's clock rate, in parts of the fastest: some machines have slow cores, too."""
_NVIDIA, _DISPLAY = "0x10de", "0x03"
"""A PCI device's vendor, and the beginning of the class of graphics cards and the like."""


def cards(system: Path = Path("/")) -> list[str]:
    """The PCI addresses of all NVIDIA cards of this machine, in order: ``0000:1b:00.0``."""
    with contextlib.suppress(OSError):
        if known := sorted(p.name.lower() for p in (system / "proc/driver/nvidia/gpus").iterdir()):
            return known
    found = []
    with contextlib.suppress(OSError):
        for device in (system / "sys/bus/pci/devices").iterdir():
            if _text(device / "vendor") == _NVIDIA and _text(device / "class").startswith(_DISPLAY):
                found.append(device.name.lower())
    return sorted(found)


def near(bus: str, allowed: Collection[int], system: Path = Path("/")) -> set[int]:
    """Those of the ``allowed`` processors that are near the card at ``bus``; none if not known."""
    return _among(allowed, system / f"sys/bus/pci/devices/{bus}/local_cpulist")


def siblings(cpu: int, system: Path = Path("/")) -> set[int]:
    """All processors of the core of ``cpu``, allowed or not, itself included."""
    folder = system / f"sys/devices/system/cpu/cpu{cpu}/topology"
    return {cpu} | _numbers(_text(folder / "thread_siblings_list"))


def cores(
    cpus: Collection[int], allowed: Collection[int], system: Path = Path("/")
) -> list[frozenset[int]]:
    """The cores that ``cpus`` belong to, each with all ``allowed`` processors of it, in order."""
    found = {frozenset(siblings(cpu, system) & {cpu, *allowed}) for cpu in cpus}
    return sorted(found, key=min)


def fast(cpus: Collection[int], system: Path = Path("/")) -> set[int]:
    """Those of ``cpus`` that are about as fast as the fastest."""
    speeds = dict.fromkeys(cpus, 0)  # maximum clock rates in kHz; 0 where unknown
    for cpu in cpus:
        file = system / f"sys/devices/system/cpu/cpu{cpu}/cpufreq/cpuinfo_max_freq"
        with contextlib.suppress(ValueError):
            speeds[cpu] = int(_text(file))
    most = max(speeds.values(), default=0)
    return {cpu for cpu in cpus if speeds[cpu] >= _SLOWEST * most}


def _text(file: Path) -> str:
    with contextlib.suppress(OSError, ValueError):
        return file.read_text(encoding="ascii").strip()
    return ""


_MOST = 1 << 16
"""Processors of the largest machine: what is longer is no list of them."""


def _numbers(text: str) -> set[int]:
    """Those that a list such as ``0-3,8`` has, up to where it makes no sense."""
    found: set[int] = set()
    with contextlib.suppress(ValueError):
        for part in text.split(","):
            first, _, last = part.partition("-")
            found.update(range(int(first), min(int(last or first), _MOST) + 1))
    return found


def _among(allowed: Collection[int], file: Path) -> set[int]:
    return _numbers(_text(file)) & set(allowed)
