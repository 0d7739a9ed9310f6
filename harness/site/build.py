"""Write the site: every page once, from rows and records that come one board after the other."""

import logging
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple

from harness.languages.build.machine_code import MachineCode
from harness.problem.package import Problem
from harness.records.result import Result
from harness.report.machine_code import machine_code_text
from harness.site.authors import Author, Standing
from harness.site.boards import Board, boards_of, entry_stem, index_pages, page_file, problem_file
from harness.site.folder import replaced
from harness.site.pages import FILES, HERE, Pages, language_of
from harness.site.shapes import ShapeTable
from harness.site.side import side_script
from harness.text.plain import json_text, visible
from leaderboard.board import BoardRow
from leaderboard.shapes import ShapeRow, ShapesCsv, shape_rows

if TYPE_CHECKING:
    from leaderboard.models import ModelRow
    from leaderboard.timeline import AuthorHistory, Timeline

CSV = "boards.csv"
SHAPES_CSV = "shapes.csv"

MOST_SAMPLES = 50_000
"""Of a record that goes beside its page: about a megabyte."""

_log = logging.getLogger(__name__)


class Counts(NamedTuple):
    """What was written."""

    boards: int
    entries: int
    problems: int


def build_site(
    out: Path,
    *,
    rows: Iterable[BoardRow],
    problems: Iterable[Problem],
    named: Callable[[Sequence[str]], Iterable[Result]],
    write_csv: Callable[[IO[str]], None],
    code: Callable[[Result], str | None],
    timeline: "Timeline | None" = None,
    models: "Sequence[ModelRow]" = (),
    raw: bool = True,
    machine_code: Callable[[Result], MachineCode | None] = lambda _: None,
) -> Counts:
    """Write the site to ``out``; the same store and files make the same bytes.

    Args:
        out: folder to make or to replace.
        rows: those of the boards, in their order.
        problems: those whose statements are to be shown.
        named: the results with the given ids; it may leave some out.
        write_csv: writes all boards as CSV.
        code: the code of an entry, None where there is none to show.
        timeline: what happened on the boards before; None for a site without histories.
        models: models with samples, if any has some.
        raw: whether the records themselves go beside the entries; they may quote the code.
        machine_code: what an entry was compiled to, None where that was not kept; asked for where
            there is code to show.

    Raises:
        UsageError: ``out`` holds something else, or cannot be written.
    """
    boards = boards_of(rows, timeline.leads() if timeline else {})
    packages = {problem.slug: problem for problem in problems}
    first = dict.fromkeys(row.author for board in boards for row in board.top)
    histories = timeline.authors(first) if timeline else {}
    pages = Pages(packages, boards, authors=histories, models=bool(models))
    with replaced(out) as folder:
        for name in ("authors", "boards", "entries", "problems", "shapes"):
            (folder / name).mkdir()
        for name in FILES:
            shutil.copyfile(HERE / "static" / name, folder / name)
        with open(folder / CSV, "w", encoding="utf-8", newline="") as file:
            write_csv(file)
        with open(folder / SHAPES_CSV, "w", encoding="utf-8", newline="") as file:
            writer = _Boards(
                folder, pages, named, code, raw, histories, ShapesCsv(file), machine_code
            )
            for board in boards:
                writer.write(board)
        _write_authors(folder, pages, boards, histories, writer.entries)
        for problem in packages.values():
            _write(folder / "problems" / problem_file(problem.slug), pages.problem(problem))
        for page in range(index_pages(boards)):
            _write(folder / page_file("index", page), pages.index(page))
        _write(folder / "compare.html", pages.compare())
        if models:
            _write(folder / "models.html", pages.models(models))
    return Counts(len(boards), len(writer.entries), len(packages))


