"""Every number of a record at its extremes: refused, or shown by all that shows a record."""

import copy
import io
import json
from collections.abc import Iterator
from typing import Any

import pytest
from rich.console import Console
from support.hostile_words import accepted, not_accepted
from support.samples import interval, measurement, result

from harness.records.measurement import BaselineTime, Clocks, Conditions
from harness.records.result import Result, Verdict
from harness.report.board import render_board
from harness.report.submissions import render_submission, submission_json, submissions_json
from harness.site.authors import Author
from harness.site.boards import boards_of
from harness.site.pages import Pages
from harness.site.shapes import ShapeTable
from harness.site.side import side_script
from leaderboard.best import with_best
from leaderboard.entry import entry
from leaderboard.models import by_model
from leaderboard.ranking import board, entries_frame, rows, standing, to_csv
from leaderboard.shapes import shape_rows
from leaderboard.timeline import Timeline

EXTREMES = (
    "1e-320", "-1", "0", "Infinity", "NaN", "1e308", "1e18", "1e-17", str(2**63), str(10**300),
    str(10**400),
)  # fmt: skip
_PLACE = "<here>"
_PAGES = Pages({})
_COUNTS = {"conditions": Conditions(
    clock_mhz=(1200, 1980), temperature_c=50, power_w=300.0, throttle=("power",),
    other_processes=1, readings=3,
)}  # fmt: skip
_OTHER = BaselineTime(
    baseline="compile", time_s=interval(2e-5), speedup=interval(1.5), samples_s=(2e-5, 2.1e-5),
    submission_samples_s=(1.2e-5, 1.3e-5), kernels=2.0,
)  # fmt: skip
_CLOCKS = Clocks(
    sm_mhz=(1, 2), baseline_sm_mhz=(1, 2), memory_mhz=(1, 2), baseline_memory_mhz=(1, 2),
    blocks=3, blocks_apart=1,
)  # fmt: skip
_TIMED = result(
    **_COUNTS,
    measurements=(
        measurement(
            kernels=1.0, isolated_s=interval(2e-5), sol_time_s=1e-5, clocks=_CLOCKS,
            baseline_by_itself_s=interval(2e-5), other_baselines=(_OTHER,), overlap_looks=4,
            cached_ahead=0.5,
        ),
    ),
)  # fmt: skip
_BOARD = boards_of(rows(board([_TIMED])))[0]
RECORDS = {
    "timed": _TIMED,
    "all keys": accepted("x"),
    "wrong": not_accepted(Verdict.WRONG_ANSWER, "x"),
}


def _leaves(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The places of all numbers."""
    if isinstance(data, dict | list):
        items = data.items() if isinstance(data, dict) else enumerate(data)
        for name, each in items:
            yield from _leaves(each, (*path, name))
    elif isinstance(data, int | float) and not isinstance(data, bool):
        yield path


def _changed(data: Any, path: tuple[Any, ...], text: str) -> str:
    """``data`` as JSON with ``text`` for the number at ``path``."""
    changed = copy.deepcopy(data)
    inner = changed
    for name in path[:-1]:
        inner = inner[name]
    inner[path[-1]] = _PLACE
    return json.dumps(changed).replace(f'"{_PLACE}"', text)


def _shown(found: Result) -> None:
    """Show the record by itself."""
    render_submission(found, [], Console(file=io.StringIO(), width=100))
    json.loads(submission_json(found, []))
    json.loads(submissions_json([found], []))
    row = _BOARD.rows[0]
    _PAGES.entry(found, _BOARD, row, source=None)
    side_script("x", found, _BOARD, title="", language="", rank="1", source=None)
    table = ShapeTable.of([list(shape_rows(row, found))])
    _PAGES.shapes(_BOARD, table, {row.result: "x"})


def _ranked(found: list[Result]) -> None:
    """Reckon with all of them together."""
    frame = board(found, all_entries=True)
    to_csv(frame, io.StringIO())
    render_board(rows(frame), Console(file=io.StringIO(), width=100))
    by_model(entries_frame(tuple(entry(each).values()) for each in found))
    with_best(result(), found)
    entries = entries_frame(tuple(entry(each).values()) for each in found)
    timeline = Timeline(entries, standing(entries))
    for each in boards_of(rows(frame), timeline.leads()):
        _PAGES.board(each, 0, {}, ())
    _PAGES.models(by_model(entries.assign(model="m")))
    for name, history in timeline.authors(entries["author"].unique()).items():
        _PAGES.author(Author(name, (), history), 0, {})


@pytest.mark.corpus
@pytest.mark.parametrize("name", RECORDS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_number_is_refused_or_shown(name: str) -> None:
    data = json.loads(RECORDS[name].to_json())
    refused, taken = 0, []
    for number, path in enumerate(_leaves(data)):
        for extreme in EXTREMES if path != ("schema",) else ():
            text = _changed(data | {"id": f"{number}-{extreme[:9]}"}, path, extreme)
            try:
                found = Result.from_json(text)
            except ValueError:
                refused += 1
                continue
            taken.append(found)
            try:
                _shown(found)
            except Exception as error:
                raise AssertionError(f"{path} = {extreme[:20]}: {error!r}") from error
    _ranked(taken)
    assert min(refused, len(taken)) > 30
