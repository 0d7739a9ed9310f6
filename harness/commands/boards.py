"""``leaderboard``, ``site``, ``export`` and ``import``: what a store holds, and its ways out."""

from __future__ import annotations

import atexit
import gc
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.commands.common import (
    existing_store,
    load_all,
    open_store,
    output_to,
    problems_option,
    problems_root,
    store_option,
)
from harness.commands.complete import problem_slugs
from harness.errors import UsageError
from harness.text.numbers import counted
from harness.text.plain import json_text, plain

if TYPE_CHECKING:
    from harness.records.result import Result


@click.command()
@click.argument("problem", required=False, shell_complete=problem_slugs)
@click.option("--csv", "csv_to", metavar="FILE|-", help="Write the board as CSV; - for stdout.")
@click.option("--json", "json_to", metavar="FILE|-", help="Write the board as JSON; - for stdout.")
@click.option("--all", "all_entries", is_flag=True, help="All entries, not the best per author.")
@click.option("--by", type=click.Choice(["entry", "model"]), default="entry", help="What a row is.")
@click.option("--k", "ks", default="1", show_default=True, help="By model: the k of pass@k.")
@click.option("--p", "ps", default="0,1,1.5,2", show_default=True, help="By model: p of fast_p.")
@store_option
@problems_option
def leaderboard(
    problem: str | None,
    csv_to: str | None,
    json_to: str | None,
    all_entries: bool,
    by: str,
    ks: str,
    ps: str,
    store: str | None,
    problems_dir: Path | None,
) -> None:
    """Print the boards: per problem, data type and device; ties share a rank.

    With --by model: how often each model's generations are right, and faster than the baseline.
    """
    _collect_seldom()
    from harness.problem.format.load import find_problem, versions

    if csv_to == json_to == "-":
        raise UsageError("--csv - --json -: only one of both can go to stdout")
    root = problems_root(problems_dir)
    with existing_store(store) as results:
        entries = results.entries(problem)
    slugs = set(entries["problem"])
    if problem is not None and problem not in slugs:
        find_problem(root, problem)  # says so if there is none
    current = versions(root, slugs)
    if by == "model":
        from harness.commands.models import compare_models

        compare_models(
            entries,
            current,
            ks=ks,
            ps=ps,
            csv_to=csv_to,
            json_to=json_to,
            output=output_to,
        )
        return
    from leaderboard.ranking import ranked, rows, to_csv

    boards = ranked(entries, all_entries=all_entries, current=current)
    if csv_to:
        with output_to(csv_to) as file:
            to_csv(boards, file)
    if json_to:
        with output_to(json_to) as file:
            file.write(
                json_text(json.dumps([row.cells() for row in rows(boards)], default=str)) + "\n"
            )
    if "-" not in (csv_to, json_to):
        from rich.console import Console

        from harness.report.board import render_board

        render_board(rows(boards), Console())


def _collect_seldom() -> None:
    """Have Python look for cycles less often: imports and large stores make few.

    And not at all when it ends.
    """
    gc.set_threshold(200_000, 50, 50)
    atexit.register(gc.freeze)


@click.command()
@click.argument("problem", required=False, shell_complete=problem_slugs)
@click.option("--out", default="-", metavar="FILE|-", help="File to write [default: stdout].")
@store_option
def export(problem: str | None, out: str, store: str | None) -> None:
    """Write all results, or those of PROBLEM, as JSON lines, which harness import reads.

    Those that do not count, too, with the rulings that say so.
    """
    from harness.commands.exchange import write_lines

    with existing_store(store) as results:
        recorded = results.recorded(problem)
        if problem is not None:
            recorded = _some(recorded, problem)
        with output_to(out) as file:
            written: list[str] = []
            count = write_lines(_noted(recorded, written), file)
            ruled = write_lines(results.rulings(None if problem is None else written), file)
    click.echo(_counts(count, ruled), err=True)


def _some(results: Iterator[Result], problem: str) -> Iterator[Result]:
    """``results``, once it is clear that there are any.

    Raises:
        UsageError: there are none.
    """
    first = next(results, None)
    if first is None:
        raise UsageError(
            f"nothing is recorded of {plain(problem, 60)}: harness submissions list shows what is"
        )
    return chain([first], results)


def _noted(results: Iterable[Result], ids: list[str]) -> Iterator[Result]:
    for result in results:
        ids.append(result.id)
        yield result


def _counts(results: int, rulings: int) -> str:
    ruled = f", {counted(rulings, 'ruling')}" if rulings else ""
    return counted(results, "result") + ruled


@click.command(name="import")
@click.argument(
    "files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@store_option
def import_(files: tuple[Path, ...], store: str | None) -> None:
    """Add the results and rulings in FILES, which harness export wrote, to the store.

    They are the word of whoever wrote the file. Nothing is imported if a line is no result; what is
    there already stays as it is.
    """
    from harness.commands.exchange import read_lines, take_in
    from harness.records.result import Result
    from harness.records.ruling import Ruling

    for path in files:
        for _ in read_lines(path):
            pass
    count = Counter[type]()
    with open_store(store) as results:
        for path in files:
            count += take_in(path, results)
    click.echo(_counts(count[Result], count[Ruling]), err=True)


@click.command()
@click.option(
    "--out",
    required=True,
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Folder to write; a site that is there is replaced as a whole.",
)
@click.option("--all", "all_entries", is_flag=True, help="All entries, not the best per author.")
@click.option("--no-code", is_flag=True, help="Do not show the code of entries.")
@store_option
@problems_option
def site(
    out: Path, all_entries: bool, no_code: bool, store: str | None, problems_dir: Path | None
) -> None:
    """Write boards, problems and entries as a static web site, which needs no server."""
    _collect_seldom()
    from harness.languages.read import code_of
    from harness.site.build import build_site
    from leaderboard.ranking import ranked, rows, to_csv

    packages = load_all(problems_root(problems_dir))[0]
    with existing_store(store) as results:

        def code(result: Result) -> str | None:
            return None if no_code else code_of(result, results.source(result.solution.hash))

        current = {p.slug: p.hash for p in packages}
        boards = ranked(results.entries(), all_entries=all_entries, current=current)
        counts = build_site(
            out,
            rows=rows(boards),
            problems=packages,
            named=results.named,
            write_csv=lambda file: to_csv(boards, file),
            code=code,
        )
    click.echo(
        f"{plain(str(out))}: {counted(counts.boards, 'board')}, "
        f"{counted(counts.entries, 'entry', 'entries')}, {counted(counts.problems, 'problem')}"
    )