class _Boards:
    """Writes boards with their first entries, and remembers which of these have pages."""

    def __init__(
        self,
        folder: Path,
        pages: Pages,
        named: Callable[[Sequence[str]], Iterable[Result]],
        code: Callable[[Result], str | None],
        raw: bool,
        histories: "Mapping[str, AuthorHistory]",
        shapes: ShapesCsv,
        machine_code: Callable[[Result], MachineCode | None],
    ) -> None:
        self._folder, self._pages, self._named, self._code = folder, pages, named, code
        self._raw, self._histories, self._shapes = raw, histories, shapes
        self._machine_code = machine_code
        self.entries: dict[str, str] = {}
        """How the files of results begin, by their ids."""

    def write(self, board: Board) -> None:
        """A board's pages and those of its first entries."""
        top = {row.result: row for row in board.top}
        sources: list[str] = []
        timed: dict[str, list[ShapeRow]] = {}
        for result in self._named(tuple(top)):
            # PostgreSQL keeps an id with NUL in another spelling.
            if (row := top.get(result.id)) is None:
                continue
            source = self._code(result)
            if not self._entry(result, board, row, source):
                continue
            if source is not None:
                sources.append(result.id)
            timed[result.id] = list(shape_rows(row, result))
        ordered = [timed[each] for each in top if each in timed]
        for rows in ordered:
            self._shapes.write(rows)
        table = ShapeTable.of(ordered)
        for number in range(board.pages):
            text = self._pages.board(board, number, self.entries, sources, shapes=bool(table))
            _write(self._folder / "boards" / board.file(number), text)
        if table:
            text = self._pages.shapes(board, table, self.entries)
            _write(self._folder / "shapes" / board.file(), text)

    def _entry(self, result: Result, board: Board, row: BoardRow, source: str | None) -> bool:
        """The files of an entry; False if it cannot be shown."""
        stem = entry_stem(board, result.id)
        history = self._histories.get(row.author)
        before = [
            each
            for each in (history.accepted if history else ())
            if each.solution == row.solution and each.key == row.key
        ]
        raw = self._raw and _samples(result) <= MOST_SAMPLES
        built = None if source is None else self._machine_code(result)
        try:
            page = self._pages.entry(
                result, board, row, source=source, before=before, raw=raw, machine=built is not None
            )
            side = side_script(
                stem,
                result,
                board,
                title=self._pages.title(board.problem),
                language=language_of(result.language),
                rank=board.rank(row),
                source=source,
            )
        except (ValueError, ArithmeticError) as error:  # numbers that an older harness let in
            _log.warning("%s", visible(f"result {result.id!a} has no page: {error}"))
            return False
        place = self._folder / "entries"
        _write(place / f"{stem}.html", page)
        _write(place / f"{stem}.js", side)
        if source is not None:  # .txt, which no browser takes for a page
            _write(place / f"{stem}.txt", source)
        if source is not None and built is not None:
            machine = self._pages.machine(result, board, row, built, source)
            (self._folder / "sass").mkdir(exist_ok=True)
            _write(self._folder / "sass" / f"{stem}.html", machine)
            _write(self._folder / "sass" / f"{stem}.txt", machine_code_text(built))
        if raw:
            _write(place / f"{stem}.json", json_text(result.to_json()) + "\n")
        self.entries[result.id] = stem
        return True


def _samples(result: Result) -> int:
    own = (each.samples_s + each.baseline_samples_s for each in result.measurements)
    others = (
        each.samples_s + each.submission_samples_s
        for shape in result.measurements
        for each in shape.other_baselines
    )
    return sum(map(len, chain(own, others)))


def _write_authors(
    folder: Path,
    pages: Pages,
    boards: Iterable[Board],
    histories: "Mapping[str, AuthorHistory]",
    entries: dict[str, str],
) -> None:
    standings: dict[str, list[Standing]] = defaultdict(list)
    for board in boards:
        for row in board.rows:
            if row.author in histories:
                standings[row.author].append(Standing(board, row))
    for name, history in histories.items():
        author = Author(name, tuple(standings[name]), history)
        for page, file_name in enumerate(author.files):
            _write(folder / "authors" / file_name, pages.author(author, page, entries))


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")
