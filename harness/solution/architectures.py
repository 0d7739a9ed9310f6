"""Names of the architectures that CUDA C++ is compiled for."""

import re

ARCHITECTURE = re.compile(r"sm_\d{2,3}[af]?")

KNOWN_ARCHITECTURES = tuple(
    f"sm_{number}" for number in (70, 72, 75, 80, 86, 87, 88, 89, 90, 100, 101, 103, 110, 120, 121)
)
"""Those in NVIDIA's tables of compute capabilities; a card of this machine may have a newer one."""
