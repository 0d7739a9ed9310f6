"""The command: what changed, whether it may, what it is worth, and the files that say so."""

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import click
from rich.console import Console

from harness import __version__
from harness.ci.annotations import annotations
from harness.ci.changes import read_changes
from harness.ci.junit import junit
from harness.ci.lines import failing_line
from harness.ci.policy import GradingPlan, Rules, Submission, examine
from harness.ci.report import FileOutcome, Graded, Note, PullRequestReport
from harness.ci.repository import Repository
from harness.ci.summary import SUMMARY_BYTES, comment, summary
from harness.ci.tree import lay_problems, lay_submissions, too_large
from harness.errors import HarnessError, JudgeError, MachineError, UsageError
from harness.grading.job import Completed, Job, Options, Work
from harness.languages.read import read_solution
from harness.problem.format.load import find_problem, problem_slugs
from harness.report.terminal import render_result
from harness.solution.model import Solution
from harness.text.plain import json_text, plain
from harness.text.suggest import did_you_mean

Grade = Callable[[Sequence[Work], str], Iterator[Completed]]
"""Grades files on ``auto``, ``cuda`` or ``cpu``; gives each with its result, in any order."""

MAX_LISTED = 500
"""Paths of a kind in a report: a pull request may change a million files that are not looked at."""

