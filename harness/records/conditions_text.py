"""The conditions of a timing in words."""

from harness.records.measurement import Conditions


def describe_conditions(conditions: Conditions) -> str:
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
    if conditions.other_processes:
        parts.append(describe_other_processes(conditions.other_processes))
    return ", ".join(parts)


def describe_other_processes(count: int) -> str:
    """``2 other processes``."""
    return "1 other process" if count == 1 else f"{count} other processes"
