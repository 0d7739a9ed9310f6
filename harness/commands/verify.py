"""``verify``: problem packages checked one after the other."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.commands.cards import card_option, cards_option, open_judges
from harness.commands.choices import checked_seed, tolerance_option
from harness.commands.cluster import cluster_options, wanted_cluster
from harness.commands.common import (
    console,
    device_option,
    problems_option,
    problems_root,
    require_device,
)
from harness.commands.complete import problem_slugs
from harness.errors import ProblemError, UsageError
from harness.text.plain import plain

if TYPE_CHECKING:
    from harness.progress.progress import Progress
    from harness.verify.findings import PackageReport
    from harness.verify.verify import VerifyChoices


@click.command(short_help="Let problem packages prove themselves.")
@click.argument("names", metavar="[PROBLEM]...", nargs=-1, shell_complete=problem_slugs)
@device_option
@card_option
@cards_option
@cluster_options
@click.option("--dtype", help="What [VAR] stands for [default: all that are declared].")
@click.option(
    "--grades",
    type=click.IntRange(1, 1000),
    default=2,
    show_default=True,
    help="With how many random grades impostors and honest variants are tried.",
)
@click.option("--no-examples", is_flag=True, help="Do not build and grade examples and solutions.")
@click.option("--no-impostors", is_flag=True, help="Try honest variants alone: many grades sooner.")
@tolerance_option
@click.option(
    "--seed", callback=checked_seed, help="Seed of an earlier run, to draw the same cases again."
)
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@problems_option
def verify(
    names: tuple[str, ...],
    device: str,
    cards: str | None,
    dtype: str | None,
    grades: int,
    no_examples: bool,
    no_impostors: bool,
    tolerance: str,
    seed: str | None,
    as_json: bool,
    problems_dir: Path | None,
) -> None:
    """Let problem packages prove themselves: PROBLEM is a slug or a folder [default: all].

    Of problems in other formats, at or below a path, it says which impostors they accept.
    """
    from harness.problem.format.load import package_folders

    paths = [name for name in names if _is_foreign(name, problems_dir)]
    ours = [name for name in names if name not in paths]
    folders = package_folders(problems_root(problems_dir), ours) if ours or not names else []
    elsewhere = {"--cluster": wanted_cluster(), "--cards": cards}
    several = next((option for option, value in elsewhere.items() if value is not None), None)
    if paths and several:
        raise UsageError(f"{several}: {plain(paths[0])} is of another format: leave {several} away")
    require_device(device)
    # Not earlier: torch takes seconds to import, and a wrong name is known at once.
    from harness.problem.sampling.cases import fresh_seed
    from harness.progress.progress import progress
    from harness.verify.render import render_report, render_total, reports_json
    from harness.verify.verify import VerifyChoices

    if dtype is not None:
        folders = [folder for folder in folders if _may_declare(folder, dtype)]
        if not folders and not paths:
            raise UsageError(f"--dtype {dtype}: none of these problems has it")
    choices = VerifyChoices(
        dtypes=None if dtype is None else (dtype,),
        grades=grades,
        examples=not no_examples,
        impostors=not no_impostors,
        seed=seed or fresh_seed(),
    )
    bar, terminal = progress(), console()
    reports: dict[Path | str, PackageReport] = {}
    try:
        for key, report in chain(
            _reports(folders, choices, device, cards, bar),
            _foreign_reports(paths, choices, device, bar, measured=tolerance == "measured"),
        ):
            reports[key] = report
            bar.finish()
            if not as_json:
                render_report(report, terminal)
    finally:
        bar.finish()
        # In the order in which they were named; several cards are done in any.
        found = [reports.pop(folder) for folder in folders if folder in reports]
        found += reports.values()
        if as_json and found:
            click.echo(reports_json(found))
    if not as_json and len(found) > 1:
        render_total(found, terminal)
    sys.exit(1 if any(report.errors for report in found) else 0)


def _reports(
    folders: Sequence[Path],
    choices: VerifyChoices,
    device: str,
    cards: str | None,
    bar: Progress,
) -> Iterator[tuple[Path | str, PackageReport]]:
    """The report on each package, as soon as it is there: on several cards in any order."""
    from harness.device.choose import open_device
    from harness.grading.cards import Cards
    from harness.verify.errand import PackageErrand, TravellingPackage
    from harness.verify.findings import PackageReport
    from harness.verify.verify import VerifyStopped
    from harness.verify.verify import verify as verify_package

    if cards is None and wanted_cluster() is None:
        where = open_device(device)
        where.settle()
        for folder in folders:
            try:
                yield folder, verify_package(folder, choices, where, bar)
            except VerifyStopped as stopped:
                yield folder, stopped.report
                raise
        return
    carry = PackageErrand if wanted_cluster() is None else TravellingPackage.of
    with open_judges(device, cards, bar) as judges:
        assert isinstance(judges, Cards)
        for answer in judges.answers([carry(folder, choices) for folder in folders]):
            if answer.error is not None:
                raise answer.error
            assert isinstance(answer.value, PackageReport)
            yield folders[answer.number], answer.value


def _foreign_reports(
    paths: Sequence[str], choices: VerifyChoices, device: str, bar: Progress, *, measured: bool
) -> Iterator[tuple[Path | str, PackageReport]]:
    """The report on each problem of another format at or below these paths."""
    from harness.device.choose import open_device
    from harness.formats.known import problems_in
    from harness.formats.problem import Foreign
    from harness.verify.foreign import verify_foreign

    for number, source in enumerate(chain.from_iterable(map(problems_in, map(Path, paths)))):
        problem = Foreign(source=source, measured=measured)
        bar.phase(problem.slug)
        report = verify_foreign(problem, choices.seed, choices.grades, open_device(device), bar)
        yield f"{number} {problem.slug}", report


def _is_foreign(name: str, problems_dir: Path | None) -> bool:
    """Whether a name is a path at or below which there are problems of other formats."""
    from harness.formats.known import problems_in
    from harness.problem.model import STATEMENT_FILE

    folders = (Path(name), problems_root(problems_dir) / name)
    if not os.path.lexists(name) or any((each / STATEMENT_FILE).is_file() for each in folders):
        return False
    return next(problems_in(Path(name)), None) is not None


def _may_declare(folder: Path, dtype: str) -> bool:
    """Whether the package has ``dtype``, or does not load, which its report will say."""
    from harness.problem.format.load import load_problem

    try:
        return dtype in load_problem(folder).dtypes
    except ProblemError:
        return True
