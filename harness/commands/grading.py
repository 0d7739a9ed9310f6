"""``submit`` and ``check``: files in, verdicts and times out."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from harness.commands.common import (
    device_option,
    open_store,
    output_to,
    problems_option,
    problems_root,
    sandbox_option,
    say_error,
    status_of,
    store_option,
)
from harness.commands.complete import dtypes, problem_slugs
from harness.commands.resume import not_recorded
from harness.errors import MachineError, ProblemError, UsageError
from harness.text.plain import json_text, plain

if TYPE_CHECKING:
    from harness.commands.watch import SavedFiles
    from harness.device.base import Device
    from harness.grading.job import Job, Options
    from harness.problem.model import Problem
    from harness.records.result import Result, Verdict


def _architecture(_context: click.Context, _option: click.Parameter, value: str) -> str:
    """Refuse what is no architecture: that it cannot be built for would be the submission's."""
    from harness.solution.model import ARCHITECTURE, KNOWN_ARCHITECTURES

    if not ARCHITECTURE.fullmatch(value) or value.rstrip("af") not in KNOWN_ARCHITECTURES:
        raise UsageError(
            f"--arch {plain(value, 60)}: no GPU has that architecture "
            f"(such as {', '.join(KNOWN_ARCHITECTURES)})"
        )
    return value


def _grading_options(command: Any) -> Any:
    """The options that submit and check share."""
    options = [
        click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path)),
        click.option(
            "--problem",
            shell_complete=problem_slugs,
            help="Slug [default: from solutions/<problem>/<author>/…].",
        ),
        click.option("--author", help="Author [default: from the path]."),
        device_option,
        click.option(
            "--dtype",
            shell_complete=dtypes,
            help="What [VAR] stands for [default: the problem's first].",
        ),
        click.option("--seed", help="Seed of an earlier grade, to draw the same cases again."),
        click.option("--case", help='Run one case only, such as "m=33,n=1,k=7,alpha=-0.5".'),
        click.option(
            "--arch",
            default="sm_90",
            show_default=True,
            callback=_architecture,
            help="Without a GPU: the architecture to compile for as well.",
        ),
        click.option(
            "--no-shrink",
            is_flag=True,
            help="Report the first case that fails; do not look for a smaller one.",
        ),
        click.option(
            "--watch", is_flag=True, help="Go on: grade a file again whenever it is saved."
        ),
        sandbox_option,
        click.option(
            "--json", "json_to", metavar="FILE|-", help="Write the result as JSON; - for stdout."
        ),
        problems_option,
    ]
    for option in reversed(options):
        command = option(command)
    return command


@click.command()
@_grading_options
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
@store_option
def submit(files: tuple[Path, ...], store: str | None, **choices: Any) -> None:
    """Grade FILES (or all solutions in a folder) and record the results."""
    if choices["case"]:  # a replay of one case is no entry
        if choices["resume"]:
            raise UsageError("--resume: with --case nothing is recorded, so all there is is run")
        sys.exit(_grade_all(files, choices, timing=False))
    with open_store(store) as results:

        def keep(result: Result, job: Job) -> Result:
            if choices["baselines"] == "all":
                from leaderboard.best import with_best

                result = with_best(result, results.results(result.problem.slug))
            results.add(result, job.solution.submitted)
            return result

        known = results.recorded if choices["resume"] else None
        sys.exit(_grade_all(files, choices, timing=True, keep=keep, known=known))


@click.command()
@_grading_options
@click.option(
    "--profile",
    is_flag=True,
    help="On a GPU with Nsight Compute: tell what each kernel of a call does.",
)
def check(files: tuple[Path, ...], **choices: Any) -> None:
    """Verdict only: no timing, nothing recorded."""
    sys.exit(_grade_all(files, choices, timing=False))


def _grade_all(
    files: tuple[Path, ...],
    choices: dict[str, Any],
    *,
    timing: bool,
    keep: Callable[[Result, Job], Result] = lambda result, _: result,
    known: Callable[[str], Iterable[Result]] | None = None,
) -> int:
    """Grade one file after the other; 1 if any was not accepted. ``keep`` may add to a result.

    ``known`` gives the results of a problem that stand for files that are not graded again.
    """
    from harness.grading.job import SHRINK_S, Options, Work
    from harness.languages.files import solution_files

    options = Options(
        dtype=choices["dtype"],
        seed=choices["seed"],
        case=choices["case"],
        timing=timing,
        arch=choices["arch"],
        shrink_s=0.0 if choices["no_shrink"] else SHRINK_S,
        all_baselines=choices.get("baselines") == "all",
        profile=choices.get("profile", False),
        quick=choices.get("quick", False),
    )
    # Before they are read: what is saved while they are graded must be seen.
    saved = _watched(files) if choices["watch"] else None
    jobs = _jobs(solution_files(files), choices, options)

    # Not earlier: torch takes seconds to import, and what was wrong until here is known at once.
    from harness.device.choose import open_device
    from harness.grading.executor import InProcess
    from harness.progress.progress import progress

    _check_case(jobs, options)
    device = open_device(choices["device"])
    if options.profile:
        _require_profiler(device)
    shown = progress()
    with (
        _json_writer(choices["json_to"]) as write_json,
        InProcess(device, shown) as executor,
    ):

        def grade(jobs: list[Job], verdicts: Sequence[Verdict] = ()) -> int:
            verdicts = list(verdicts)
            for work, graded in executor.grade([Work(job, options) for job in jobs]):
                result = keep(graded, work.job)
                shown.finish()
                write_json(result)
                if choices["json_to"] != "-":
                    show(result)
                verdicts.append(result.verdict)
            return status_of(verdicts)

        left, verdicts = not_recorded(jobs, options, device, known) if known else (jobs, [])
        status = grade(left, verdicts)
        if saved is not None:
            _grade_saved(saved, choices, options, grade)
    return status


