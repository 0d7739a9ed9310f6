"""``compare``: which of two submissions is faster?"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from harness.commands import common
from harness.commands.cards import card_option
from harness.commands.choices import problem_option
from harness.commands.jobs import Packages, job_of
from harness.text.plain import json_text


@click.command(short_help="Time A and B in turns: which is faster, by how much?")
@click.argument("first", metavar="A", type=common.PATH)
@click.argument("second", metavar="B", type=common.PATH)
@problem_option
@click.option("--dtype", help="What [VAR] stands for [default: the first that fits both].")
@common.device_option
@card_option
@common.functional_times_option(common.TAKE_FUNCTIONAL_TIMES)
@common.sandbox_option
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@common.problems_option
def compare(
    first: Path,
    second: Path,
    problem: str | None,
    dtype: str | None,
    device: str,
    functional_times: bool,
    as_json: bool,
    problems_dir: Path | None,
) -> None:
    """Time A and B, two submissions to one problem, in turns: which is faster, by how much?

    Both are checked first. Nothing is recorded.
    """
    common.require_device(device)
    packages = Packages(common.problems_root(problems_dir))
    a, b = (job_of(path, packages, problem=problem, dtype=dtype) for path in (first, second))

    # Not earlier: torch takes seconds to import, and a wrong path or option is known at once.
    from harness.grading.executor import open_executor
    from harness.grading.job import Options
    from harness.records.comparison import Comparison
    from harness.report.compare import render_comparison
    from harness.report.terminal import render_result

    with open_executor(device) as executor:
        options = Options(dtype=dtype, functional_times=functional_times)
        outcome = executor.compare(a, b, options)
    for each in [outcome] if isinstance(outcome, Comparison) else outcome:
        if as_json:
            click.echo(json_text(each.to_json()))
        elif isinstance(each, Comparison):
            render_comparison(each, common.console())
        else:
            render_result(each, common.console())
    if not isinstance(outcome, Comparison):
        sys.exit(common.exit_code(result.verdict for result in outcome))
