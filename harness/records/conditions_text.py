"""The conditions of a timing in words."""

from harness.records.measurement import Conditions


def told(conditions: Conditions) -> str:
    """The conditions in one short line; what is not known is left out."""
    low, high = conditions.clock_mhz
    parts = []
    if high:
        parts.append(f"{high} MHz" if low == high else f"{low}–{high} MHz")
    if conditions.temperature_c:
        parts.append(f"{conditions.temperature_c} °C")
    if conditions.power_w:
        parts.append(f"{conditions.power_w:.0f} W")
    parts += conditions.throttle
    if conditions.others:
        parts.append(others(conditions.others))
    return ", ".join(parts)


def others(count: int) -> str:
    """``2 other processes``."""
    return "1 other process" if count == 1 else f"{count} other processes"
