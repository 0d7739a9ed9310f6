"""``regrade``: the boards of this device, brought up to date."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness import __version__, signals
from harness.commands import common
from harness.commands.cards import card_option, cards_option, open_judges
from harness.commands.cluster import cluster_options
from harness.commands.complete import problem_slugs
from harness.commands.recording import record
from harness.text.numbers import counted

if TYPE_CHECKING:
    from harness.grading.cards import Cards
    from harness.grading.executor import InProcess
    from harness.problem.gradable import Gradable
    from harness.records.result import Result
    from leaderboard.store import Store


@click.command(short_help="Grade again what a new version of a problem outdates.")
@click.argument("names", metavar="[PROBLEM]...", nargs=-1, shell_complete=problem_slugs)
@click.option("--all", "everything", is_flag=True, help="All on the boards, up to date or not.")
@common.device_option
@card_option
@cards_option
@cluster_options
@common.limit_option
@common.sandbox_option
@common.store_option
@common.problems_option
def regrade(
    names: tuple[str, ...],
    everything: bool,
    device: str,
    cards: str | None,
    limit_s: float | None,
    store: str | None,
    problems_dir: Path | None,
) -> None:
    """Grade again what the boards show of another version of its problem or of the harness.

    Only results of the device at hand, and only files that are where they were, unchanged.
    PROBLEM is a slug [default: all packages], or a path with problems of other formats. Exit code
    1 also if a solution was skipped.
    """
    from harness.formats.checkout import Checkout
    from harness.problem.format.load import find_problem

    common.require_device(device)
    root = common.problems_root(problems_dir)
    sound, broken = common.load_all(root)
    current: dict[str, Gradable] = {problem.slug: problem for problem in sound}
    paths = [name for name in names if name not in current and os.path.lexists(name)]
    foreign = {
        problem.slug: problem
        for path in paths
        for measured in (False, True)
        for problem in Checkout(Path(path), measured=measured).problems()
    }
    slugs = {*names, *foreign}.difference(paths)
    current |= foreign
    with common.existing_store(store, write=True) as results:
        recorded = [r for r in results.results() if not names or r.problem.slug in slugs]
        if not names:
            recorded = _of_packages(recorded)
        for name in sorted(set(names) - {r.problem.slug for r in recorded} - set(paths)):
            find_problem(root, name)  # raises if there is none
        if any(r.problem.slug not in current for r in recorded):
            for error in broken:  # their results are skipped as if the problems were gone
                common.print_error(error)
        on = {result.device.name for result in recorded if not result.device.emulated}
        board = on.pop() if len(on) == 1 else None
        opened = partial(open_judges, device, cards, board=board)
        sys.exit(_regrade(recorded, current, opened, results, limit_s, everything=everything))


def _of_packages(recorded: list[Result]) -> list[Result]:
    """Those that are of packages; where others are left out, a line says how they are named."""
    ours = [result for result in recorded if not result.problem.format]
    if others := len(recorded) - len(ours):
        click.echo(
            f"note: {counted(others, 'result')} of problems in other formats left out: name the "
            "folder that they were checked out to, harness regrade PATH",
            err=True,
        )
    return ours


def _regrade(
    recorded: list[Result],
    current: dict[str, Gradable],
    opened: Callable[[], InProcess | Cards],
    store: Store,
    limit_s: float | None,
    *,
    everything: bool,
) -> int:
    """Grade again what needs it, one line each; 1 if any was skipped or not accepted."""
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
    with common.within(limit_s, left, remedy), opened() as executor:
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
