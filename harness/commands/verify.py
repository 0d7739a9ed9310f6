"""``verify``: problem packages checked one after the other."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from harness.commands.common import (
    console,
    device_option,
    problems_option,
    problems_root,
    require_device,
)
from harness.commands.complete import problem_slugs
from harness.errors import ProblemError, UsageError


@click.command()
@click.argument("names", metavar="[PROBLEM]...", nargs=-1, shell_complete=problem_slugs)
@device_option
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
@click.option("--seed", help="Seed of an earlier run, to draw the same cases again.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@problems_option
def verify(
    names: tuple[str, ...],
    device: str,
    dtype: str | None,
    grades: int,
    no_examples: bool,
    no_impostors: bool,
    seed: str | None,
    as_json: bool,
    problems_dir: Path | None,
) -> None:
    """Let problem packages prove themselves: PROBLEM is a slug or a folder [default: all]."""
    from harness.problem.format.load import package_folders

    folders = package_folders(problems_root(problems_dir), names)
    require_device(device)
    # Not earlier: torch takes seconds to import, and a wrong name is known at once.
    from harness.device.choose import open_device
    from harness.problem.sampling.cases import fresh_seed
    from harness.progress.progress import progress
    from harness.verify.render import render_report, render_total, reports_json
    from harness.verify.verify import VerifyChoices
    from harness.verify.verify import verify as verify_package

    if dtype is not None:
        folders = [folder for folder in folders if _may_declare(folder, dtype)]
        if not folders:
            raise UsageError(f"--dtype {dtype}: none of these problems has it")
    choices = VerifyChoices(
        dtypes=None if dtype is None else (dtype,),
        grades=grades,
        examples=not no_examples,
        impostors=not no_impostors,
        seed=seed or fresh_seed(),
    )
    where, bar, terminal = open_device(device), progress(), console()
    reports = []
    try:
        for folder in folders:
            reports.append(verify_package(folder, choices, where, bar))
            bar.finish()
            if not as_json:
                render_report(reports[-1], terminal)
    finally:
        bar.finish()
    if as_json:
        click.echo(reports_json(reports))
    elif len(reports) > 1:
        render_total(reports, terminal)
    sys.exit(1 if any(report.errors for report in reports) else 0)


def _may_declare(folder: Path, dtype: str) -> bool:
    """Whether the package has ``dtype``, or does not load, which its report will say."""
    from harness.problem.format.load import load_problem

    try:
        return dtype in load_problem(folder).dtypes
    except ProblemError:
        return True
