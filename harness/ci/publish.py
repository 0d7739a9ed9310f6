"""``harness publish``: an untrusted report becomes a comment, or rows of a board.

Checked: that it is a report, that it is about the given commit and the present problems, and that
its files are those of the commit. Its verdicts and times cannot be checked: who controlled the
machine may have made them up, so each recorded result names who measured it.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from harness.ci.changes import FILES
from harness.ci.markdown import code
from harness.ci.policy import author_folder
from harness.ci.report import MAX_BYTES as MAX_REPORT_BYTES
from harness.ci.report import PullRequestReport
from harness.ci.repository import Repository
from harness.ci.summary import comment
from harness.errors import UsageError
from harness.languages import LANGUAGES
from harness.problem.package import Problem
from harness.records.foreign import CLOCKS, complaint
from harness.records.result import Result
from harness.solution.contents import MAX_BYTES
from harness.text.plain import plain

_DAY = timedelta(days=1)
"""How far the clock of a contestant may be ahead."""
_RUN = timedelta(days=7)
"""How long a run takes at most."""
_VOUCHED = "published from a report; measured by "


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


def check_author(report: PullRequestReport, author: str, folders: Iterable[str]) -> None:
    """Check that ``report`` is about files in the one folder of ``author``.

    ``author`` is a login, as the host says; ``folders`` are the base's below ``solutions/``.

    Raises:
        UsageError: one lies in another folder, or the report names another author.
    """
    allowed = author_folder(author, folders)
    if report.author not in ("", allowed):
        raise UsageError(f"the report names the author {report.author}, and --author is {author}")
    for each in report.graded:
        if each.author != allowed:
            raise UsageError(
                f"{each.path} is not in the folder {allowed} of --author {author}; a maintainer "
                "may allow it with --any-author"
            )


def comment_on(report: PullRequestReport, measured_by: str | None) -> str:
    """The comment, which names who vouches for it: ``measured_by``, or else the pull request.

    Nobody vouches for times in the second case, so it has none.
    """
    if measured_by:
        return comment(report, "measured", f"Measured by {code(measured_by)}, whose word this is.")
    return comment(
        _without_times(report),
        "reported",
        "As a job of the pull request says, which it could change.",
    )


def _without_times(report: PullRequestReport) -> PullRequestReport:
    untimed = {"score": None, "measurements": (), "conditions": None, "profile": None}
    graded = tuple(
        each.model_copy(update={"result": each.result.model_copy(update=untimed)})
        for each in report.graded
    )
    return report.model_copy(update={"timed": False, "graded": graded})


def record(
    report: PullRequestReport,
    head: str,
    repository: Repository,
    problems: Mapping[str, Problem],
    *,
    measured_by: str,
    known: Callable[[str], Result | None],
    add: Callable[[Result], None],
) -> Iterator[tuple[str, str]]:
    """``add`` each timed result that fits this commit, with a note of who measured it.

    ``head`` is the full name of the commit that ``report`` must be about, ``problems`` has the
    present problems by slug, ``known`` finds a recorded result by its id.

    Yields:
        Each result's path, and why it was not added, if it was not.

    Raises:
        UsageError: the report is about another commit, or a file in it is not that of the commit.
        MachineError: git failed.
    """
    check_head(report, head)
    _check_sources(report, head, repository)
    committed = repository.date(head)
    for each in report.graded:
        result = each.result
        reason = (
            _unfit(result, problems)
            or _undated(result.created, report.created, committed)
            or _misnamed(result)
            or complaint(result)
        )
        if not reason:
            notes = (f"the machine that graded it says: {note}" for note in result.notes)
            vouched = (*notes, f"{_VOUCHED}{measured_by}")
            result = result.model_copy(update={"notes": vouched})
            reason = _taken(result, known(result.id))
        if not reason:
            add(result)
        yield each.path, reason


def _check_sources(report: PullRequestReport, head: str, repository: Repository) -> None:
    """Check that the graded files are those of the commit."""
    blobs = []
    for each in report.graded:
        file = repository.file(head, each.path)
        if file is None or file.mode not in FILES:
            raise UsageError(f"{each.path}: the commit {head} has no such file")
        blobs.append(file.blob)
    for each, size in zip(report.graded, repository.sizes(blobs), strict=True):
        if size > MAX_BYTES:
            raise UsageError(f"{each.path}: the commit has {size:,} bytes there: no submission")
    for each, content in zip(report.graded, repository.read(blobs), strict=True):
        # Empty for what could not be read as a submission; such a result is not recorded.
        if each.result.solution.hash not in ("", hashlib.sha256(content).hexdigest()):
            raise UsageError(f"{each.path}: the report is about another version of this file")


def _unfit(result: Result, problems: Mapping[str, Problem]) -> str:
    """Why a result is not recorded; empty if it is."""
    if result.score is None:
        return f"{result.verdict}, and nothing was timed"
    if not result.solution.hash:
        return "it does not say which file it is about"
    problem = problems.get(result.problem.slug)
    if problem is None or problem.hash != result.problem.hash:
        return "it is about another version of the problem"
    if result.dtype not in problem.dtypes:
        return f"the problem has no data type {result.dtype}"
    if result.device.emulated and result.score.ranked:
        return "times of a CPU are not ranked"
    return ""


def _undated(created: datetime, reported: datetime, committed: datetime | None) -> str:
    """Why a result cannot be of its date; empty if it can."""
    now = datetime.now(UTC)
    if max(created, reported) > now + CLOCKS:
        return "it was made in the future"
    if created > reported + CLOCKS:
        return "it was made after its report"
    if created < reported - _RUN:
        return f"it was made more than {_RUN.days} days before its report"
    # The contestant's own clock: one that is ahead of ours says nothing.
    if committed is not None and created < committed - _DAY and committed <= now + CLOCKS:
        return "it was made before the commit that it is about"
    return ""


def _misnamed(result: Result) -> str:
    """Why a file cannot be what a result says; empty if it can."""
    language = LANGUAGES.get(result.language)
    if language is None or not result.solution.path.endswith(language.suffix):
        return f"files like this are not in the language {result.language}"
    return ""


def _taken(result: Result, known: Result | None) -> str:
    """Why a result cannot be recorded beside the ``known`` one of its id; empty if it can."""
    if known is None or known.to_json() == result.to_json():
        return ""
    recorded = known.notes[-1] if known.notes else ""
    if known.model_copy(update={"notes": (*known.notes[:-1], *result.notes[-1:])}).to_json() == (
        result.to_json()
    ):
        return f"it is there already: {recorded}"
    return "another result with its id is there"
