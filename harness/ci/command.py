"""``harness ci``: find what a pull request changed, refuse it or grade it, write the reports."""

import contextlib
import os
import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import click
from rich.console import Console

from harness import __version__, signals
from harness.ci.annotations import annotations
from harness.ci.changes import LINK, SUBMODULE, Change, find_changes
from harness.ci.choices import CiChoices
from harness.ci.git import LimitError
from harness.ci.junit import junit
from harness.ci.lines import failing_line
from harness.ci.policy import FOLDER, GradingPlan, Note, author_folder, examine, place_of
from harness.ci.report import MAX_LISTED, FileOutcome, Graded, PullRequestReport
from harness.ci.repository import Repository, TreeEntry
from harness.ci.summary import SUMMARY_BYTES, comment, summary
from harness.errors import HarnessError, JudgeError, MachineError, TimeOverError, UsageError
from harness.formats.checkout import Checkout
from harness.formats.known import FORMATS
from harness.grading.job import Completed, Job, Options, Work
from harness.languages.read import read_solution
from harness.problem.format.load import find_problem, problem_slugs
from harness.problem.gradable import Gradable
from harness.report.terminal import render_result
from harness.solution.contents import MAX_BYTES
from harness.solution.model import Solution
from harness.text.output import write_whole
from harness.text.plain import json_text, plain
from harness.text.suggest import did_you_mean
from harness.text.system_errors import cannot_write

Grade = Callable[[Sequence[Work], str], Iterator[Completed]]
"""Grades files on ``auto``, ``cuda`` or ``cpu``; gives each with its result, in any order."""

_UNFINISHED = "not finished: what graded these files was ended, or is still at work"
"""The fault of a report that is written on the way."""

_EXIT_CODES = {
    FileOutcome.ACCEPTED: 0,
    FileOutcome.NOTHING: 0,
    FileOutcome.NOT_ACCEPTED: 1,
    FileOutcome.REFUSED: UsageError.exit_code,
    FileOutcome.FAULT: HarnessError.exit_code,
}


def run(choices: CiChoices, repository: Repository, grade: Grade | None = None) -> int:
    """Grade what the head changes, write the reports, print what a person should see.

    The reports are also written before the first file is graded and after each: whatever ends this
    process, they have what was found out by then.

    Returns:
        0 if all was accepted or nothing is to be graded, 1 if not, 3 after an INTERNAL_ERROR.

    Raises:
        UsageError: there is no base, or the changes are refused; the reports are written first.
        MachineError, HarnessError, ProblemError: not the contestant's doing; likewise.
        TimeOverError: ``choices.limit_s`` is over; likewise.
        KeyboardInterrupt: a signal ends the command; likewise.
    """
    report, error = review(
        choices, repository, grade or _judge, lambda so_far: _write_reports(so_far, choices.out)
    )
    with signals.held():
        _write_reports(report, choices.out)
        _append_summary(report)
    on_github = os.environ.get("GITHUB_ACTIONS") == "true"
    if on_github if choices.annotate is None else choices.annotate:
        for line in annotations(report):
            click.echo(line)
    if error is not None:
        raise error
    if report.refused:
        reasons = "\n".join(f"{plain(note.path)}: {note.reason}" for note in report.refused)
        raise UsageError(f"these changes are refused, and nothing was graded\n{reasons}")
    out = plain(str(choices.out))
    if report.graded:
        good = len(report.graded) - len(report.failures)
        click.echo(f"{good} of {len(report.graded)} accepted; reports are in {out}")
    else:
        click.echo(f"{report.outcome}; {out} says so")
    return _EXIT_CODES[report.outcome]


def review(
    choices: CiChoices,
    repository: Repository,
    grade: Grade,
    save: Callable[[PullRequestReport], None] = lambda _: None,
) -> tuple[PullRequestReport, JudgeError | KeyboardInterrupt | None]:
    """Find what changed, refuse it or grade it; the report, and what stopped the grading.

    ``save`` is given a report before the first file is graded and after each.

    Raises:
        UsageError: there is no base.
        MachineError: git failed.
    """
    base, head = _ends(choices, repository)
    found = _PullRequest(choices, base, repository.merge_base(base, head), head)
    found.examine(repository)
    if not found.plan.submissions or found.plan.refused:
        return found.report(), None
    try:
        with signals.limited(choices.limit_s):
            found.grade(repository, grade, save)
        return found.report(), None
    except LimitError as error:
        found.plan.refused.append(_unreadable(error))
        return found.report(), None
    except signals.OutOfTime as over:
        if not (rest := found.left()):
            return found.report(), None
        why = f"{over}, and {rest} not graded; give it longer, or split the pull request"
        return found.report(str(over), str(over)), TimeOverError(why)
    except JudgeError as error:
        return found.report(str(error), "the grading was stopped"), error
    except KeyboardInterrupt as ended:
        signals.accept()  # the reports come first
        why = str(ended) or "interrupted"
        return found.report(why, why), ended


