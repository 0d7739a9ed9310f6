"""What ``harness doctor`` found, on the terminal."""

from collections.abc import Iterable

from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness.doctor.examine import Finding, State
from harness.text.plain import plain

_LIMIT = 400
_STYLES = {State.OK: "green", State.LIMITED: "yellow", State.MISSING: "red"}


def render_findings(findings: Iterable[Finding], console: Console) -> None:
    """One row per part of the machine; remedies below the part they cure."""
    table = Table(box=None, pad_edge=False, show_header=False)
    for overflow in ("ellipsis", "ellipsis", "fold"):
        table.add_column(overflow=overflow)
    for finding in findings:
        mark = Text(finding.state, style=_STYLES[finding.state])
        name, detail = plain(finding.name, _LIMIT), plain(finding.detail, _LIMIT)
        table.add_row(mark, Text(name), Text(detail))
        if finding.remedy:
            table.add_row("", "", Text(plain(f"→ {finding.remedy}", _LIMIT), style="bold"))
    console.print(table)
