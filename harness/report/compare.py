"""A comparison of two submissions on the terminal; the last lines say who is faster."""

from rich.console import Console

from harness.records.comparison import Comparison, faster
from harness.records.measurement import Interval
from harness.records.refs import SolutionRef
from harness.report.tables import line, row, spaced, table
from harness.text import numbers
from harness.text.plain import plain

CPU_NOTE = "cpu: functional timing, not a GPU's"


def render_comparison(comparison: Comparison, console: Console) -> None:
    """Print ``comparison`` for a person."""
    device = comparison.device
    facts = (comparison.problem.slug, comparison.dtype, device.label)
    line(console, " · ".join(plain(fact, 60) for fact in facts))
    line(console, f"A  {_name(comparison.a)}")
    line(console, f"B  {_name(comparison.b)}")
    shapes = table("shape", ">A", ">B", ">A / B, 95 %")
    for each in comparison.shapes:
        times = (numbers.seconds_interval(time) for time in (each.a_s, each.b_s))
        row(shapes, spaced(each.spec), *times, numbers.factor(each.ratio))
    if len(comparison.shapes) > 1:
        row(shapes, "geometric mean", "", "", numbers.factor(comparison.ratio))
    console.print(shapes)
    for note in comparison.notes:
        line(console, f"note  {plain(note, 400)}")
    line(console, sentence(comparison.ratio), "bold")
    if device.emulated:
        line(console, CPU_NOTE, "yellow")


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
