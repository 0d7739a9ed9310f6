"""A report as annotations: log commands by which GitHub marks lines of the changed files.

``::error file=F,line=N,title=T::message`` (GitHub Docs, "Workflow commands for GitHub Actions"),
with the escapes of GitHub's runner (``ActionCommand.cs``).
"""

from collections.abc import Iterator
from typing import NamedTuple

from harness.ci.mismatch import mismatch_lines
from harness.ci.report import PullRequestReport
from harness.text.plain import plain, plain_lines

MAX_ANNOTATIONS = 10
"""Errors of one step that GitHub shows as annotations."""

_MESSAGE = 2000


class Annotation(NamedTuple):
    """A message about a line of a file, or about none if ``path`` is empty."""

    path: str
    line: int
    title: str
    message: str


def annotations(report: PullRequestReport) -> list[str]:
    """A command for each refusal, fault and failure, at most :data:`MAX_ANNOTATIONS`."""
    found = list(_annotations(report))
    if len(found) > MAX_ANNOTATIONS:
        rest = len(found) - MAX_ANNOTATIONS + 1
        more = Annotation("", 1, "More failures", f"{rest} more are in the job's summary")
        found = [*found[: MAX_ANNOTATIONS - 1], more]
    return list(map(command, found))


def command(annotation: Annotation) -> str:
    """The log line that makes ``annotation``; no other command can hide in it."""
    place = f"file={_property(plain(annotation.path, 400))},line={annotation.line},"
    title = f"title={_property(plain(annotation.title, 200))}"
    message = _data(plain_lines(annotation.message, _MESSAGE))
    return f"::error {place if annotation.path else ''}{title}::{message}"


def _annotations(report: PullRequestReport) -> Iterator[Annotation]:
    for note in report.refused:
        yield Annotation(note.path, 1, "Refused", f"{plain(note.path, 400)}: {note.reason}")
    if report.fault:
        yield Annotation("", 1, "Not graded to the end", report.fault)
    for each in report.failures:
        result = each.result
        failed = result.smallest_failed_case
        place = [f"case: {failed.spec}"] if failed else []
        message = "\n".join([result.message, *place, *mismatch_lines(result)])
        yield Annotation(each.path, each.line, str(result.verdict), message)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
