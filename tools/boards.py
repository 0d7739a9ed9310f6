"""The boards of this repository's own solutions: from the records under leaderboard/boards/.

The records are what `harness export` wrote on the machine with the card. From them come the CSV
beside them, as `harness leaderboard --all --csv` writes it, and the table of the README there.
"""

import io
import re
import tempfile
from collections.abc import Iterator
from itertools import chain, groupby
from operator import attrgetter
from pathlib import Path

from harness.commands.exchange import read_lines, take_in
from harness.problem.format.load import load_problem, problem_folders
from harness.report.board import speedup
from harness.text import numbers
from leaderboard.ranking import BoardRow, Frame, ranked, rows, to_csv
from leaderboard.store import Store
from tools import ROOT

FOLDER = ROOT / "leaderboard/boards"
CSV = FOLDER / "boards.csv"
README = FOLDER / "README.md"

_TABLE = re.compile(r"(?<=<!-- boards -->\n).*?(?=<!-- end of boards -->)", re.DOTALL)


def made() -> dict[Path, str]:
    """The text of each file that is made from the records."""
    boards = _boards()
    csv = io.StringIO()
    to_csv(boards, csv)
    readme = README.read_text(encoding="utf-8")
    if len(_TABLE.findall(readme)) != 1:
        raise ValueError(
            "README has no one place between <!-- boards --> and <!-- end of boards -->"
        )
    table = "\n".join(_table(rows(boards))) + "\n"
    return {CSV: csv.getvalue(), README: _TABLE.sub(lambda _: table, readme)}


def _boards() -> Frame:
    with tempfile.TemporaryDirectory() as folder:
        place = f"{folder}/boards.sqlite"
        take_in(chain.from_iterable(map(read_lines, sorted(FOLDER.glob("*.jsonl")))), place)
        with Store.open(place) as store:
            entries = store.entries()
    current = {p.slug: p.hash for p in map(load_problem, problem_folders(ROOT / "problems"))}
    return ranked(entries, all_entries=True, current=current)


def _table(entries: list[BoardRow]) -> Iterator[str]:
    """The first of each board; of those that are not ranked, the fastest."""
    yield "| problem | type | first of | entry | language | time | speed-up | of SOL |"
    yield "|---|---|---|---|---|---|---|---|"
    for (problem, dtype, _), board in groupby(entries, attrgetter("problem", "dtype", "device")):
        listed = list(board)
        first = listed[0]
        note = "" if first.rank is not None else " (not ranked)"
        sol = f"{first.sol_fraction:.0%}" if first.sol_fraction is not None else ""
        yield (
            f"| {problem} | {dtype} | {len(listed)} | "
            f"[{first.solution}](../../solutions/{problem}/{first.author}){note} | "
            f"{first.language} | "
            f"{numbers.seconds((first.time_us or 0.0) * 1e-6)} | {speedup(first)} | {sol} |"
        )


if __name__ == "__main__":
    for path, text in made().items():
        path.write_text(text, encoding="utf-8")
        print(path.relative_to(ROOT))
