"""``submit --resume``: what a run that was interrupted has done is not done again."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain
from typing import TYPE_CHECKING

import click

from harness.text.plain import plain

if TYPE_CHECKING:
    from harness.device.base import Device
    from harness.grading.job import Job, Options
    from harness.records.result import Result, Verdict


def not_recorded(
    jobs: list[Job], options: Options, device: Device, known: Callable[[str], Iterable[Result]]
) -> tuple[list[Job], list[Verdict]]:
    """The jobs that have no result yet, and the verdicts of the others, which are named.

    ``known`` gives all results of a problem that are recorded.
    """
    from harness import __version__
    from harness.grading.job import chosen_dtype
    from harness.grading.resume import RecordedResults
    from harness.records.refs import DeviceRef

    results = chain.from_iterable(map(known, sorted({job.problem.slug for job in jobs})))
    recorded = RecordedResults(results, DeviceRef(kind=device.kind, name=device.name), __version__)
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
    return left, verdicts
