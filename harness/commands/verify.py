"""The command: which problems, one after the other, and what is printed."""

from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console

from harness.device.choose import open_device
from harness.errors import ProblemError, UsageError
from harness.problem.format.load import load_problem
from harness.problem.sampling.cases import fresh_seed
from harness.progress.progress import progress
from harness.verify.render import render_report, render_total, reports_json
from harness.verify.verify import VerifyChoices, verify


def verify_all(
    folders: Sequence[Path],
    *,
    device: str,
    dtype: str | None,
    grades: int,
    no_examples: bool,
    no_impostors: bool,
    seed: str | None,
    as_json: bool,
) -> int:
    """Verify the packages and print what was found; 1 if there is an error, else 0.

    With ``dtype`` only those that declare it.

    Raises:
        UsageError: none of them declares ``dtype``.
        MachineError, HarnessError: not the authors' doing.
    """
    if dtype is not None:
        folders = [folder for folder in folders if _declares(folder, dtype)]
        if not folders:
            raise UsageError(f"--dtype {dtype}: none of these problems has it")
    choices = VerifyChoices(
        dtypes=None if dtype is None else (dtype,),
        grades=grades,
        examples=not no_examples,
        impostors=not no_impostors,
        seed=seed or fresh_seed(),
    )
    where, bar, console = open_device(device), progress(), Console()
    reports = []
    try:
        for folder in folders:
            report = verify(folder, choices, where, bar)
            reports.append(report)
            bar.finish()
            if not as_json:
                render_report(report, console)
    finally:
        bar.finish()
    if as_json:
        click.echo(reports_json(reports))
    elif len(reports) > 1:
        render_total(reports, console)
    return 1 if any(report.errors for report in reports) else 0


def _declares(folder: Path, dtype: str) -> bool:
    """Whether a package has the data type; one that does not load is kept, to be told so."""
    try:
        return dtype in load_problem(folder).dtypes
    except ProblemError:
        return True
