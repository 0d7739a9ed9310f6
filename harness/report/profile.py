"""A profile on the terminal: what each kernel of a call moves, and what limits it."""

from collections.abc import Callable, Iterable

from rich.console import Console

from harness.records.profile import Profile
from harness.report.tables import line, row, table
from harness.text import numbers
from harness.text.plain import plain

MAX_KERNELS = 40
_CAVEAT = "by Nsight Compute: each kernel alone, caches emptied before; no time that is ranked"
_AMOUNTS: dict[str, Callable[[float], str]] = {
    "duration_s": numbers.seconds,
    "read_bytes": numbers.bytes_,
    "written_bytes": numbers.bytes_,
}


def render_profile(profile: Profile, console: Console) -> None:
    """Print ``profile`` for a person."""
    of = "a call" if profile.one_call else "two calls, the first of which launched other kernels"
    line(console, f"profile of {of}, {plain(profile.spec, 200)}")
    line(console, f"        {_CAVEAT}", "dim")
    columns = (">time", ">DRAM read", ">written", ">SM", ">memory", ">occupancy")
    shown = table("kernel", *columns)
    for each in profile.kernels[:MAX_KERNELS]:
        amounts = (_text(getattr(each, name), unit) for name, unit in _AMOUNTS.items())
        parts = (_text(part, "{:.0%}".format) for part in (each.sm, each.memory, each.occupancy))
        row(shown, plain(each.name, 120), *amounts, *parts)
    if len(profile.kernels) > 1:
        sums = (
            _text(_sum(getattr(each, name) for each in profile.kernels), unit)
            for name, unit in _AMOUNTS.items()
        )
        row(shown, "together", *sums)
    console.print(shown)
    if len(profile.kernels) > MAX_KERNELS:
        line(console, f"        … {len(profile.kernels) - MAX_KERNELS} more")


def _sum(values: Iterable[float | None]) -> float | None:
    """None if one of them is not known."""
    found = list(values)
    known = [value for value in found if value is not None]
    return sum(known) if len(known) == len(found) else None


def _text(value: float | None, shown: Callable[[float], str]) -> str:
    return "?" if value is None else shown(value)
