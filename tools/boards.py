"""The boards of this repository's own solutions: from the records under leaderboard/boards/.

The records are what `harness export` wrote on machines with a card, a file for each. From them come
the CSV beside them, as `harness leaderboard --all --csv` writes it, the tables of the README there,
one for each card, and the short one of the repository's README.
"""

import io
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain
from pathlib import Path

from harness.commands.exchange import read_lines, take_in
from harness.problem.format.load import load_problem, problem_folders
from harness.problem.package import Problem
from harness.report.board import speedup
from harness.text import numbers
from leaderboard.ranking import OTHER_VERSION, BoardRow, Frame, by_board, ranked, rows, to_csv
from leaderboard.store import Store
from tools import ROOT

FOLDER = ROOT / "leaderboard/boards"
CSV = FOLDER / "boards.csv"
README = FOLDER / "README.md"
TOP_README = ROOT / "README.md"

_TABLE = re.compile(r"(?<=<!-- boards -->\n).*?(?=<!-- end of boards -->)", re.DOTALL)
_PREFERRED = "float16"
_COLUMNS = "entry | language | time | speed-up | of SOL |"
_RULE = "---|---|---|---|---|"


def made() -> dict[Path, str]:
    """The text of each file that is made from the records."""
    problems = [load_problem(folder) for folder in problem_folders(ROOT / "problems")]
    boards = boards_of(sorted(FOLDER.glob("*.jsonl")), problems)
    csv = io.StringIO()
    to_csv(boards, csv)
    entries = rows(boards)
    return {
        CSV: csv.getvalue(),
        README: with_table(README.read_text(encoding="utf-8"), tables(entries)),
        TOP_README: with_table(TOP_README.read_text(encoding="utf-8"), firsts(entries, problems)),
    }


def boards_of(files: Iterable[Path], problems: Iterable[Problem]) -> Frame:
    """All boards of the records in ``files``, every entry, on the present versions of problems.

    Entries of another version stay on the board, at its end and without a rank.
    """
    with tempfile.TemporaryDirectory() as folder:
        place = f"{folder}/boards.sqlite"
        take_in(chain.from_iterable(map(read_lines, files)), place)
        with Store.open(place) as store:
            entries = store.entries()
    return ranked(entries, all_entries=True, current={p.slug: p.hash for p in problems})


def with_table(text: str, lines: Iterable[str]) -> str:
    """``text`` with ``lines`` between its comments.

    Raises:
        ValueError: there is no one place for them.
    """
    if len(_TABLE.findall(text)) != 1:
        raise ValueError("no one place between <!-- boards --> and <!-- end of boards -->")
    block = "\n".join(lines).strip() + "\n"
    return _TABLE.sub(lambda _: block, text)


def devices(entries: Iterable[BoardRow]) -> list[str]:
    """The cards of ``entries``, that with most first; of as many, that of the newest.

    What is of another version of its problem does not count.
    """
    of: dict[str, list[BoardRow]] = {}
    for entry in entries:
        of.setdefault(entry.device, []).append(entry)

    def standing(device: str) -> tuple[int, datetime, str]:
        return len(_present(of[device])), max(entry.date for entry in of[device]), device

    return sorted(of, key=standing, reverse=True)


def tables(entries: Sequence[BoardRow]) -> Iterator[str]:
    """A table for each card, below its heading: the first of each board.

    Of boards without a rank it is the fastest; where none is of the problem's present version, that
    is said.
    """
    for device in devices(entries):
        yield f"## {device}"
        yield ""
        yield f"| problem | type | first of | {_COLUMNS}"
        yield f"|---|---|---|{_RULE}"
        for key, board in by_board(entries):
            if key.device == device:
                of = len(_present(board)) or len(board)
                link = "../../solutions"
                yield f"| {key.problem} | {key.dtype} | {of} | {_cells(board[0], link)}"
        yield ""


def firsts(entries: Sequence[BoardRow], problems: Sequence[Problem]) -> Iterator[str]:
    """The first card's first of each problem: in half precision, else in its first type.

    What is of another version of its problem is left out.
    """
    cards = devices(entries)
    if not cards:
        return
    found: dict[str, dict[str, BoardRow]] = {}
    for key, board in by_board(entries):
        if key.device == cards[0] and (present := _present(board)):
            found.setdefault(key.problem, {})[key.dtype] = present[0]
    yield f"On an {cards[0]}:"
    yield ""
    yield f"| problem | type | {_COLUMNS}"
    yield f"|---|---|{_RULE}"
    for problem in sorted(problems, key=lambda problem: problem.slug):
        first = _preferred(problem, found.get(problem.slug, {}))
        if first is not None:
            yield f"| {problem.slug} | {first.dtype} | {_cells(first, 'solutions')}"


def _present(board: Sequence[BoardRow]) -> list[BoardRow]:
    return [entry for entry in board if entry.unranked_reason != OTHER_VERSION]


def _preferred(problem: Problem, boards: Mapping[str, BoardRow]) -> BoardRow | None:
    """The first of the board that is shown of a problem, if there is one."""
    order = sorted(problem.dtypes, key=lambda dtype: dtype != _PREFERRED)
    return next((boards[dtype] for dtype in order if dtype in boards), None)


def _cells(entry: BoardRow, solutions: str) -> str:
    """``solutions`` is the way to the folder of that name."""
    note = ""
    if entry.rank is None:
        old = entry.unranked_reason == OTHER_VERSION
        note = " (of an earlier version of the problem)" if old else " (not ranked)"
    sol = f"{entry.sol_fraction:.0%}" if entry.sol_fraction is not None else ""
    time = numbers.seconds((entry.time_us or 0.0) * 1e-6)
    place = f"{solutions}/{entry.problem}/{entry.author}"
    return (
        f"[{entry.solution}]({place}){note} | {entry.written_in} | {time} | {speedup(entry)} | "
        f"{sol} |"
    )


if __name__ == "__main__":
    for path, text in made().items():
        path.write_text(text, encoding="utf-8")
        print(path.relative_to(ROOT))
