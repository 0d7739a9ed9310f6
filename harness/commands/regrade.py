"""``regrade``: the boards of this device, brought up to date."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness import __version__, signals
from harness.commands import common
from harness.commands.complete import problem_slugs
from harness.commands.recording import record

if TYPE_CHECKING:
    from harness.problem.package import Problem
    from harness.records.result import Result
    from leaderboard.store import Store


@click.command()
@click.argument("names", metavar="[PROBLEM]...", nargs=-1, shell_complete=problem_slugs)
@click.option("--all", "everything", is_flag=True, help="All on the boards, up to date or not.")
@common.device_option
@common.limit_option
@common.sandbox_option
@common.store_option
@common.problems_option
def regrade(
    names: tuple[str, ...],
    everything: bool,
    device: str,
    limit_s: float | None,
    store: str | None,
    problems_dir: Path | None,
) -> None:
    """Grade again what the boards show of another version of its problem or of the harness.

    Only results of the device at hand, and only files that are where they were, unchanged.
    PROBLEM is a slug [default: all]. Exit code 1 also if a solution was skipped.
    """
    from harness.problem.format.load import find_problem

    common.require_device(device)
    root = common.problems_root(problems_dir)
    sound, broken = common.load_all(root)
    current = {problem.slug: problem for problem in sound}
    with common.existing_store(store, write=True) as results:
        recorded = [r for r in results.results() if not names or r.problem.slug in names]
        for name in sorted(set(names) - {r.problem.slug for r in recorded}):
            find_problem(root, name)  # raises if there is none
        if any(r.problem.slug not in current for r in recorded):
            for error in broken:  # their results are skipped as if the problems were gone
                common.print_error(error)
        sys.exit(_regrade(recorded, current, device, results, limit_s, everything=everything))


def _regrade(
    recorded: list[Result],
    current: dict[str, Problem],
    device: str,
    store: Store,
    limit_s: float | None,
    *,
    everything: bool,
) -> int:
    """Grade again what needs it, one line each; 1 if any was skipped or not accepted."""
    from harness.grading.executor import open_executor
    from harness.grading.job import Options, Work
    from harness.grading.regrade import job_again
    from harness.report.regrade import closing_line, regraded_line, skipped_line
    from leaderboard.outdated import outdated

    work: list[Work] = []
    before: dict[int, Result] = {}
    skipped = 0
    left: list[str] = []
    verdicts = []
    remedy = "the same command goes on with what is not up to date"
    with common.within(limit_s, left, remedy), open_executor(device) as executor:
        old = outdated(
            recorded,
            current={slug: problem.hash for slug, problem in current.items()},
            harness=__version__,
            device=executor.device,
            everything=everything,
        )
        for result in old:
            job = job_again(result, current)
            if isinstance(job, str):
                click.echo(skipped_line(result, job))
            else:
                timed = result.score is not None  # without a GPU: as it was asked for then
                options = Options(dtype=result.dtype, functional_times=timed)
                work.append(Work(job, options))
                before[id(job)] = result
                left.append(job.path)
        skipped = len(old) - len(work)
        for done, after in executor.grade(work):
            with signals.held():
                record(after, done.job.solution.submitted, store)
                click.echo(regraded_line(before[id(done.job)], after))
                verdicts.append(after.verdict)
                left.remove(done.job.path)
    click.echo(closing_line(verdicts, skipped))
    return max(common.exit_code(verdicts), 1 if skipped else 0)
