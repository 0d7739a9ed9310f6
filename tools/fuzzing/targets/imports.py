"""The target that reads files to import: lines that anybody wrote, then the boards and the site.

The first byte chooses a seed and whether what follows is taken as it is or says what to change:
three bytes name a place in the seed's JSON and a word to put there.
"""

import io
import json
from collections.abc import Iterator
from typing import Any

from rich.console import Console
from support.samples import failed, interval, measurement, result

from harness.commands.admission import Admission
from harness.errors import UsageError
from harness.records.ruling import Action, rule
from harness.report.board import render_board
from harness.report.submissions import render_submissions, submissions_json
from harness.site.boards import boards_of
from harness.site.pages import Pages
from harness.site.shapes import ShapeTable
from harness.site.side import side_script
from leaderboard.bulk import Bulk
from leaderboard.failures import StoreError
from leaderboard.ranking import placed, rows, standing, to_csv
from leaderboard.shapes import shape_rows
from leaderboard.store import Store
from leaderboard.timeline import Timeline
from tools.fuzzing.targets.target import Target, scratch

WORDS = (
    "0", "-1", "1e-320", "1e308", "1e400", "NaN", "Infinity", str(2**63), "9" * 400, "null", "true",
    "[]", "{}", '""', '"a\\u0000"', '"\\u0430lice"', '"Alice"', '"../../x"', '"\\ud800"',
    '"9999-12-31T00:00:00Z"', '"0001-01-01T00:00:00Z"', '"2026-03-01T12:00:00Z"', '"WRONG_ANSWER"',
    '"ACCEPTED"', '"\\u202e\\u001b[2J::error::"', '"cpu"', '"other"', "1", "2.5", '"alice1"',
)  # fmt: skip
"""JSON that is put into lines."""

_MEASURED = measurement(isolated_s=interval(2e-5), sol_time_s=1e-5, kernels=1.0)
_OWN = result(id="alice1", author="alice", solution_hash="s-alice", measurements=(_MEASURED,))
_LINES = (
    _OWN,
    failed(id="bad", author="alice", solution_hash="s-alice", minutes=60),
    result(id="new", author="mallory", measurements=(_MEASURED,)),
    rule("alice1", Action.INVALIDATED, who="the organisers", reason="cheat"),
)
SEEDS = (
    *(bytes([number]) for number in range(len(_LINES))),
    *(bytes([number, 0, place, word]) for number in (1, 2) for place, word in ((9, 3), (40, 16))),
    *(b"\xff" + each.to_json().encode() for each in _LINES),
)
_PAGES = Pages({})


def read_import(data: bytes) -> None:
    """A file to import: refused with its line, or taken so that all that shows it works."""
    file = scratch() / "board.jsonl"
    file.write_bytes(data[1:] if data[:1] == b"\xff" else _changed(data))
    options = data[-1] if data else 0
    admission = Admission([file], rulings=bool(options & 1), trust=bool(options & 2))
    with Store("sqlite://") as store:
        store.add(_OWN)
        try:
            with Bulk(admission.taken(file, store)) as bulk:
                store.add_all(bulk)
        except (UsageError, StoreError):
            return
        _show(store)
        own = [each for each in store.recorded() if each.id == _OWN.id]
        assert [each.to_json() for each in own] == [_OWN.to_json()]
        if not options & 3:
            assert own[0].id in store.entries()["result"].tolist()


def _show(store: Store) -> None:
    console = Console(file=io.StringIO(), width=100)
    entries = store.entries()
    listed = standing(entries)
    boards = placed(listed, all_entries=True)
    timeline = Timeline(entries, listed)
    to_csv(boards, io.StringIO())
    render_board(rows(boards), console)
    for board in boards_of(rows(boards), timeline.leads()):
        _PAGES.board(board, 0, {}, ())
        by_id = {row.result: row for row in board.rows}
        for each in store.named(tuple(by_id)):
            row = by_id[each.id]
            past = timeline.authors([row.author])[row.author].accepted
            _PAGES.entry(each, board, row, source=None, before=past)
            side_script("x", each, board, title="", language="", rank="1", source=None)
            table = ShapeTable.of([list(shape_rows(row, each))])
            _PAGES.shapes(board, table, {each.id: "x"})
    found = list(store.recorded())
    ruled = list(store.rulings())
    render_submissions(found, ruled, console)
    json.loads(submissions_json(found, ruled))


def _changed(data: bytes) -> bytes:
    """The line of a seed with words at the places that ``data`` names."""
    line = json.loads(_LINES[data[0] % len(_LINES)].to_json()) if data else {}
    for at in range(1, len(data) - 2, 3):
        places = list(_places(line))
        if not places:
            break
        holder, name = places[int.from_bytes(data[at : at + 2], "big") % len(places)]
        holder[name] = f"<{data[at + 2] % len(WORDS)}>"
    text = json.dumps(line)
    for number, word in enumerate(WORDS):
        text = text.replace(f'"<{number}>"', word)
    return text.encode("utf-8", "surrogatepass")


def _places(data: Any) -> Iterator[tuple[Any, Any]]:
    """All containers in ``data`` with each of their keys or places."""
    if isinstance(data, dict | list):
        for name in list(data) if isinstance(data, dict) else range(len(data)):
            yield data, name
            yield from _places(data[name])


TARGETS = (Target(name="import", run=read_import, seeds=SEEDS, words=(*WORDS, "\n"), most=12_000),)
