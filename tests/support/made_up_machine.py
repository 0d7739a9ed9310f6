"""Machines that are made up: what they say of themselves in /proc and /sys."""

from collections.abc import Mapping, Sequence
from pathlib import Path


def write(file: Path, text: object) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{text}\n")


def listed(cpus: Sequence[int]) -> str:
    return ",".join(map(str, cpus))


def machine(
    root: Path,
    *,
    cores: Sequence[Sequence[int]],
    cards: Mapping[str, Sequence[int]],
    proc: bool = True,
    khz: Mapping[int, int] | None = None,
) -> Path:
    """Such ``cores``, and ``cards`` with the processors near each; ``/proc`` lists them, or not."""
    for core in cores:
        for cpu in core:
            folder = root / f"sys/devices/system/cpu/cpu{cpu}"
            write(folder / "topology/thread_siblings_list", listed(core))
            if khz:
                write(folder / "cpufreq/cpuinfo_max_freq", khz[cpu])
    for bus, near in cards.items():
        device = root / f"sys/bus/pci/devices/{bus}"
        write(device / "vendor", "0x10de")
        write(device / "class", "0x030200")
        if near:
            write(device / "local_cpulist", listed(near))
        if proc:
            (root / f"proc/driver/nvidia/gpus/{bus}").mkdir(parents=True)
    return root


def buses(count: int) -> list[str]:
    return [f"0000:{16 + number:02x}:00.0" for number in range(count)]
