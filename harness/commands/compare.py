"""``compare``: which of two submissions is faster?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.commands.common import (
    device_option,
    problems_option,
    problems_root,
    sandbox_option,
    status_of,
)
from harness.commands.complete import problem_slugs
from harness.commands.grading import check_dtype, job_of, show
from harness.text.plain import json_text

if TYPE_CHECKING:
    from harness.records.comparison import Comparison


@click.command()
@click.argument("first", metavar="A", type=click.Path(path_type=Path))
@click.argument("second", metavar="B", type=click.Path(path_type=Path))
@click.option(
    "--problem",
    shell_complete=problem_slugs,
    help="Slug [default: from solutions/<problem>/<author>/…].",
)
@click.option("--dtype", help="What [VAR] stands for [default: the first that fits both].")
@device_option
@sandbox_option
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@problems_option
def compare(
    first: Path,
    second: Path,
    dtype: str | None,
    device: str,
    as_json: bool,
    problems_dir: Path | None,
    **choices: Any,
) -> None:
    """Time A and B, two submissions to one problem, in turns: which is faster, by how much?

    Both are checked first. Nothing is recorded.
    """
    from harness.grading.job import Options

    root = problems_root(problems_dir)
    jobs = [job_of(path, choices | {"author": None}, root) for path in (first, second)]
    options = Options(dtype=dtype)
    for job in jobs:
        check_dtype(job.problem, options)

    # Not earlier: torch takes seconds to import, and what was wrong until here is known at once.
    from harness.device.choose import open_device
    from harness.grading.executor import InProcess
    from harness.progress.progress import progress
    from harness.records.comparison import Comparison

    with InProcess(open_device(device), progress()) as executor:
        outcome = executor.compare(jobs[0], jobs[1], options)
    if isinstance(outcome, Comparison):
        _show_comparison(outcome, as_json=as_json)
        return
    for result in outcome:
        if as_json:
            click.echo(json_text(result.to_json()))
        else:
            show(result)
    sys.exit(status_of([result.verdict for result in outcome]))


def _show_comparison(comparison: Comparison, *, as_json: bool) -> None:
    from rich.console import Console

    from harness.report.compare import render_comparison

    if as_json:
        click.echo(json_text(comparison.to_json()))
    else:
        render_comparison(comparison, Console())
