"""Tables and lines as all reports print them: no markup is read, and no rules are drawn.

What is printed must have passed :mod:`harness.text.plain`.
"""

from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from harness.text.plain import plain

_GAP = 2
_FOLDED = 16
"""Characters of a column below which its cells are not folded."""


def table(*columns: str) -> Table:
    """A table without lines, so that it reads the same in a pipe.

    A title that begins with ``>`` is that of a column that is aligned to the right. Its cells and
    those below a title that begins with ``|`` stay on one line; others are folded.
    """
    made = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="dim")
    for name in columns:
        title = name.lstrip(">|")
        made.add_column(
            Text(title),
            justify="right" if name.startswith(">") else "left",
            overflow="fold" if title == name else "ellipsis",
            no_wrap=title != name,
        )
    return made


def fitted(table: Table, console: Console, *least: str) -> Table:
    """``table`` less the columns of these titles, the least important first, that find no room."""
    for title in least:
        if sum(map(_room, table.columns)) <= console.width:
            break
        table.columns = [column for column in table.columns if str(column.header) != title]
    return table


def _room(column: Column) -> int:
    cells = [column.header, *column.cells]
    longest = max(cell.cell_len for cell in cells if isinstance(cell, Text))
    return _GAP + (longest if column.no_wrap else min(longest, _FOLDED))


def row(table: Table, *cells: str | Text, style: str = "") -> None:
    """Add a row of ``cells`` to ``table``."""
    table.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in cells), style=style)


def line(console: Console, text: str | Text, style: str = "", *, copied: bool = False) -> None:
    """Print ``text``; ``copied`` leaves a long line whole, for the terminal to wrap."""
    shown = Text(text, style=style) if isinstance(text, str) else text
    console.print(shown, soft_wrap=copied, highlight=False, emoji=False, markup=False)


def spaced(spec: str) -> str:
    """A case, safe to print, with spaces, so that a line breaks between two sizes."""
    return plain(spec, 200).replace(",", ", ")
