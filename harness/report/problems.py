"""The list of problems on the terminal."""

from collections.abc import Iterable

from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness.problem.model import Problem
from harness.text.plain import plain

_WIDTH = 60


def render_problems(problems: Iterable[Problem], console: Console) -> None:
    """One row per problem; those that cannot be graded yet say so."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("problem", no_wrap=True)
    for title in ("difficulty", "types", "title"):
        table.add_column(title, overflow="fold")
    for problem in problems:
        title = problem.title if problem.complete else f"{problem.title} (cannot be graded yet)"
        table.add_row(
            Text(plain(problem.slug, _WIDTH)),
            Text(plain(problem.difficulty, _WIDTH)),
            Text(plain(", ".join(problem.dtypes), _WIDTH)),
            Text(plain(title, _WIDTH)),
        )
    console.print(table)
