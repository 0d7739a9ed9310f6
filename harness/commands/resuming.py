"""``--resume``: which files have a result already, from an earlier run of the same command."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from harness import __version__
from harness.grading.job import chosen_dtype
from harness.grading.resume import RecordedResults
from harness.text.plain import plain

if TYPE_CHECKING:
    from harness.commands.jobs import Tally
    from harness.commands.results_file import ResultsFile
    from harness.grading.job import Job, Options
    from harness.records.refs import DeviceRef
    from leaderboard.store import Store


class Resumed:
    """What an earlier run has recorded in ``store`` on ``device``; read by problem when needed.

    ``lines``, if it is a file, is brought up to date with it.
    """

    def __init__(self, store: Store, device: DeviceRef, lines: ResultsFile | None) -> None:
        self._store = store
        self._device = device
        self._lines = lines
        self._known: dict[str, RecordedResults] = {}

    def left(self, jobs: Sequence[Job], options: Options, tally: Tally) -> list[Job]:
        """The jobs without a recorded result; ``tally`` gets the verdicts of the others.

        Afterwards the file of results has those of the others, and none of the jobs.
        """
        left: list[Job] = []
        taken: list[str] = []
        for job in jobs:
            recorded = self._of(job.problem.slug, options)
            verdict = recorded.take(job, chosen_dtype(job, options))
            if verdict is None:
                left.append(job)
            else:
                taken.append(recorded.taken[-1])
                tally.count(job.path, verdict)
                click.echo(f"recorded already: {plain(job.path)} ({verdict})", err=True)
        if taken:
            click.echo(f"{len(taken)} recorded already, {len(left)} to grade", err=True)
        if self._lines is not None and self._lines.resumed:
            asked = {_graded_as(j.problem.slug, j.path, chosen_dtype(j, options)) for j in jobs}
            self._update(self._lines, set(taken), asked)
        return left

    def _update(
        self, lines: ResultsFile, taken: set[str], asked: set[tuple[str, str, str]]
    ) -> None:
        lines.keep(
            lambda r: (
                r.id in taken or _graded_as(r.problem.slug, r.solution.path, r.dtype) not in asked
            )
        )
        for result in self._store.named([each for each in taken if each not in lines.ids]):
            lines.add(result)

    def _of(self, slug: str, options: Options) -> RecordedResults:
        if slug not in self._known:
            first = self._lines.ids if self._lines is not None else ()
            results = self._store.recorded(slug)
            self._known[slug] = RecordedResults(
                results, self._device, __version__, first, rough=options.rough
            )
        return self._known[slug]


def _graded_as(problem: str, path: str, dtype: str) -> tuple[str, str, str]:
    return problem, os.path.abspath(path), dtype  # noqa: PTH100 - a link is another file