_EXIT_CODES = {
    FileOutcome.ACCEPTED: 0,
    FileOutcome.NOTHING: 0,
    FileOutcome.NOT_ACCEPTED: 1,
    FileOutcome.REFUSED: UsageError.exit_code,
    FileOutcome.FAULT: HarnessError.exit_code,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CiChoices:
    """What the user may choose.

    Without ``base`` it is the branch in ``GITHUB_BASE_REF``. ``annotate`` ``None`` is for: where
    GitHub reads the log. With ``accept_not_executable``, NOT_EXECUTABLE_HERE is no failure.
    """

    base: str | None
    head: str = "HEAD"
    device: str = "auto"
    timing: bool = True
    out: Path = Path("build/ci")
    rules: Rules = field(default_factory=Rules)
    annotate: bool | None = None
    accept_not_executable: bool = False


@dataclass(slots=True)
class Findings:
    """What is known of a pull request so far; ``error`` is what stopped the grading."""

    base: str
    merge_base: str
    head: str
    plan: GradingPlan
    refused: list[Note] = field(default_factory=list)
    skipped: list[Note] = field(default_factory=list)
    graded: list[Graded] = field(default_factory=list)
    error: JudgeError | None = None

    def report(self, choices: CiChoices) -> PullRequestReport:
        """The finished record."""
        return PullRequestReport.of(
            created=datetime.now(UTC),
            harness=__version__,
            base=self.base,
            merge_base=self.merge_base,
            head=self.head,
            timed=choices.timing,
            executable_required=not choices.accept_not_executable,
            graded=self.graded,
            deleted=_listed(self.plan.deleted),
            ignored=_listed(self.plan.ignored),
            skipped=tuple(self.skipped),
            refused=self.refused[:MAX_LISTED],
            fault=str(self.error) if self.error else "",
        )


def _listed(paths: Sequence[str]) -> tuple[str, ...]:
    more = len(paths) - MAX_LISTED
    return (*paths[:MAX_LISTED], *([f"… {more} more"] if more > 0 else []))


def run(choices: CiChoices, repository: Repository, grade: Grade | None = None) -> int:
    """Grade what the head changes, write the files, print what a person should see.

    Returns:
        0 if all was accepted or nothing is to be graded, 1 if not, 3 after an INTERNAL_ERROR.

    Raises:
        UsageError: there is no base, or the changes are refused; the files are written first.
        MachineError, HarnessError, ProblemError: not the contestant's doing; likewise.
    """
    found = review(choices, repository, grade or _judge)
    report = found.report(choices)
    write_files(report, choices.out)
    _append_summary(report)
    if choices.annotate or (
        choices.annotate is None and os.environ.get("GITHUB_ACTIONS") == "true"
    ):
        for line in annotations(report):
            click.echo(line)
    if found.error is not None:
        raise found.error
    if report.refused:
        told = "\n".join(f"{plain(note.path)}: {note.reason}" for note in report.refused)
        raise UsageError(f"these changes are refused, and nothing was graded\n{told}")
    click.echo(_closing_line(report, choices.out))
    return _EXIT_CODES[report.outcome]


def review(choices: CiChoices, repository: Repository, grade: Grade) -> Findings:
    """Find what changed, refuse it or grade it.

    Raises:
        UsageError: there is no base.
        MachineError: git failed.
    """
    base, head = _ends(choices, repository)
    fork = repository.merge_base(base, head)
    plan = examine(read_changes(repository.changed(fork, head)), choices.rules)
    found = Findings(base, fork, head, plan, [Note(path=p, reason=why) for p, why in plan.refusals])
    if not found.refused:
        large = too_large(repository, plan.submissions)
        found.refused += [Note(path=p, reason=why) for p, why in large]
    if found.refused or not plan.submissions:
        return found
    with tempfile.TemporaryDirectory(prefix="harness-ci-") as folder:
        problems = lay_problems(repository, base, Path(folder))
        lay_submissions(repository, plan.submissions, Path(folder))
        try:
            chosen = _jobs(plan.submissions, problems, Path(folder), choices.rules, found)
            if not found.refused:
                _grade(chosen, choices, grade, found)
        except JudgeError as error:  # told when all that is known has been written
            found.error = error
    return found


def _ends(choices: CiChoices, repository: Repository) -> tuple[str, str]:
    """The base's commit and the head's."""
    if choices.base:
        base = repository.commit(choices.base, "--base")
    elif branch := os.environ.get("GITHUB_BASE_REF"):
        base = repository.base_of_branch(branch)
    else:
        raise UsageError(
            "what is it compared with? Name the branch or commit that it is to be merged into "
            "with --base"
        )
    return base, repository.commit(choices.head, "--head")


def _jobs(
    submissions: Iterable[Submission], problems: Path, folder: Path, rules: Rules, found: Findings
) -> list[tuple[Submission, Job]]:
    """What can be graded; the rest goes to what is refused or skipped."""
    known = problem_slugs(problems)
    # Relative, so that what is read and told is the path in the repository, not one of ours.
    with contextlib.chdir(folder):
        jobs = []
        for each in submissions:
            slug = each.place.problem
            if slug in known and (problem := find_problem(problems, slug)).complete:
                path = each.change.path
                jobs.append(
                    (each, Job(path=path, solution=read_solution(Path(path)), problem=problem))
                )
                continue
            reason = f"the base has no problem {slug} that can be graded{did_you_mean(slug, known)}"
            kind = found.skipped if rules.other_changes else found.refused
            kind.append(Note(path=each.change.path, reason=reason))
    return jobs


def _grade(
    chosen: Sequence[tuple[Submission, Job]], choices: CiChoices, grade: Grade, found: Findings
) -> None:
    """Grade one after the other; what was graded is kept if something stops it."""
    options = Options(timing=choices.timing)
    work = [Work(job, options) for _, job in chosen]
    submissions = {id(job): submission for submission, job in chosen}
    place = {submission.change.path: number for number, (submission, _) in enumerate(chosen)}
    console = Console()
    for done, result in grade(work, choices.device) if work else ():
        submission, solution = submissions[id(done.job)], done.job.solution
        text = solution.text if isinstance(solution, Solution) else ""
        found.graded.append(
            Graded(
                path=submission.change.path,
                kind=submission.change.kind,
                old_path=submission.change.old_path,
                line=failing_line(result, text),
                result=result,
            )
        )
        # Files are reported in the order of the changes, whichever was done first.
        found.graded.sort(key=lambda each: place[each.path])
        render_result(result, console)


def _judge(work: Sequence[Work], device: str) -> Iterator[Completed]:
    # Not earlier: torch takes seconds to import, and mostly nothing is to be graded.
    from harness.device.choose import open_device
    from harness.grading.executor import InProcess
    from harness.progress.progress import progress

    with InProcess(open_device(device), progress()) as executor:
        yield from executor.grade(work)


def write_files(report: PullRequestReport, folder: Path) -> None:
    """Write ``summary.md``, ``comment.md``, ``junit.xml`` and ``report.json``.

    A folder that is not there is made, and git told to ignore what is in it.

    Raises:
        UsageError: they cannot be written.
    """
    files = {
        "summary.md": summary(report),
        "comment.md": comment(report),
        "junit.xml": junit(report),
        "report.json": json_text(report.to_json(indent=2)) + "\n",
    }
    try:
        if not folder.exists():
            folder.mkdir(parents=True)
            # In a clone the next `git add` would make them a part of the pull request.
            (folder / ".gitignore").write_text("*\n", encoding="utf-8")
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"--out {plain(str(folder))}: cannot write: {error.strerror}") from error


def _append_summary(report: PullRequestReport) -> None:
    """Add to the summary of the job, if GitHub asks for one, what there is still room for."""
    place = os.environ.get("GITHUB_STEP_SUMMARY")
    if not place:
        return
    try:
        with open(place, "a", encoding="utf-8") as file:
            room = SUMMARY_BYTES - file.tell()
            if room >= 1000:
                file.write(summary(report, room))
    except OSError as error:
        raise MachineError(f"GITHUB_STEP_SUMMARY={place}: {error.strerror}") from error


def _closing_line(report: PullRequestReport, out: Path) -> str:
    if not report.graded:
        return f"{report.outcome}; {plain(str(out))} says so"
    good = len(report.graded) - len(report.failures)
    return f"{good} of {len(report.graded)} accepted; reports are in {plain(str(out))}"
