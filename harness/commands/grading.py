"""``submit`` and ``check``: files in, verdicts and times out."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness import signals
from harness.commands import common
from harness.commands.choices import Choices, grading_options
from harness.commands.recording import record
from harness.commands.streams import stdout_is_lost
from harness.errors import MachineError, ProblemError, UsageError
from harness.text.plain import plain
from harness.text.suggest import did_you_mean

if TYPE_CHECKING:
    from harness.commands.results_file import ResultsFile
    from harness.commands.watch import SavedFiles
    from harness.grading.job import Job, Options
    from harness.records.refs import DeviceRef
    from harness.records.result import Result, Verdict
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
        sys.exit(_grade_in_time(choices))
    with common.open_store(choices.store) as store:
        sys.exit(_grade_in_time(choices, store))


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
    sys.exit(_grade_in_time(choices))


def _grade_in_time(choices: Choices, store: Store | None = None) -> int:
    """As :func:`_grade_all`, within the time that was given; returns the exit code."""
    if choices.watch and choices.limit_s is not None:
        raise UsageError("--limit-s and --watch: one of them, since the one ends and the other not")
    run = _Run()
    remedy = "grade them by themselves"
    if store is not None:
        remedy = "the same command with --resume goes on with them"
    with common.within(choices.limit_s, run.left, remedy):
        _grade_all(choices, store, run)
    return common.exit_code(run.verdicts)


@dataclass(slots=True)
class _Run:
    """How far a run is: the files that are left, and the verdicts on the others."""

    left: list[str] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)


def _grade_all(choices: Choices, store: Store | None, run: _Run) -> None:
    """Grade the files, with times if results are recorded in ``store``."""
    from harness.languages.files import solution_files

    options = choices.options(timing=store is not None)
    # Before they are read: what is saved while they are graded must be seen.
    saved = _watched(choices.files) if choices.watch else None
    paths = solution_files(choices.files)
    run.left += map(str, paths)
    jobs = _jobs(paths, choices)

    # Not earlier: torch takes seconds to import, and a wrong path or option is known at once.
    from harness.grading.executor import open_executor
    from harness.grading.job import Work
    from harness.report.terminal import render_result

    with open_executor(choices.device) as executor, _results_file(choices) as lines:
        if choices.profile:
            _require_profiler(executor.device)

        def grade(jobs: Iterable[Job]) -> None:
            for work, graded in executor.grade([Work(job, options) for job in jobs]):
                with signals.held():  # recorded, written and shown, or none of it
                    result = graded if store is None else _record(graded, work.job, store, choices)
                    if lines is not None:
                        lines.add(result)
                    if choices.json_to != "-":
                        render_result(result, common.console())
                    run.verdicts.append(result.verdict)
                    if work.job.path in run.left:  # else it was saved anew
                        run.left.remove(work.job.path)

        if store is not None and choices.resume:
            jobs, run.verdicts = _not_recorded(jobs, options, executor.device, store, lines)
            run.left[:] = [job.path for job in jobs]
        grade(jobs)
        if saved is not None:
            _grade_saved(saved, choices, grade)


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


def _results_file(choices: Choices) -> contextlib.AbstractContextManager[ResultsFile | None]:
    if choices.json_to is None:
        return contextlib.nullcontext()
    from harness.commands.results_file import ResultsFile

    return contextlib.closing(ResultsFile(choices.json_to, resume=choices.resume))


def _not_recorded(
    jobs: list[Job],
    options: Options,
    device: DeviceRef,
    store: Store,
    lines: ResultsFile | None,
) -> tuple[list[Job], list[Verdict]]:
    """The jobs without a recorded result, and the verdicts of the others, which stderr lists.

    Afterwards ``lines``, if it is a file, has the results of the others, and none of the jobs.
    """
    from harness import __version__
    from harness.grading.job import chosen_dtype
    from harness.grading.resume import RecordedResults

    slugs = sorted({job.problem.slug for job in jobs})
    results = chain.from_iterable(map(store.recorded, slugs))
    first = lines.ids if lines is not None else ()
    recorded = RecordedResults(results, device, __version__, first)
    left, verdicts = [], []
    for job in jobs:
        verdict = recorded.take(job, chosen_dtype(job, options))
        if verdict is None:
            left.append(job)
        else:
            verdicts.append(verdict)
            click.echo(f"recorded already: {plain(job.path)} ({verdict})", err=True)
    if verdicts:
        click.echo(f"{len(verdicts)} recorded already, {len(left)} to grade", err=True)
    if lines is not None and lines.resumed:
        taken = set(recorded.taken)
        asked = {_graded_as(j.problem.slug, j.path, chosen_dtype(j, options)) for j in jobs}
        lines.keep(
            lambda r: (
                r.id in taken or _graded_as(r.problem.slug, r.solution.path, r.dtype) not in asked
            )
        )
        for result in store.named([each for each in recorded.taken if each not in lines.ids]):
            lines.add(result)
    return left, verdicts


def _graded_as(problem: str, path: str, dtype: str) -> tuple[str, str, str]:
    return problem, os.path.abspath(path), dtype  # noqa: PTH100 - a link is another file


def _grade_saved(
    saved: SavedFiles, choices: Choices, grade: Callable[[list[Job]], None]
) -> None:
    """Grade files whenever they are saved, until interrupted, or nobody reads the results."""
    while choices.json_to not in (None, "-") or not stdout_is_lost():
        click.echo("waiting for changes; Ctrl-C ends", err=True)
        changed = saved.wait()
        click.echo("changed: " + ", ".join(plain(str(path)) for path in changed), err=True)
        try:
            jobs = _jobs(changed, choices)
        except (UsageError, ProblemError) as error:  # such as a file that is gone again
            common.print_error(error)
            for path in changed:
                if not os.path.lexists(path):
                    saved.forget(path)
        else:
            grade(jobs)


def _watched(files: tuple[Path, ...]) -> SavedFiles:
    from harness.commands.watch import SavedFiles
    from harness.languages.files import solution_files

    def present() -> list[Path]:
        try:
            return solution_files(files)
        except (UsageError, OSError):  # such as a folder that is empty just now
            return []

    return SavedFiles(present)


def _jobs(paths: Iterable[Path], choices: Choices) -> list[Job]:
    root = common.problems_root(choices.problems_dir)
    about = {"problem": choices.problem, "author": choices.author, "dtype": choices.dtype}
    jobs = [job_of(path, root, **about) for path in paths]
    if choices.case:
        for job in jobs:
            job.problem.parse_case(choices.case)  # raises if it is none
    return jobs


def _require_profiler(device: DeviceRef) -> None:
    """Refuse --profile where there is no profiler, before anything is graded."""
    from harness.judge.profile import REMEDY, find_profiler

    if device.emulated:
        raise UsageError("--profile: only a GPU's kernels can be profiled, and this is the CPU")
    if find_profiler() is None:
        raise MachineError(REMEDY)


def job_of(
    path: Path,
    problems: Path,
    *,
    problem: str | None,
    author: str | None = None,
    dtype: str | None = None,
) -> Job:
    """The job of grading ``path``: the file as read and its problem, which lies in ``problems``.

    ``problem`` and ``author`` take the place of those in the path; ``dtype`` is only checked.

    Raises:
        UsageError: there is no such file, problem or data type, or no name of a problem.
        ProblemError: the problem's package has mistakes.
    """
    from harness.grading.job import Job
    from harness.languages.read import read_solution
    from harness.problem.format.load import find_problem
    from harness.problem.lookup import find_named
    from harness.solution.generation.notes import generation_notes, said_problem
    from harness.solution.model import Invalid

    if not os.path.lexists(path):
        raise UsageError(f"{plain(str(path))}: no such file")
    solution = read_solution(path, problem=problem, author=author)
    slug = problem or solution.problem
    if slug is None and isinstance(solution, Invalid) and solution.reference is None:
        raise UsageError(solution.message)
    if slug is None:
        raise UsageError(
            f"{plain(str(path))}: which problem? Put the file under solutions/<problem>/<author>/, "
            "or name it with --problem"
        )
    if slug == said_problem(solution):
        found = find_named(problems, slug, plain(str(path)))
    else:
        found = find_problem(problems, slug)
    if not found.complete:
        raise UsageError(f"{found.slug} cannot be graded yet: " + "; ".join(found.missing))
    if dtype is not None and dtype not in found.dtypes:
        hint = did_you_mean(dtype, found.dtypes)
        raise UsageError(f"--dtype {dtype}: {found.slug} has {', '.join(found.dtypes)}{hint}")
    notes = generation_notes(path, solution, found, problems)
    return Job(path=str(path), solution=solution, problem=found, notes=notes)
