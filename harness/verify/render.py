"""Print reports of ``harness verify`` on the terminal, and as JSON."""

import json
from collections.abc import Sequence
from dataclasses import asdict

from rich.console import Console
from rich.text import Text

from harness.text.numbers import counted
from harness.text.plain import json_text, plain
from harness.verify.findings import Level, PackageReport, Status

_LIMIT = 600
_STYLES = {Level.ERROR: "bold red", Level.WARNING: "yellow"}


def render_report(report: PackageReport, console: Console) -> None:
    """Print a line for each finding, and one to close."""
    for finding in report.findings:
        line = Text()
        line.append(finding.level.upper(), _STYLES[finding.level])
        line.append(f" {plain(finding.place, _LIMIT)}: {plain(finding.message, _LIMIT)}")
        if finding.remedy:
            line.append(f" → {plain(finding.remedy, _LIMIT)}", "dim")
        console.print(line, soft_wrap=True)
    console.print(Text(closing_line(report)), soft_wrap=True)


def render_total(reports: Sequence[PackageReport], console: Console) -> None:
    """Print one line about all problems."""
    errors = sum(r.errors for r in reports)
    warnings = sum(r.warnings for r in reports)
    seconds = sum(r.seconds for r in reports)
    line = f"{counted(len(reports), 'problem')}: {counted(errors, 'error')}, "
    console.print(Text(f"{line}{counted(warnings, 'warning')} · {seconds:.1f} s"), soft_wrap=True)


def closing_line(report: PackageReport) -> str:
    """``softmax: 0 errors, 1 warning · 14 impostors rejected, …``.

    An impostor or variant counts once, in however many data types it was tried.
    """
    parts = [f"{counted(report.errors, 'error')}, {counted(report.warnings, 'warning')}"]
    tried = []
    if report.impostors:
        rejected = _names(report, Status.REJECTED, impostors=True)
        tried.append(f"{counted(len(rejected), 'impostor')} rejected")
        accepted = _names(report, Status.ACCEPTED, impostors=True)
        if accepted:
            tried.append(f"{len(accepted)} accepted")
        absent = _names(report, Status.NOT_APPLICABLE, impostors=True) - rejected - accepted
        if absent:
            tried.append(f"{len(absent)} not applicable")
    if report.variants:
        rejected = _names(report, Status.REJECTED, impostors=False)
        accepted = _names(report, Status.ACCEPTED, impostors=False) - rejected
        tried.append(f"{counted(len(accepted), 'honest variant')} accepted")
        if rejected:
            tried.append(f"{len(rejected)} rejected")
    if report.examples:
        tried.append(counted(len(report.examples), "example"))
    if tried:
        parts.append(", ".join(tried))
    parts.append(f"{report.seconds:.1f} s")
    return f"{plain(report.slug, _LIMIT)}: {' · '.join(parts)}"


def reports_json(reports: Sequence[PackageReport]) -> str:
    """All reports as one line of JSON."""
    return json_text(json.dumps([_record(report) for report in reports]))


def _record(report: PackageReport) -> dict[str, object]:
    return {**asdict(report), "errors": report.errors, "warnings": report.warnings}


def _names(report: PackageReport, status: Status, *, impostors: bool) -> set[str]:
    tried = report.impostors if impostors else report.variants
    names = {t.name for t in tried if t.status is status}
    if impostors and status is Status.REJECTED:  # accepted in one data type is accepted
        names -= {t.name for t in tried if t.status is Status.ACCEPTED}
    return names