class _PullRequest:
    """What is found out about the changes from the commit ``fork`` to ``head``."""

    def __init__(self, choices: CiChoices, base: str, fork: str, head: str) -> None:
        self.plan = GradingPlan()
        self._choices = choices
        self._base, self._fork, self._head = base, fork, head
        self._folders: Collection[str] = ()
        self._graded: list[Graded] = []

    def examine(self, repository: Repository) -> None:
        """Find what changed, and what of it is refused."""
        self._folders = repository.folders(self._base, FOLDER)
        try:
            changes = find_changes(repository, self._fork, self._head, FOLDER)
            self.plan = examine(changes, self._choices, self._folders)
            if not self.plan.refused:
                self.plan.refused.extend(_too_large(repository, self.plan.submissions))
        except (LimitError, MachineError) as error:  # the base was read before, so it is the head
            self.plan.refused.append(_unreadable(error))

    def grade(
        self, repository: Repository, grade: Grade, save: Callable[[PullRequestReport], None]
    ) -> None:
        """Grade what is to be graded; ``save`` gets a report before the first and after each."""
        plan = self.plan
        with tempfile.TemporaryDirectory(prefix="harness-ci-") as folder:
            problems = _write_problems(repository, self._base, Path(folder))
            _write(repository, plan.submissions, Path(folder))
            jobs = _jobs(plan, problems, Path(folder), self._choices)
            if not jobs or plan.refused:
                return
            save(self.report(_UNFINISHED, "not graded yet"))
            for each in _grade(jobs, plan, self._choices, grade):
                with signals.held():
                    self._graded.append(each)
                    save(self.report(_UNFINISHED, "not graded yet"))

    def left(self) -> int:
        """How many files are neither graded nor skipped."""
        return len(self.plan.submissions) - len(self._graded) - len(self.plan.skipped)

    def report(self, fault: str = "", rest: str = "") -> PullRequestReport:
        """What is known by now; ``rest`` is why the files that are left were not graded."""
        plan, author = self.plan, self._choices.author
        order = [change.path for change in plan.submissions]
        done = {each.path for each in self._graded} | {note.path for note in plan.skipped}
        left = [path for path in order if rest and path not in done]
        return PullRequestReport.of(
            created=datetime.now(UTC),
            harness=__version__,
            base=self._base,
            merge_base=self._fork,
            head=self._head,
            author="" if author is None else author_folder(author, self._folders),
            timed=_timed(self._choices, self._graded),
            executable_required=not self._choices.accept_not_executable,
            graded=sorted(self._graded, key=lambda each: order.index(each.path)),
            deleted=_listed(plan.deleted),
            ignored=_listed(plan.ignored),
            skipped=[*plan.skipped, *(Note(path=path, reason=rest) for path in left)],
            refused=plan.refused[:MAX_LISTED],
            fault=fault,
        )


def _timed(choices: CiChoices, graded: Sequence[Graded]) -> bool:
    emulated = any(each.result.device.emulated for each in graded)
    return not choices.check_only and (choices.functional_times or not emulated)


def _listed(paths: Sequence[str]) -> list[str]:
    more = len(paths) - MAX_LISTED
    return [*paths[:MAX_LISTED], *([f"… {more} more"] if more > 0 else [])]


def _unreadable(error: JudgeError) -> Note:
    remedy = "; split the pull request" if isinstance(error, LimitError) else ""
    return Note(path=FOLDER, reason=f"cannot be read: {error}{remedy}")


def _too_large(repository: Repository, submissions: Sequence[Change]) -> Iterator[Note]:
    sizes = repository.sizes([change.blob for change in submissions])
    for change, size in zip(submissions, sizes, strict=True):
        if size > MAX_BYTES:
            reason = f"is larger than {MAX_BYTES >> 20} MiB ({size:,} bytes)"
            yield Note(path=change.path, reason=reason)


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


