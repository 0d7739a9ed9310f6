"""``harness publish``: an untrusted report becomes a comment, or rows of a board.

Checked: that it is a report, that it is about the given commit and the present problems, and that
its files are those of the commit. Its verdicts and times cannot be checked: who controlled the
machine may have made them up, so each recorded result names who measured it.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from harness.ci.markdown import code
from harness.ci.report import MAX_BYTES as MAX_REPORT_BYTES
from harness.ci.report import PullRequestReport
from harness.ci.repository import Repository
from harness.ci.summary import comment
from harness.errors import UsageError
from harness.languages.read import MAX_BYTES
from harness.records.foreign import complaint
from harness.records.result import Result
from harness.text.plain import plain


def read_report(path: Path) -> PullRequestReport:
    """The report in ``path``.

    Raises:
        UsageError: the file holds none; the message names what is wrong with it.
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
        reason = plain(str(error), 1000)
        raise UsageError(f"{shown}: not a report of this harness: {reason}") from error


def check_head(report: PullRequestReport, head: str) -> None:
    """Check that ``report`` is about the commit whose full name is ``head``.

    Raises:
        UsageError: it is about another.
    """
    if report.head != head:
        raise UsageError(f"the report is about {report.head}, not about --head {head}")


def comment_on(report: PullRequestReport, measured_by: str | None) -> str:
    """The comment, which names who vouches for it: ``measured_by``, or else the pull request."""
    if measured_by:
        return comment(report, "measured", f"Measured by {code(measured_by)}, whose word this is.")
    return comment(report, "reported", "As a job of the pull request says, which it could change.")


def record(
    report: PullRequestReport,
    head: str,
    repository: Repository,
    problems: Mapping[str, str],
    *,
    measured_by: str,
    add: Callable[[Result], None],
) -> Iterator[tuple[str, str]]:
    """``add`` each timed result that fits this commit, with a note of who measured it.

    ``head`` is the full name of the commit that ``report`` must be about, ``problems`` has the
    present hash of each problem by slug.

    Yields:
        Each result's path, and why it was not added, if it was not.

    Raises:
        UsageError: the report is about another commit, or a file in it is not that of the commit.
        MachineError: git failed.
    """
    check_head(report, head)
    _check_sources(report, head, repository)
    for each in report.graded:
        reason = _unfit(each.result, problems)
        if not reason:
            note = f"published from a report; measured by {measured_by}"
            add(each.result.model_copy(update={"notes": (*each.result.notes, note)}))
        yield each.path, reason


def _check_sources(report: PullRequestReport, head: str, repository: Repository) -> None:
    """Check that the graded files are those of the commit."""
    blobs_by_path = {entry.path: entry.blob for entry in repository.files(head, "solutions")}
    for each in report.graded:
        if each.path not in blobs_by_path:
            raise UsageError(f"{each.path}: the commit {head} has no such file")
    blobs = [blobs_by_path[each.path] for each in report.graded]
    for each, size in zip(report.graded, repository.sizes(blobs), strict=True):
        if size > MAX_BYTES:
            raise UsageError(f"{each.path}: the commit has {size:,} bytes there: no submission")
    for each, content in zip(report.graded, repository.read(blobs), strict=True):
        # Empty for what could not be read as a submission; such a result is not recorded.
        if each.result.solution.hash not in ("", hashlib.sha256(content).hexdigest()):
            raise UsageError(f"{each.path}: the report is about another version of this file")


def _unfit(result: Result, problems: Mapping[str, str]) -> str:
    """Why a result is not recorded; empty if it is."""
    if result.score is None:
        return f"{result.verdict}, and nothing was timed"
    if not result.solution.hash:
        return "it does not say which file it is about"
    if problems.get(result.problem.slug) != result.problem.hash:
        return "it is about another version of the problem"
    if result.device.emulated and result.score.ranked:
        return "times of a CPU are not ranked"
    return complaint(result)
