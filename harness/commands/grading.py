"""``submit`` and ``check``: files in, verdicts and times out."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness import signals
from harness.commands import common
from harness.commands.cards import head_start, open_judges
from harness.commands.choices import Choices, grading_options
from harness.commands.cluster import wanted_cluster
from harness.commands.jobs import Tally, job_batches
from harness.commands.recording import record
from harness.commands.stdin import STDIN
from harness.commands.streams import stdout_is_lost
from harness.errors import MachineError, ProblemError, UsageError
from harness.text.plain import plain

if TYPE_CHECKING:
    from harness.commands.results_file import ResultsFile
    from harness.commands.watch import SavedFiles
    from harness.grading.job import Job, Options
    from harness.records.refs import DeviceRef
    from harness.records.result import Result
    from leaderboard.store import Store


@click.command(short_help="Grade FILES, or folders of them, and record the results.")
@grading_options
@click.option(
    "--baselines",
    type=click.Choice(["first", "all"]),
    default="first",
    show_default=True,
    help="Also time the problem's further baselines, and show the best recorded solution.",
)
@click.option(
    "--quick",
    is_flag=True,
    help="For many files on a GPU: scores within about 1 %, in a third of the time; the same as "
    "--effort quick.",
)
@common.functional_times_option(common.TAKE_FUNCTIONAL_TIMES)
@click.option(
    "--resume",
    is_flag=True,
    help="Leave out files whose result is recorded already, as after an interrupted run.",
)
@common.store_option
@common.pass_choices(Choices)
def submit(choices: Choices) -> None:
    """Grade FILES (or all solutions in a folder) and record the results."""
    if choices.case:  # a replay of one case is not recorded
        if choices.resume:
            raise UsageError("--resume: with --case nothing is recorded, so all there is is run")
        sys.exit(_grade_all(choices))
    with common.open_store(choices.store) as store:
        sys.exit(_grade_all(choices, store))


@click.command()
@grading_options
@click.option(
    "--profile",
    is_flag=True,
    help="On a GPU with Nsight Compute: tell what each kernel of a call does.",
)
@common.pass_choices(Choices)
def check(choices: Choices) -> None:
    """Verdict only: no timing, nothing recorded."""
    sys.exit(_grade_all(choices))


def _grade_all(choices: Choices, store: Store | None = None) -> int:
    """Grade the files, with times if results are recorded in ``store``; returns the exit code."""
    from harness.solution.files import solution_files

    if choices.watch and choices.limit_s is not None:
        raise UsageError("--limit-s and --watch: one of them, since the one ends and the other not")
    if choices.watch and STDIN in choices.files:
        raise UsageError("--watch: standard input is read once; name a file")
    if choices.language is not None and STDIN not in choices.files:
        raise UsageError("--language: for standard input, the file -; a file's extension says it")
    if choices.profile and wanted_cluster() is not None:
        raise UsageError("--profile: on this machine alone: leave --cluster away")
    options = choices.options(timing=store is not None)
    # Before they are read: what is saved while they are graded must be seen.
    saved = _watched(choices.files) if choices.watch else None
    files = solution_files(choices.files)
    common.require_device(choices.device)
    tally = Tally(files, _rest(choices, recorded=store is not None))
    remedy = "grade them by themselves"
    if store is not None:
        remedy = "the same command with --resume goes on with them"
    with common.within(choices.limit_s, tally.left, remedy):
        _grade_files(files, choices, options, tally, store, saved)
    return tally.exit_code()


def _rest(choices: Choices, *, recorded: bool) -> str:
    """Where what a line leaves out of a result is."""
    if choices.json_to is not None:
        return "" if choices.json_to == "-" else f"all of each is in {plain(choices.json_to)}"
    if recorded:
        return "all of each: harness submissions list, harness submissions show ID"
    return "all of each: --json FILE"


def _whole(choices: Choices, recorded: str | None) -> str:
    """Where what a screen leaves out of one result is, which may be ``recorded`` under an id."""
    if choices.json_to is not None:
        return f"all of it is in {plain(choices.json_to)}"
    if recorded is not None:
        return f"all of it: harness submissions show {plain(recorded, 40)}"
    return "all of it: the same command piped into less"


def _grade_files(
    files: Sequence[Path],
    choices: Choices,
    options: Options,
    tally: Tally,
    store: Store | None,
    saved: SavedFiles | None,
) -> None:
    batches = job_batches(files, choices, tally)
    first = next(batches, [])
    if not first and saved is None:
        tally.tell()
        return

    # Not earlier: this takes time, and a wrong path or option is known at once.
    from harness.commands.resuming import Resumed
    from harness.grading.job import NotJudged, Work
    from harness.progress.progress import RunProgress, progress
    from harness.report.change import render_change
    from harness.report.terminal import render_line, render_on_screen, render_result

    # Of one file, its phases; of several, how far the run is, too.
    shown = [RunProgress(progress(), len(files), tally.known)] if tally.several else []
    work = [] if choices.resume else [Work(job, options) for job in first]  # else maybe done
    with (
        head_start(choices.device, choices.cards, work),
        open_judges(choices.device, choices.cards, *shown) as executor,
        _results_file(choices) as lines,
    ):
        if choices.profile:
            _require_profiler(executor.device)
        if choices.baselines == "all" and not options.on(executor.device).timing:
            click.echo("note: --baselines all: without a GPU nothing is timed", err=True)

        latest: dict[str, Result] = {}  # of each file, where they are watched

        def grade(jobs: Iterable[Job], tally: Tally) -> None:
            for outcome in executor.outcomes([Work(job, options) for job in jobs]):
                if isinstance(outcome, NotJudged):
                    tally.lose(outcome.work.job.path, outcome.error)
                    continue
                job, graded = outcome.work.job, outcome.result
                with signals.held():  # recorded, written and shown, or none of it
                    result = graded if store is None else _record(graded, job, store, choices)
                    if lines is not None:
                        lines.add(result)
                    if choices.json_to != "-":
                        before, console = latest.get(job.path), common.console()
                        rest = _whole(choices, None if store is None else result.id)
                        if before is not None:
                            render_change(before, result, console, rest)
                        elif not tally.several:
                            render_on_screen(result, console, rest)
                        else:
                            (render_line if result.accepted else render_result)(result, console)
                    if saved is not None:
                        latest[job.path] = result
                    tally.count(job.path, result.verdict)

        resumed = Resumed(store, executor.device, lines) if store and choices.resume else None
        try:
            for jobs in chain([first], batches):
                if store is not None:
                    _tell_lookalikes(jobs, store)
                grade(resumed.left(jobs, options, tally) if resumed else jobs, tally)
        finally:
            tally.tell()
        if saved is not None:
            _grade_saved(saved, choices, grade)


def _tell_lookalikes(jobs: Iterable[Job], store: Store) -> None:
    """Note on stderr which authors are new and could be taken for others."""
    from harness.commands.admission import lookalikes
    from harness.solution.model import Solution

    authors = {job.solution.author for job in jobs if isinstance(job.solution, Solution)}
    for note in lookalikes(authors, store.authors()):
        click.echo(note, err=True)


def _record(result: Result, job: Job, store: Store, choices: Choices) -> Result:
    def finish(result: Result) -> Result:
        if choices.baselines == "all":
            from leaderboard.best import with_best

            result = with_best(result, store.results(result.problem.slug))
        return _with_baseline_notes(result, store)

    return record(result, job.solution.submitted, store, finish)


def _with_baseline_notes(result: Result, store: Store) -> Result:
    """``result`` with a note where its baseline took longer than in other grades."""
    from leaderboard.history import RECENT, with_baseline_notes
    from leaderboard.store import Which

    which = Which(
        problem=result.problem.slug,
        verdict=result.verdict,
        dtype=result.dtype,
        device_kind=result.device.kind,
        device_name=result.device.name,
    )
    return with_baseline_notes(result, partial(store.newest, which, RECENT))


def _results_file(choices: Choices) -> contextlib.AbstractContextManager[ResultsFile | None]:
    if choices.json_to is None:
        return contextlib.nullcontext()
    from harness.commands.results_file import ResultsFile

    return contextlib.closing(ResultsFile(choices.json_to, resume=choices.resume))


def _grade_saved(
    saved: SavedFiles, choices: Choices, grade: Callable[[list[Job], Tally], None]
) -> None:
    """Grade files whenever they are saved, until interrupted, or nobody reads the results."""
    while choices.json_to not in (None, "-") or not stdout_is_lost():
        click.echo("waiting for changes; Ctrl-C ends", err=True)
        changed = saved.wait()
        click.echo("changed: " + ", ".join(plain(str(path)) for path in changed), err=True)
        tally = Tally(changed)
        try:
            for jobs in job_batches(changed, choices, tally):
                grade(jobs, tally)
        except (UsageError, ProblemError) as error:  # such as a file that is gone again
            common.print_error(error)
        tally.tell()
        for path in changed:
            if not os.path.lexists(path):
                saved.forget(path)


def _watched(files: tuple[Path, ...]) -> SavedFiles:
    from harness.commands.watch import SavedFiles
    from harness.solution.files import solution_files

    def present() -> list[Path]:
        try:
            return solution_files(files)
        except (UsageError, OSError):  # such as a folder that is empty just now
            return []

    return SavedFiles(present)


def _require_profiler(device: DeviceRef) -> None:
    """Refuse --profile where there is no profiler, before anything is graded."""
    from harness.judge.profile import REMEDY, find_profiler

    if device.emulated:
        raise UsageError("--profile: only a GPU's kernels can be profiled, and this is the CPU")
    if find_profiler() is None:
        raise MachineError(REMEDY)
