"""A report from a job that nobody vouches for becomes a comment, or rows of a board.

Nothing in it is believed but what can be checked: that it is a report, about the commit that was
asked for, of problems as they are here, and that its files are those of that commit. Its verdicts
and times are the word of whoever controlled the machine that it was made on, and each record that
is kept says whose.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from harness.ci.markdown import code
from harness.ci.report import MAX_BYTES as MAX_REPORT_BYTES
from harness.ci.report import PullRequestReport
from harness.ci.repository import Repository
from harness.ci.summary import comment
from harness.errors import UsageError
from harness.languages.read import MAX_BYTES
from harness.records.result import Result
from harness.text.plain import plain

_CLOCKS = timedelta(minutes=10)
"""How far the clock of another machine may be ahead."""


class PublishedResult(NamedTuple):
    """What became of one result of a report: ``reason`` says why it was not kept, if it was not."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Trusted:
    """What is known without the report: the commit, the repository, problems' hashes by slug."""

    head: str
    repository: Repository
    problems: Mapping[str, str]
    measured_by: str


def read_report(path: Path) -> PullRequestReport:
    """The report in ``path``, which may hold anything.

    Raises:
        UsageError: it is none; the message names what is wrong with it.
    """
    shown = plain(str(path))
    try:
        with path.open("rb") as file:
            content = file.read(MAX_REPORT_BYTES + 1)
    except OSError as error:
        raise UsageError(f"{shown}: cannot be read: {error.strerror}") from error
    if len(content) > MAX_REPORT_BYTES:
        raise UsageError(f"{shown}: is larger than {MAX_REPORT_BYTES >> 20} MiB")
    try:
        return PullRequestReport.from_json(content.decode("utf-8"))
    except ValueError as error:
        raise UsageError(
            f"{shown}: not a report of this harness: {plain(str(error), 1000)}"
        ) from error


def check_head(report: PullRequestReport, head: str) -> None:
    """See that ``report`` is about the commit whose full name is ``head``.

    Raises:
        UsageError: it is about another.
    """
    if report.head != head:
        raise UsageError(f"the report is about {report.head}, not about --head {head}")


def comment_on(report: PullRequestReport, measured_by: str | None) -> str:
    """A comment that says whose word it is: without ``measured_by`` that of the pull request."""
    if measured_by:
        return comment(report, "measured", f"Measured by {code(measured_by)}, whose word this is.")
    return comment(report, "reported", "As a job of the pull request says, which it could change.")


def record(
    report: PullRequestReport, known: Trusted, keep: Callable[[Result], None]
) -> list[PublishedResult]:
    """Hand every timed result that can be believed to be about this commit to ``keep``.

    Each gets a note that says who measured it.

    Raises:
        UsageError: the report is about another commit, or a file in it is not that of the commit.
        MachineError: git failed.
    """
    check_head(report, known.head)
    _check_sources(report, known)
    outcomes = []
    for each in report.graded:
        reason = _unfit(each.result, known.problems)
        if not reason:
            note = f"published from a report; measured by {known.measured_by}"
            keep(each.result.model_copy(update={"notes": (*each.result.notes, note)}))
        outcomes.append(PublishedResult(each.path, reason))
    return outcomes


def _check_sources(report: PullRequestReport, known: Trusted) -> None:
    """See that what was graded is what the commit holds."""
    there = {entry.path: entry.blob for entry in known.repository.files(known.head, "solutions")}
    for each in report.graded:
        if each.path not in there:
            raise UsageError(f"{each.path}: the commit {known.head} has no such file")
    blobs = [there[each.path] for each in report.graded]
    for each, size in zip(report.graded, known.repository.sizes(blobs), strict=True):
        if size > MAX_BYTES:
            raise UsageError(f"{each.path}: the commit has {size:,} bytes there: no submission")
    contents = known.repository.read(blobs)
    for each, content in zip(report.graded, contents, strict=True):
        # Empty for what could not be read as a submission; such a result is not kept.
        if each.result.solution.hash not in ("", hashlib.sha256(content).hexdigest()):
            raise UsageError(f"{each.path}: the report is about another version of this file")


def _unfit(result: Result, problems: Mapping[str, str]) -> str:
    """Why a result is not kept; empty if it is."""
    if result.score is None:
        return f"{result.verdict}, and nothing was timed"
    if not result.solution.hash:
        return "it does not say which file it is about"
    if problems.get(result.problem.slug) != result.problem.hash:
        return "it is about another version of the problem"
    if result.device.emulated and result.score.ranked:
        return "times of a CPU are not ranked"
    if result.created > datetime.now(UTC) + _CLOCKS:
        return "it was made in the future"
    return ""
