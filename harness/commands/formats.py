"""``formats``: what of a checkout in a foreign format can be graded."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.commands import common
from harness.errors import ProblemError, UsageError
from harness.text.plain import plain

if TYPE_CHECKING:
    from harness.formats.base import Source


@click.group(short_help="List problems of KernelBench, LeetGPU and other sets.")
def formats() -> None:
    """Problems in the formats of others: KernelBench, LeetGPU, Tensara, GPU MODE, FlashInfer."""


@formats.command("list", short_help="Count the problems at PATH, and say what cannot be graded.")
@click.argument("path", type=common.PATH)
@click.option("--small", is_flag=True, help="At the sizes of a machine without a GPU.")
@click.option("--json", "as_json", is_flag=True, help="Print a line of JSON for each problem.")
def formats_list(path: Path, small: bool, as_json: bool) -> None:
    """Count the problems at PATH; say of each that cannot be graded here why."""
    from harness.device.choose import open_device
    from harness.formats.known import problems_in
    from harness.formats.processes import PROBLEMS

    if not small:
        PROBLEMS.compute_on(open_device("auto"))
    counts = Counter[str]()
    reasons = Counter[str]()
    for source, reason, sizes in _tried(problems_in(path), small=small):
        counts[source.format] += 1
        if as_json:
            about = {"path": str(source.path), "format": source.format, "slug": source.slug}
            status = "not gradable" if reason else "gradable"
            more = {"hash": source.hash, "status": status, "reason": reason}
            click.echo(json.dumps({**about, **more, "bytes": sizes}))
        elif reason:
            click.echo(f"{plain(str(source.path))}: {plain(reason)}")
        if reason:
            reasons[reason] += 1
    if not counts:
        raise UsageError(f"{plain(str(path))}: no problem of a known format")
    if not as_json:
        lost = reasons.total()
        for name, count in counts.items():
            click.echo(f"{name}: {count:,} problems")
        click.echo(f"{counts.total() - lost:,} can be graded here, {lost:,} cannot")
        for reason, count in reasons.most_common():
            click.echo(f"{count:>6,}  {plain(reason)}")


def _tried(sources: Iterator[Source], *, small: bool) -> Iterator[tuple[Source, str, list[int]]]:
    """Each problem with why it cannot be graded, empty if it can, and the memory of its cases."""
    from harness.formats.problem import Foreign

    for source in sources:
        try:
            problem = Foreign(source=source)
            reason = problem.unfit(emulated=small)
            yield source, reason, [] if reason else problem.footprints(emulated=small)
        except ProblemError as error:
            yield source, error.diagnostics[0].message, []
