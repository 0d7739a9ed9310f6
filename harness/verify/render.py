"""Print reports of ``harness verify`` on the terminal, and as JSON."""

import json
from collections.abc import Sequence
from dataclasses import asdict

from rich.console import Console
from rich.text import Text

from harness.text.numbers import counted
from harness.text.plain import json_text, plain
from harness.verify.findings import DetectionResult, Level, PackageReport, Status

_LIMIT = 600
_STYLES = {Level.ERROR: "bold red", Level.WARNING: "yellow"}


def render_report(report: PackageReport, console: Console) -> None:
    """Print a line for each finding, and one to close."""
    for finding in report.findings:
        level = (finding.level.upper(), _STYLES[finding.level])
        message = f" {plain(finding.place, _LIMIT)}: {plain(finding.message, _LIMIT)}"
        line = Text.assemble(level, message)
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
    tried = []
    if report.impostors:
        accepted = _names(report.impostors, Status.ACCEPTED)
        rejected = _names(report.impostors, Status.REJECTED) - accepted
        absent = _names(report.impostors, Status.NOT_APPLICABLE) - rejected - accepted
        tried.append(f"{counted(len(rejected), 'impostor')} rejected")
        tried += [f"{len(accepted)} accepted"] if accepted else []
        tried += [f"{len(absent)} not applicable"] if absent else []
    if report.variants:
        rejected = _names(report.variants, Status.REJECTED)
        accepted = _names(report.variants, Status.ACCEPTED) - rejected
        tried.append(f"{counted(len(accepted), 'honest variant')} accepted")
        tried += [f"{len(rejected)} rejected"] if rejected else []
    if report.examples:
        tried.append(counted(len(report.examples), "example"))
    parts = [f"{counted(report.errors, 'error')}, {counted(report.warnings, 'warning')}"]
    parts += [", ".join(tried), f"{report.seconds:.1f} s"]
    return f"{plain(report.slug, _LIMIT)}: {' · '.join(filter(None, parts))}"


def _names(tried: Sequence[DetectionResult], status: Status) -> set[str]:
    return {one.name for one in tried if one.status is status}


def reports_json(reports: Sequence[PackageReport]) -> str:
    """All reports as one line of JSON."""
    records = [{**asdict(r), "errors": r.errors, "warnings": r.warnings} for r in reports]
    return json_text(json.dumps(records))
