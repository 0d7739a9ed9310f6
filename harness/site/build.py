"""Write the site: every page once, from rows and records that come one board after the other."""

import logging
import shutil
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import IO, NamedTuple

from harness.problem.package import Problem
from harness.records.result import Result
from harness.site.boards import Board, boards_of, digest, problem_file, slug
from harness.site.folder import replaced
from harness.site.pages import FILES, HERE, Pages
from harness.text.plain import visible
from leaderboard.board import BoardRow

CSV = "boards.csv"

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
) -> Counts:
    """Write the site to ``out``; the same store and files make the same bytes.

    Args:
        out: folder to make or to replace.
        rows: those of the boards, in their order.
        problems: those whose statements are to be shown.
        named: the results with the given ids; it may leave some out.
        write_csv: writes all boards as CSV.
        code: the code of an entry, None where there is none to show.

    Raises:
        UsageError: ``out`` holds something else, or cannot be written.
    """
    boards = boards_of(rows)
    packages = {problem.slug: problem for problem in problems}
    pages = Pages(packages)
    with replaced(out) as folder:
        for name in ("boards", "entries", "problems"):
            (folder / name).mkdir()
        for name in FILES:
            shutil.copyfile(HERE / "static" / name, folder / name)
        with open(folder / CSV, "w", encoding="utf-8", newline="") as file:
            write_csv(file)
        _write(folder / "index.html", pages.index(boards))
        for problem in packages.values():
            own = [board for board in boards if board.problem == problem.slug]
            _write(folder / "problems" / problem_file(problem.slug), pages.problem(problem, own))
        entries = sum(_board(folder, board, pages, named, code) for board in boards)
    return Counts(len(boards), entries, len(packages))


def _board(
    folder: Path,
    board: Board,
    pages: Pages,
    named: Callable[[Sequence[str]], Iterable[Result]],
    code: Callable[[Result], str | None],
) -> int:
    """A board's pages and those of its first entries; how many of these there are."""
    ranks = board.top
    entries: dict[str, str] = {}
    sources = []
    for result in named(tuple(ranks)):
        if result.id not in ranks:  # PostgreSQL keeps an id with NUL in another spelling
            continue
        source = code(result)
        entries[result.id] = f"{slug(board.problem)}-{digest(board.name, result.id)}.html"
        try:
            page = pages.entry(result, board, rank=ranks[result.id], source=source)
        except (ValueError, ArithmeticError) as error:  # numbers that an older harness let in
            _log.warning("%s", visible(f"result {result.id!a} has no page: {error}"))
            del entries[result.id]
            continue
        if source is not None:
            sources.append(result.id)
        _write(folder / "entries" / entries[result.id], page)
    for page_number in range(board.pages):
        text = pages.board(board, page_number, entries, sources)
        _write(folder / "boards" / board.file(page_number), text)
    return len(entries)


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")