def _write_problems(repository: Repository, base: str, folder: Path) -> Path:
    """Write the base's ``problems/`` below ``folder``; returns where."""
    entries = repository.files(base, "problems")
    if not entries:
        raise UsageError(f"the base {base[:12]} has no folder problems/")
    for entry in entries:
        if entry.mode in (LINK, SUBMODULE) or ".." in Path(entry.path).parts:
            raise UsageError(f"the base {base[:12]}: {entry.path} is not a file")
    _write(repository, entries, folder)
    return folder / "problems"


def _write(repository: Repository, files: Sequence[TreeEntry | Change], folder: Path) -> None:
    """Write ``files`` below ``folder``, each at its path, which the caller has checked."""
    contents = repository.read([file.blob for file in files])
    for file, content in zip(files, contents, strict=True):
        path = folder / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as new:
            new.write(content)


def _jobs(plan: GradingPlan, problems: Path, folder: Path, choices: CiChoices) -> list[Job]:
    """What can be graded; the rest is added to what is refused or skipped."""
    known = problem_slugs(problems)
    jobs = []
    # Relative, so that results name the path in the repository, not that of the folder.
    with contextlib.chdir(folder):
        foreign = Checkout(Path(problems.name))
        for path in (change.path for change in plan.submissions):
            place = place_of(path)
            assert place is not None, "examine() lets no other path through"
            slug = place.problem
            problem = _problem(slug, problems, known, foreign)
            if problem is not None:
                jobs.append(Job(path=path, solution=read_solution(Path(path)), problem=problem))
                continue
            hint = did_you_mean(slug, known)
            if slug.startswith(tuple(f"{name}-" for name in FORMATS)):
                hint = "; those of other formats lie below problems/, as in their own repository"
            reason = f"the base has no problem {slug} that can be graded{hint}"
            notes = plan.skipped if choices.other_changes else plan.refused
            notes.append(Note(path=path, reason=reason))
    return jobs


def _problem(
    slug: str, problems: Path, known: Collection[str], foreign: Checkout
) -> Gradable | None:
    """The problem of the base that can be graded, a package or one of another format."""
    if slug in known:
        found = find_problem(problems, slug)
        return found if found.complete else None
    if not slug.startswith(tuple(f"{name}-" for name in FORMATS)):
        return None
    with contextlib.suppress(UsageError):  # there is none at all
        return foreign.by_slug(slug)
    return None


def _grade(
    jobs: Sequence[Job], plan: GradingPlan, choices: CiChoices, grade: Grade
) -> Iterator[Graded]:
    options = Options(timing=not choices.check_only, functional_times=choices.functional_times)
    changes = {change.path: change for change in plan.submissions}
    console = Console()
    for done, result in grade([Work(job, options) for job in jobs], choices.device):
        change, solution = changes[done.job.path], done.job.solution
        text = solution.text if isinstance(solution, Solution) else ""
        yield Graded(
            path=change.path,
            kind=change.kind,
            old_path=change.old_path,
            line=failing_line(result, text),
            result=result,
        )
        render_result(result, console)


def _judge(work: Sequence[Work], device: str) -> Iterator[Completed]:
    # Not earlier: torch takes seconds to import, and mostly nothing is to be graded.
    from harness.grading.executor import open_executor

    with open_executor(device) as executor:
        yield from executor.grade(work)


def _write_reports(report: PullRequestReport, folder: Path) -> None:
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
            write_whole(folder / ".gitignore", "*\n")
    except OSError as error:
        raise cannot_write(f"--out {folder}", error) from error
    for name, text in files.items():
        write_whole(folder / name, text)


def _append_summary(report: PullRequestReport) -> None:
    """Add as much to GitHub's summary of the job, if there is one, as has room in it."""
    place = os.environ.get("GITHUB_STEP_SUMMARY")
    if not place:
        return
    try:
        with open(place, "a", encoding="utf-8") as file:
            room = SUMMARY_BYTES - file.tell()
            if room >= 1000:
                file.write(summary(report, room))
    except OSError as error:
        told = cannot_write(f"GITHUB_STEP_SUMMARY={place}", error)
        raise MachineError(str(told)) from error
