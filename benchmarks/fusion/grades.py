"""How fast the ways are: results that are recorded already, or grades made now."""

import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.fusion.ways import UNFUSED, Way
from harness.records.result import Result

Submit = Callable[..., list[dict[str, Any]]]
"""Runs ``harness submit`` with these arguments; the results as it prints them."""


def read_results(paths: Iterable[Path]) -> Iterator[Result]:
    """The results in JSON lines, of an export or of ``submit --json``, about which nobody ruled."""
    from harness.commands.exchange import read_lines

    entries = [entry for path in paths for entry in read_lines(path)]
    ruled = {entry.result for entry in entries if not isinstance(entry, Result)}
    for entry in entries:
        if isinstance(entry, Result) and entry.id not in ruled:
            yield entry


def graded(some: Sequence[Way], submit: Submit) -> Iterator[Result]:
    """Grades of the fused ways, one command for each data type, with the quick budget."""
    fused = [way for way in some if way.name != UNFUSED]
    with tempfile.TemporaryDirectory() as folder:
        for dtype in dict.fromkeys(way.dtype for way in fused):
            files = [str(way.file) for way in fused if way.dtype == dtype]
            place = ("--dtype", dtype, "--store", f"{folder}/fusion.sqlite")
            for data in submit(*files, *place, "--quick", "--no-shrink"):
                yield Result.from_json(json.dumps(data))


def graded_as(way: Way, results: Sequence[Result], card: str) -> Result | str:
    """The newest result of just this file on this version of the problem; or why there is none."""
    if way.file is None or way.name == UNFUSED:
        return "no such sample" if way.file is None else "what the others are held against"
    found = [r for r in results if (r.problem.slug, r.dtype) == (way.problem.slug, way.dtype)]
    name = way.file.name
    steps: tuple[tuple[str, Callable[[Result], bool]], ...] = (
        (f"no result of {name}", lambda r: Path(r.solution.path).name == name),
        (f"no result of this {name}", lambda r: r.solution.hash == way.hash),
        ("results of another version of the problem", lambda r: r.problem.hash == way.problem.hash),
        (f"no result of {card or 'a card'}", lambda r: r.device.name == card),
        ("no more than a rough time", lambda r: r.effort != "verdict"),
    )
    for why, fits in steps:
        found = [result for result in found if fits(result)]
        if not found:
            return why
    newest = max(found, key=lambda result: result.created)
    return newest if newest.score is not None else str(newest.verdict)
