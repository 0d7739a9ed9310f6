"""What a store holds, for people and as JSON: a line for each result, or one in full."""

import json
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness.records.result import Result
from harness.records.ruling import Ruling, counts
from harness.report.terminal import render_result
from harness.text.plain import plain

SHORT = 8
"""Characters of an id that are shown at least; more where ids shown together begin alike."""

_REASON = 400


def render_submissions(
    results: Sequence[Result], rulings: Sequence[Ruling], console: Console
) -> None:
    """Print a table of ``results`` in their order, and below it what ``rulings`` say of them."""
    if not results:
        console.print(Text("nothing recorded"))
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("id", no_wrap=True)
    table.add_column("graded", no_wrap=True)
    table.add_column("problem", overflow="fold")
    table.add_column("submission", overflow="fold")
    table.add_column("type", no_wrap=True)
    table.add_column("verdict", overflow="fold")
    length = _length([each.id for each in results])
    about = _by_result(rulings)
    for result in results:
        invalid = not counts(about.get(result.id, []))
        table.add_row(
            Text(plain(result.id[:length])),
            Text(f"{result.created:%Y-%m-%d}"),
            Text(plain(result.problem.slug, 60)),
            Text(plain(_submission(result), 80)),
            Text(plain(result.dtype, 12)),
            Text(str(result.verdict) + " (does not count)" * invalid),
            style="dim" if invalid else "",
        )
    console.print(table)
    for result in results:
        for ruling in about.get(result.id, []):
            _print(console, f"– {plain(result.id[:length])}: {ruling_line(ruling)}")


def render_submission(result: Result, rulings: Sequence[Ruling], console: Console) -> None:
    """Print ``result`` as it was when it was graded, then what is known of the record."""
    render_result(result, console)
    _print(console, f"result  {plain(result.id, 80)}")
    by = plain(result.environment.harness, 20)
    _print(console, f"graded  {result.created:%Y-%m-%d %H:%M:%S} UTC by harness {by}")
    if result.solution.path:
        _print(console, f"file    {plain(result.solution.path, 1000)}")
    for ruling in rulings:
        _print(console, f"ruling  {ruling_line(ruling)}", style="yellow")


def ruling_line(ruling: Ruling) -> str:
    """``INVALIDATED 2026-03-01 by carol: reason``."""
    said = f"{ruling.action} {ruling.created:%Y-%m-%d} by {plain(ruling.who, 60)}"
    return f"{said}: {plain(ruling.reason, _REASON)}" if ruling.reason else said


def submissions_json(results: Sequence[Result], rulings: Sequence[Ruling]) -> str:
    """A JSON list of what a table shows and a little more; keys: docs/reference/result.md."""
    about = _by_result(rulings)
    return json.dumps([_summary(each, about.get(each.id, [])) for each in results])


def submission_json(result: Result, rulings: Sequence[Ruling]) -> str:
    """A JSON object: the whole ``result``, whether it ``counts``, and its ``rulings``."""
    ruled = ",".join(ruling.to_json() for ruling in rulings)
    counted = json.dumps(counts(rulings))
    return f'{{"result":{result.to_json()},"counts":{counted},"rulings":[{ruled}]}}'


def _summary(result: Result, rulings: Sequence[Ruling]) -> dict[str, Any]:
    return {
        "id": result.id,
        "created": result.created.isoformat(timespec="microseconds"),
        "problem": result.problem.slug,
        "problem_hash": result.problem.hash,
        "author": result.solution.author,
        "solution": result.solution.name,
        "solution_hash": result.solution.hash,
        "language": result.language,
        "dtype": result.dtype,
        "device_kind": result.device.kind,
        "device": result.device.name,
        "verdict": str(result.verdict),
        "message": result.message,
        "score": result.score and json.loads(result.score.model_dump_json()),
        "counts": counts(rulings),
        "rulings": [json.loads(ruling.to_json()) for ruling in rulings],
    }


def _by_result(rulings: Sequence[Ruling]) -> dict[str, list[Ruling]]:
    about: dict[str, list[Ruling]] = {}
    for ruling in rulings:
        about.setdefault(ruling.result, []).append(ruling)
    return about


def _submission(result: Result) -> str:
    solution = result.solution
    return "/".join(filter(None, (solution.author, solution.name))) or solution.path


def _length(ids: Sequence[str]) -> int:
    """How many characters tell these ids apart, :data:`SHORT` at least."""
    longest = max(map(len, ids))
    different = len(set(ids))
    lengths = range(SHORT, max(SHORT, longest))
    return next((n for n in lengths if len({each[:n] for each in ids}) == different), longest)


def _print(console: Console, text: str, *, style: str = "dim") -> None:
    console.print(Text(text, style=style), soft_wrap=True, highlight=False)
