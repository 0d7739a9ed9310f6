"""A profile on the terminal: what each kernel of a call moves, and what limits it."""

from collections.abc import Callable, Iterable

from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness.records.profile import KernelProfile, Profile
from harness.text import numbers
from harness.text.plain import plain

MAX_KERNELS = 40
_CAVEAT = "by Nsight Compute: each kernel alone, caches emptied before; no time that is ranked"


def render_profile(profile: Profile, console: Console) -> None:
    """Print ``profile`` for a person."""
    of = "a call" if profile.one_call else "two calls, the first of which launched other kernels"
    _print(console, f"profile of {of}, {plain(profile.spec, 200)}")
    _print(console, f"        {_CAVEAT}", "dim")
    console.print(_table(profile.kernels))
    if len(profile.kernels) > MAX_KERNELS:
        _print(console, f"        … {len(profile.kernels) - MAX_KERNELS} more")


def _table(kernels: tuple[KernelProfile, ...]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("kernel", overflow="fold")
    for name in ("time", "DRAM read", "written", "SM", "memory", "occupancy"):
        table.add_column(name, justify="right", no_wrap=True)
    for kernel in kernels[:MAX_KERNELS]:
        table.add_row(
            Text(plain(kernel.name, 120)),
            _text(kernel.duration_s, numbers.seconds),
            _text(kernel.read_bytes, numbers.bytes_),
            _text(kernel.written_bytes, numbers.bytes_),
            *(
                _text(part, "{:.0%}".format)
                for part in (kernel.sm, kernel.memory, kernel.occupancy)
            ),
        )
    if len(kernels) > 1:
        table.add_row(
            "together",
            _text(_sum(k.duration_s for k in kernels), numbers.seconds),
            _text(_sum(k.read_bytes for k in kernels), numbers.bytes_),
            _text(_sum(k.written_bytes for k in kernels), numbers.bytes_),
        )
    return table


def _sum(values: Iterable[float | None]) -> float | None:
    """None if one of them is not known."""
    total = 0.0
    for value in values:
        if value is None:
            return None
        total += value
    return total


def _text(value: float | None, shown: Callable[[float], str]) -> Text:
    return Text("?" if value is None else shown(value))


def _print(console: Console, text: str, style: str = "") -> None:
    console.print(Text(text, style=style), highlight=False, emoji=False, markup=False)
