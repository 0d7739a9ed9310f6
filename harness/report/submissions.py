"""What a store holds, for people and as JSON: a line for each result, or one in full."""

import json
from collections.abc import Sequence

from rich.console import Console

from harness.records.result import Result
from harness.records.ruling import Ruling, counts
from harness.report.tables import fitted, line, row, table
from harness.report.terminal import render_result
from harness.text.names import shown as shown_name
from harness.text.plain import plain

SHORT = 8
"""Characters of an id that are shown at least; more where ids shown together begin alike."""


def render_submissions(
    results: Sequence[Result], rulings: Sequence[Ruling], console: Console
) -> None:
    """Print a table of ``results`` in their order, and below it what ``rulings`` say of them."""
    if not results:
        line(console, "nothing recorded")
        return
    length = _length([each.id for each in results])
    about = _by_result(rulings)
    shown = table("|id", "|graded", "problem", "submission", "|type", "verdict")
    below = []
    for result in results:
        ruled = about.get(result.id, [])
        solution = result.solution
        name = "/".join(filter(None, (shown_name(solution.author), solution.name)))
        id_ = plain(result.id[:length])
        row(
            shown,
            id_,
            f"{result.created:%Y-%m-%d}",
            plain(result.problem.slug, 60),
            plain(name or solution.path, 80),
            plain(result.dtype, 12),
            f"{result.verdict}{'' if counts(ruled) else ' (does not count)'}",
            style="" if counts(ruled) else "dim",
        )
        if result.origin:
            below.append(f"– {id_}: imported from {plain(result.origin, 100)}")
        below += [f"– {id_}: {ruling_line(ruling)}" for ruling in ruled]
    console.print(fitted(shown, console, "graded", "type"))
    for text in below:
        line(console, text, "dim", copied=True)


def render_submission(result: Result, rulings: Sequence[Ruling], console: Console) -> None:
    """Print ``result`` as it was when it was graded, then what is known of the record."""
    render_result(result, console)
    by = plain(result.environment.harness, 20)
    graded = f"{result.created:%Y-%m-%d %H:%M:%S} UTC by harness {by}"
    line(console, f"result  {plain(result.id, 80)}", "dim", copied=True)
    line(console, f"graded  {graded}", "dim", copied=True)
    if result.solution.path:
        line(console, f"file    {plain(result.solution.path, 1000)}", "dim", copied=True)
    if result.origin:
        line(console, f"origin  imported from {plain(result.origin, 100)}", "yellow", copied=True)
    for ruling in rulings:
        line(console, f"ruling  {ruling_line(ruling)}", "yellow", copied=True)


def ruling_line(ruling: Ruling) -> str:
    """``INVALIDATED 2026-03-01 by carol: reason``."""
    ruled = f"{ruling.action} {ruling.created:%Y-%m-%d} by {plain(ruling.who, 60)}"
    return f"{ruled}: {plain(ruling.reason, 400)}" if ruling.reason else ruled


def submissions_json(results: Sequence[Result], rulings: Sequence[Ruling]) -> str:
    """A JSON list of what a table shows and a little more; keys: docs/reference/result.md."""
    about = _by_result(rulings)
    return json.dumps([_summary(each, about.get(each.id, [])) for each in results])


def submission_json(result: Result, rulings: Sequence[Ruling]) -> str:
    """A JSON object: the whole ``result``, whether it ``counts``, and its ``rulings``."""
    ruled = ",".join(ruling.to_json() for ruling in rulings)
    counted = json.dumps(counts(rulings))
    return f'{{"result":{result.to_json()},"counts":{counted},"rulings":[{ruled}]}}'


def _summary(result: Result, rulings: Sequence[Ruling]) -> dict[str, object]:
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
        "origin": result.origin,
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


def _length(ids: Sequence[str]) -> int:
    """How many characters tell these ids apart, :data:`SHORT` at least."""
    longest = max(map(len, ids))
    different = len(set(ids))
    lengths = range(SHORT, max(SHORT, longest))
    return next((n for n in lengths if len({each[:n] for each in ids}) == different), longest)