def _grade_saved(
    saved: SavedFiles, choices: dict[str, Any], options: Options, grade: Callable[[list[Job]], int]
) -> NoReturn:
    """Grade what is saved, each time anew, until it is interrupted."""
    while True:
        click.echo("waiting for changes; Ctrl-C ends", err=True)
        changed = saved.wait()
        click.echo("changed: " + ", ".join(plain(str(path)) for path in changed), err=True)
        try:
            jobs = _jobs(changed, choices, options)
            _check_case(jobs, options)
        except (UsageError, ProblemError) as error:  # a mistake of the moment
            say_error(error)
            for path in changed:
                if not os.path.lexists(path):
                    saved.forget(path)
        else:
            grade(jobs)


def _jobs(paths: Iterable[Path], choices: dict[str, Any], options: Options) -> list[Job]:
    root = problems_root(choices["problems_dir"])
    jobs = [job_of(path, choices, root) for path in paths]
    for job in jobs:
        check_dtype(job.problem, options)
    return jobs


def _check_case(jobs: Iterable[Job], options: Options) -> None:
    from harness.problem.case import parse_case

    if options.case:
        for job in jobs:
            parse_case(job.problem, options.case)


def _require_profiler(device: Device) -> None:
    """Say that a profile cannot be had before anything is graded for it."""
    from harness.judge.profile import REMEDY, find_profiler

    if device.emulated:
        raise UsageError("--profile: only a GPU's kernels can be profiled, and this is the CPU")
    if find_profiler() is None:
        raise MachineError(REMEDY)


def check_dtype(problem: Problem, options: Options) -> None:
    """Refuse a data type that ``problem`` does not have.

    Raises:
        UsageError: with the ones it has.
    """
    from harness.text.suggest import did_you_mean

    if options.dtype is not None and options.dtype not in problem.dtypes:
        hint = did_you_mean(options.dtype, problem.dtypes)
        allowed = ", ".join(problem.dtypes)
        raise UsageError(f"--dtype {options.dtype}: {problem.slug} has {allowed}{hint}")


def _watched(files: tuple[Path, ...]) -> SavedFiles:
    from harness.commands.watch import SavedFiles

    return SavedFiles(lambda: _files_there(files))


def _files_there(paths: tuple[Path, ...]) -> list[Path]:
    """As :func:`harness.languages.files.solution_files`, of what is there at the moment."""
    from harness.languages.files import solution_files

    try:
        return solution_files(paths)
    except (UsageError, OSError):  # a folder that has nothing in it just now
        return []


def job_of(path: Path, choices: dict[str, Any], problems: Path) -> Job:
    """A file, what it holds, and the problem it is meant for."""
    from harness.grading.job import Job
    from harness.languages.read import read_solution
    from harness.problem.format.load import find_problem
    from harness.problem.lookup import find_named
    from harness.solution.generation.notes import generation_notes, said_problem
    from harness.solution.model import Invalid

    if not os.path.lexists(path):
        raise UsageError(f"{plain(str(path))}: no such file")
    solution = read_solution(path, problem=choices["problem"], author=choices["author"])
    slug = choices["problem"] or solution.problem
    if slug is None and isinstance(solution, Invalid) and solution.reference is None:
        raise UsageError(solution.message)
    if slug is None:
        raise UsageError(
            f"{plain(str(path))}: which problem? Put the file under solutions/<problem>/<author>/, "
            "or name it with --problem"
        )
    if slug == said_problem(solution):
        problem = find_named(problems, slug, plain(str(path)))
    else:
        problem = find_problem(problems, slug)
    if not problem.complete:
        raise UsageError(f"{problem.slug} cannot be graded yet: " + "; ".join(problem.missing))
    notes = generation_notes(path, solution, problem, problems)
    return Job(path=str(path), solution=solution, problem=problem, notes=notes)


@contextlib.contextmanager
def _json_writer(target: str | None) -> Iterator[Any]:
    """Writes each result as one JSON object on a line of its own."""
    if target is None:
        yield lambda _: None
    elif target == "-":
        yield lambda result: click.echo(json_text(result.to_json()))
    else:
        with output_to(target) as file:

            def write(result: Result) -> None:
                file.write(json_text(result.to_json()) + "\n")
                file.flush()  # who watches is told now

            yield write


def show(result: Result) -> None:
    """Print ``result`` for a person."""
    from rich.console import Console

    from harness.report.terminal import render_result

    render_result(result, Console())
