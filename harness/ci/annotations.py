"""A report as annotations: commands in the log, by which GitHub marks lines of the changed files.

``::error file=F,line=N,title=T::message``, as GitHub Docs, "Workflow commands for GitHub Actions",
have it. The escapes are those of the runner (``ActionCommand.cs``): in all values ``%``, carriage
return and newline, in properties ``:`` and ``,`` as well.
"""

from collections.abc import Iterator
from typing import NamedTuple

from harness.ci.report import PullRequestReport
from harness.text.plain import plain, plain_lines

MOST = 10
"""Errors of one step that GitHub shows as annotations; more are in the log alone."""

_MESSAGE = 2000


class Annotation(NamedTuple):
    """What to say of a line of a file; an empty ``path`` is no file's."""

    path: str
    line: int
    title: str
    message: str


def annotations(report: PullRequestReport) -> list[str]:
    """One command for each refusal, fault and failed submission, at most :data:`MOST`."""
    found = list(_annotations(report))
    if len(found) > MOST:
        rest = len(found) - MOST + 1
        more = Annotation("", 1, "More failures", f"{rest} more are in the job's summary")
        found = [*found[: MOST - 1], more]
    return [command(each) for each in found]


def command(annotation: Annotation) -> str:
    """The line that makes ``annotation``, which holds no other command."""
    properties = {"title": plain(annotation.title, 200)}
    if annotation.path:
        path = plain(annotation.path, 400)
        properties = {"file": path, "line": str(annotation.line), **properties}
    told = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::error {told}::{_data(plain_lines(annotation.message, _MESSAGE))}"


def _annotations(report: PullRequestReport) -> Iterator[Annotation]:
    for note in report.refused:
        yield Annotation(note.path, 1, "Refused", f"{plain(note.path, 400)}: {note.reason}")
    if report.fault:
        yield Annotation("", 1, "Not graded to the end", report.fault)
    for each in report.failures:
        result = each.result
        failed = result.shrunk.case if result.shrunk else result.failed_case
        message = result.message + (f"\ncase: {failed.spec}" if failed else "")
        yield Annotation(each.path, each.line, str(result.verdict), message)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
