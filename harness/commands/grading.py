"""``submit`` and ``check``: files in, verdicts and times out."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterable
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from harness.commands import common
from harness.commands.choices import Choices, grading_options
from harness.commands.jobs import Tally, job_batches
from harness.errors import MachineError, ProblemError, UsageError
from harness.text.plain import json_text, plain

if TYPE_CHECKING:
    from harness.commands.watch import SavedFiles
    from harness.grading.job import Job, Options
    from harness.grading.resume import RecordedResults
    from harness.records.refs import DeviceRef
    from harness.records.result import Result
    from leaderboard.store import Store


@click.command()
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
    help="For many files on a GPU: scores within about 1 %, in a third of the time.",
)
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
    from harness.languages.files import solution_files

    options = choices.options(timing=store is not None)
    # Before they are read: what is saved while they are graded must be seen.
    saved = _watched(choices.files) if choices.watch else None
    files = solution_files(choices.files)
    tally = Tally(len(files))
    batches = job_batches(files, choices, tally)
    first = next(batches, [])
    if not first and saved is None:
        tally.tell()
        return tally.exit_code()

    # Not earlier: torch takes seconds to import, and a wrong path or option is known at once.
    from harness.grading.executor import open_executor
    from harness.grading.job import NotJudged, Work
    from harness.report.terminal import render_result

    output = common.output_to(choices.json_to) if choices.json_to else contextlib.nullcontext()
    with open_executor(choices.device) as executor, output as file:
        if choices.profile:
            _require_profiler(executor.device)

        def grade(jobs: Iterable[Job], tally: Tally) -> None:
            for outcome in executor.outcomes([Work(job, options) for job in jobs]):
                if isinstance(outcome, NotJudged):
                    tally.lose(outcome.work.job.path, outcome.error)
                    continue
                work, graded = outcome
                result = graded if store is None else _record(graded, work.job, store, choices)
                if file is not None:
                    file.write(json_text(result.to_json()) + "\n")
                    file.flush()  # for programs that follow the file
                if choices.json_to != "-":
                    render_result(result, common.console())
                tally.verdicts.append(result.verdict)

        recorded = _Recorded(store, executor.device) if store and choices.resume else None
        try:
            for jobs in chain([first], batches):
                grade(recorded.left(jobs, options, tally) if recorded else jobs, tally)
        finally:
            tally.tell()
        if saved is not None:
            _grade_saved(saved, choices, grade)
    return tally.exit_code()


def _record(result: Result, job: Job, store: Store, choices: Choices) -> Result:
    if choices.baselines == "all":
        from leaderboard.best import with_best

        result = with_best(result, store.results(result.problem.slug))
    result = _with_baseline_notes(result, store)
    store.add(result, job.solution.submitted)
    return result


def _with_baseline_notes(result: Result, store: Store) -> Result:
    """``result`` with a note where its baseline took longer than in other grades."""
    from leaderboard.history import RECENT, with_baseline_notes
    from leaderboard.store import Which

    if result.score is None:
        return result
    which = Which(
        problem=result.problem.slug,
        verdict=result.verdict,
        dtype=result.dtype,
        device_kind=result.device.kind,
        device_name=result.device.name,
    )
    return with_baseline_notes(result, store.newest(which, RECENT))


class _Recorded:
    """What an earlier run has recorded on this device; read for each problem when it comes."""

    def __init__(self, store: Store, device: DeviceRef) -> None:
        self._store = store
        self._device = device
        self._known: dict[str, RecordedResults] = {}

    def left(self, jobs: list[Job], options: Options, tally: Tally) -> list[Job]:
        """The jobs without a recorded result; ``tally`` gets the verdicts of the others."""
        from harness.grading.job import chosen_dtype

        left = []
        for job in jobs:
            verdict = self._of(job.problem.slug).take(job, chosen_dtype(job, options))
            if verdict is None:
                left.append(job)
            else:
                tally.verdicts.append(verdict)
                click.echo(f"recorded already: {plain(job.path)} ({verdict})", err=True)
        if recorded := len(jobs) - len(left):
            click.echo(f"{recorded} recorded already, {len(left)} to grade", err=True)
        return left

    def _of(self, slug: str) -> RecordedResults:
        from harness import __version__
        from harness.grading.resume import RecordedResults

        if slug not in self._known:
            results = self._store.recorded(slug)
            self._known[slug] = RecordedResults(results, self._device, __version__)
        return self._known[slug]


def _grade_saved(
    saved: SavedFiles, choices: Choices, grade: Callable[[list[Job], Tally], None]
) -> NoReturn:
    """Grade files whenever they are saved, until interrupted."""
    while True:
        click.echo("waiting for changes; Ctrl-C ends", err=True)
        changed = saved.wait()
        click.echo("changed: " + ", ".join(plain(str(path)) for path in changed), err=True)
        tally = Tally(len(changed))
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
    from harness.languages.files import solution_files

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
