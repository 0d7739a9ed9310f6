"""``leaderboard``, ``site``, ``export`` and ``import``: what a store holds, shown or written."""

from __future__ import annotations

import atexit
import gc
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TextIO, TypeVar

import click

from harness.commands import common
from harness.commands.complete import problem_slugs
from harness.errors import UsageError
from harness.text.numbers import counted
from harness.text.plain import json_text, plain

if TYPE_CHECKING:
    from rich.console import Console

    from harness.records.result import Result
    from leaderboard.board import BoardRow
    from leaderboard.ranking import Frame
    from leaderboard.store import Store

_AT_ONCE = 100
"""Records in memory."""

_MAX_K = 10_000
_MODEL_KS = (1, 5, 10)
_MODEL_PS = (0.0, 1.0, 1.5, 2.0)
"""What the site's page of models tells."""

Number = TypeVar("Number", int, float)


@click.command(short_help="Print the boards, or write them as CSV or JSON.")
@click.argument("problem", required=False, shell_complete=problem_slugs)
@click.option("--csv", "csv_to", metavar="FILE|-", help="Write the board as CSV; - for stdout.")
@click.option("--json", "json_to", metavar="FILE|-", help="Write the board as JSON; - for stdout.")
@click.option(
    "--shapes", "shapes_to", metavar="FILE|-", help="Write the times by shape as CSV; - for stdout."
)
@click.option("--all", "all_entries", is_flag=True, help="All entries, not the best per author.")
@click.option("--by", type=click.Choice(["entry", "model"]), default="entry", help="What a row is.")
@click.option("--k", "ks", default="1", show_default=True, help="By model: the k of pass@k.")
@click.option("--p", "ps", default="0,1,1.5,2", show_default=True, help="By model: p of fast_p.")
@common.functional_times_option(common.SHOW_FUNCTIONAL_TIMES)
@common.store_option
@common.problems_option
def leaderboard(
    problem: str | None,
    csv_to: str | None,
    json_to: str | None,
    shapes_to: str | None,
    all_entries: bool,
    by: str,
    ks: str,
    ps: str,
    functional_times: bool,
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
    if shapes_to == "-" and "-" in (csv_to, json_to):
        raise UsageError("--shapes -: only one of --csv, --json and --shapes can go to stdout")
    if shapes_to and by == "model":
        raise UsageError("--shapes: entries have times by shape, models have not; drop --by model")
    root = common.problems_root(problems_dir)
    with common.existing_store(store) as results:
        entries = results.entries()
    slugs = set(entries["problem"])
    if problem is not None and problem not in slugs:
        find_problem(root, problem)  # raises if there is none
    current = versions(root, slugs)
    if by == "model":
        from harness.report.models import render_models
        from leaderboard.models import by_model, without_cpu_times, write_csv

        models = by_model(
            _of(entries, problem) if functional_times else without_cpu_times(_of(entries, problem)),
            ks=_numbers("--k", ks, int, lambda k: 1 <= k <= _MAX_K),
            ps=_numbers("--p", ps, float, lambda p: 0 <= p < math.inf),
            current=current,
        )
        cells = [row.cells() for row in models]
        outputs = _Outputs(lambda: cells, partial(write_csv, models), partial(render_models, cells))
    else:
        from harness.report.board import render_board
        from leaderboard.ranking import histories, ranked, rows, to_csv

        nothing = "" if functional_times else _no_board(_of(entries, problem))
        shown = entries if functional_times else _of_gpus(entries)
        boards = ranked(shown, problem=problem, all_entries=all_entries, current=current)
        outputs = _Outputs(
            lambda: [row.cells() for row in rows(boards)],
            partial(to_csv, boards),
            lambda console: render_board(
                rows(boards), console, nothing, histories(shown, all_entries=all_entries)
            ),
        )
    if shapes_to:
        _write_shapes(shapes_to, rows(boards), store)
        if shapes_to == "-":
            return
    outputs.write(csv_to, json_to)


def _write_shapes(target: str, entries: Sequence[BoardRow], store: str | None) -> None:
    """Write the times of ``entries`` by shape, which their records have."""
    from leaderboard.shapes import ShapesCsv, shape_rows

    with common.existing_store(store, told=False) as results, common.output_to(target) as file:
        writer = ShapesCsv(file)
        for start in range(0, len(entries), _AT_ONCE):
            some = entries[start : start + _AT_ONCE]
            found = {each.id: each for each in results.named([row.result for row in some])}
            for row in some:
                if row.result in found:
                    writer.write(shape_rows(row, found[row.result]))


def _of(entries: Frame, problem: str | None) -> Frame:
    return entries if problem is None else entries[entries["problem"] == problem]


def _of_gpus(entries: Frame) -> Frame:
    return entries[entries["device_kind"] != "cpu"]


def _no_board(entries: Frame) -> str:
    """Why there is no board of ``entries``, in a line; empty if there is one of a GPU."""
    accepted = entries[entries["accepted"]]
    if not len(accepted):
        return "no accepted results yet"
    if (accepted["device_kind"] != "cpu").any():
        return ""
    return (
        f"no board: {counted(len(accepted), 'accepted result')} of a CPU and none of a GPU; "
        "harness submissions list shows them, --functional-times their times"
    )


class _Outputs(NamedTuple):
    """A board's rows as cells by column, and what writes it as CSV and shows it."""

    cells: Callable[[], Sequence[Mapping[str, object]]]
    write_csv: Callable[[TextIO], None]
    render: Callable[[Console], None]

    def write(self, csv_to: str | None, json_to: str | None) -> None:
        """Write the board where asked for, and show it unless stdout has it already."""
        if csv_to:
            with common.output_to(csv_to) as file:
                self.write_csv(file)
        if json_to:
            known = [{k: _known(v) for k, v in row.items()} for row in self.cells()]
            with common.output_to(json_to) as file:
                file.write(json_text(json.dumps(known, default=str)) + "\n")
        if "-" not in (csv_to, json_to):
            self.render(common.console())


def _known(cell: object) -> object:
    return None if isinstance(cell, float) and math.isnan(cell) else cell


def _numbers(
    option: str, text: str, kind: Callable[[str], Number], allowed: Callable[[Number], bool]
) -> list[Number]:
    try:
        numbers = [kind(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if not numbers or not all(map(allowed, numbers)):
        least = "1" if kind is int else "0"
        shown = plain(text, 80)
        raise UsageError(f"{option} {shown}: a list of numbers from {least} on, as 1,5,10")
    return sorted(set(numbers))


def _collect_seldom() -> None:
    """Have Python look for reference cycles less often, and not at exit: there are few."""
    gc.set_threshold(200_000, 50, 50)
    atexit.register(gc.freeze)


@click.command(short_help="Write results as JSON lines, which harness import reads.")
@click.argument("problem", required=False, shell_complete=problem_slugs)
@click.option("--out", default="-", metavar="FILE|-", help="File to write [default: stdout].")
@common.store_option
def export(problem: str | None, out: str, store: str | None) -> None:
    """Write all results, or those of PROBLEM, as JSON lines, which harness import reads.

    Those that do not count, too, with the rulings that say so.
    """
    from harness.commands.exchange import write_export

    with common.existing_store(store) as results:
        recorded = results.recorded(problem)
        first = list(islice(recorded, 1))
        if problem is not None and not first:
            raise UsageError(
                f"nothing is recorded of {plain(problem, 60)}: harness submissions list shows "
                "what is"
            )
        ids: list[str] = []

        def noted() -> Iterator[Result]:
            for result in chain(first, recorded):
                ids.append(result.id)
                yield result

        with common.output_to(out) as file:
            count = write_export(
                noted(), lambda: results.rulings(None if problem is None else ids), file
            )
    click.echo(_counts(count), err=True)


def _counts(count: Mapping[type, int]) -> str:
    from harness.records.result import Result
    from harness.records.ruling import Ruling

    ruled = f", {counted(count[Ruling], 'ruling')}" if count[Ruling] else ""
    return counted(count[Result], "result") + ruled


@click.command(name="import", short_help="Add the results that harness export wrote.")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=common.PATH)
@click.option("--rulings", is_flag=True, help="Take rulings, too: they say which results count.")
@click.option(
    "--trust", is_flag=True, help="Take everything as it stands: a backup, or a machine of yours."
)
@common.store_option
def import_(files: tuple[Path, ...], rulings: bool, trust: bool, store: str | None) -> None:
    """Add the results in FILES, which harness export wrote, to the store.

    They are marked as imported, and replace or withdraw nothing that was graded here; verdicts and
    times are the word of whoever wrote the file. Nothing is imported if a line is no result, or has
    the id of another one; what is there already stays as it is.
    """
    from harness.commands.admission import Admission
    from harness.commands.exchange import take_in

    admission = Admission(files, rulings=rulings, trust=trust)
    with common.existing_store(store, told=False) as there:
        recorded = there.authors()
        before = _standings(there) if recorded else None
        take_in(chain.from_iterable(admission.taken(path, there) for path in files), store)
    click.echo(_counts(admission.count), err=True)
    for note in admission.notes(recorded):
        click.echo(note, err=True)
    if before is not None:
        with common.open_store(store) as results:
            for note in _changes(before, _standings(results)):
                click.echo(note, err=True)


def _standings(results: Store) -> dict[tuple[object, ...], str]:
    """The result that each author has on each board."""
    from harness.text.names import key
    from leaderboard.ranking import ranked, rows

    return {(row.key, key(row.author)): row.result for row in rows(ranked(results.entries()))}


def _changes(
    before: Mapping[tuple[object, ...], str], after: Mapping[tuple[object, ...], str]
) -> Iterator[str]:
    """How many rows of the boards that there were are others now, if any is."""
    added = len(after.keys() - before.keys())
    gone = len(before.keys() - after.keys())
    changed = sum(before[place] != after[place] for place in before.keys() & after.keys())
    if added or changed or gone:
        rows = f"{counted(added, 'row')} added, {changed} changed, {gone} gone"
        yield f"boards: {rows}"


@click.command(short_help="Write boards, problems and entries as a static web site.")
@click.option(
    "--out",
    required=True,
    metavar="DIR",
    type=common.PATH,
    help="Folder to write; a site that is there is replaced as a whole.",
)
@click.option("--all", "all_entries", is_flag=True, help="All entries, not the best per author.")
@click.option("--no-code", is_flag=True, help="Do not show the code of entries.")
@common.functional_times_option(common.SHOW_FUNCTIONAL_TIMES)
@common.store_option
@common.problems_option
def site(
    out: Path,
    all_entries: bool,
    no_code: bool,
    functional_times: bool,
    store: str | None,
    problems_dir: Path | None,
) -> None:
    """Write boards, problems and entries as a static web site, which needs no server."""
    _collect_seldom()
    from harness.languages.build.cache import default_cache
    from harness.languages.build.cuda import SOURCE
    from harness.languages.build.machine_code import machine_code
    from harness.languages.read import code_of
    from harness.site.build import build_site
    from leaderboard.models import by_model, without_cpu_times
    from leaderboard.ranking import placed, rows, standing, to_csv
    from leaderboard.timeline import Timeline

    packages = common.load_all(common.problems_root(problems_dir))[0]
    with common.existing_store(store) as results:

        def code(result: Result) -> str | None:
            return None if no_code else code_of(result, results.source(result.solution.hash))

        current = {p.slug: p.hash for p in packages}
        entries = everything = results.entries()
        if not functional_times:
            everything = without_cpu_times(entries)
            if len(entries) and (why := _no_board(entries)):
                click.echo(f"note: {why}", err=True)
            entries = _of_gpus(entries)
        listed = standing(entries, current=current)
        boards = placed(listed, all_entries=all_entries)
        counts = build_site(
            out,
            rows=rows(boards),
            problems=packages,
            named=results.named,
            write_csv=lambda file: to_csv(boards, file),
            code=code,
            timeline=Timeline(entries, listed),
            models=by_model(everything, ps=_MODEL_PS, ks=_MODEL_KS, current=current),
            raw=not no_code,
            machine_code=partial(machine_code, source=SOURCE, cache=default_cache()),
        )
    click.echo(
        f"{plain(str(out))}: {counted(counts.boards, 'board')}, "
        f"{counted(counts.entries, 'entry', 'entries')}, {counted(counts.problems, 'problem')}"
    )
