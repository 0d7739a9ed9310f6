"""What ``harness doctor`` found, on the terminal."""

from collections.abc import Iterable

from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness.doctor.examine import Finding, State
from harness.text.plain import plain

_LIMIT = 400
_MARKS = {
    State.OK: ("ok", "green"),
    State.LIMITED: ("limited", "yellow"),
    State.MISSING: ("missing", "red"),
}


def render_findings(findings: Iterable[Finding], console: Console) -> None:
    """One row per part of the machine; remedies below the part they cure."""
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column()
    table.add_column()
    table.add_column(overflow="fold")
    for finding in findings:
        mark, style = _MARKS[finding.state]
        table.add_row(
            Text(mark, style=style),
            Text(plain(finding.name, _LIMIT)),
            Text(plain(finding.detail, _LIMIT)),
        )
        if finding.remedy:
            table.add_row("", "", Text(plain(f"→ {finding.remedy}", _LIMIT), style="bold"))
    console.print(table)
