"""A comparison of two submissions on the terminal; the last lines say who is faster."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness.records.comparison import Comparison, faster
from harness.records.measurement import Interval
from harness.records.refs import SolutionRef
from harness.text import numbers
from harness.text.plain import plain

CPU_NOTE = "cpu: functional timing, not a GPU's"


def render_comparison(comparison: Comparison, console: Console) -> None:
    """Print ``comparison`` for a person."""
    device = comparison.device
    facts = (
        comparison.problem.slug,
        comparison.dtype,
        device.label,
    )
    _print(console, " · ".join(plain(fact, 60) for fact in facts))
    _print(console, f"A  {_name(comparison.a)}")
    _print(console, f"B  {_name(comparison.b)}")
    console.print(_table(comparison))
    for note in comparison.notes:
        _print(console, f"note  {plain(note, 400)}")
    _print(console, sentence(comparison.ratio), "bold")
    if device.emulated:
        _print(console, CPU_NOTE, "yellow")


def sentence(ratio: Interval) -> str:
    """Who is faster, and by how much; ``ratio`` is the time of A over that of B."""
    winner = faster(ratio)
    if winner is None:
        return f"no clear difference ({numbers.factor(ratio)})"
    if winner == "B":
        return f"B is {numbers.factor(ratio)} times as fast as A"
    return f"A is {numbers.factor(ratio.inverse())} times as fast as B"


def _name(solution: SolutionRef) -> str:
    who = plain(f"{solution.author}/{solution.name}", 60)
    return f"{who} · {plain(solution.language, 20)} · {plain(solution.path, 400)}"


def _table(comparison: Comparison) -> Table:
    """Without lines, so that it reads the same in a pipe."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("shape", overflow="fold")
    for name in ("A", "B", "A / B, 95 %"):
        table.add_column(name, justify="right", no_wrap=True)
    for shape in comparison.shapes:
        table.add_row(
            # Spaces, so that a narrow terminal breaks the line between two sizes.
            Text(plain(shape.spec, 200).replace(",", ", ")),
            Text(numbers.seconds_interval(shape.a_s)),
            Text(numbers.seconds_interval(shape.b_s)),
            Text(numbers.factor(shape.ratio)),
        )
    if len(comparison.shapes) > 1:
        table.add_row("geometric mean", "", "", numbers.factor(comparison.ratio))
    return table


def _print(console: Console, text: str, style: str = "") -> None:
    console.print(Text(text, style=style), highlight=False, emoji=False, markup=False)
