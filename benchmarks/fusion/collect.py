"""`python -m benchmarks fusion`."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.fusion.grades import Submit, graded, graded_as, read_results
from benchmarks.fusion.profiles import ceilings_of, kept, profiled
from benchmarks.fusion.rows import row, table
from benchmarks.fusion.ways import FUSED, ways
from harness.records.result import Result

Data = dict[str, Any]


def fusion(
    slugs: Sequence[str],
    *,
    card: str,
    submit: Submit,
    dtype: str | None = None,
    results: Sequence[Path] = (),
    profiles: Path | None = None,
    seconds: float = 400.0,
) -> Data:
    """Collect all that is known of the problems ``slugs``, all of :data:`FUSED` if empty; a table.

    ``card`` is the name of the card here, empty for none. Gains come from ``results``, which are
    JSON lines, where there are any, else files are graded by ``submit``; launches from the data in
    ``profiles`` as far as those are of the same files and versions, else from the card. No way is
    begun on the card after ``seconds``.
    """
    wanted = [ways(slug, dtype) for slug in slugs or FUSED]
    there = [way for some in wanted for way in some if way.file is not None]
    known = _read(profiles)
    recorded = list(read_results(results) if results else graded(there, submit) if card else ())
    # Without a card the figures are another machine's, and nothing of this one belongs to them.
    where = {"card": card} if card else _elsewhere(known, recorded)
    card = where["card"]
    seen = profiled(there, kept(there, known, card), ceilings_of(known, card), seconds)
    found = {way.key: graded_as(way, recorded, card) for way in there}
    rows = [row(some, seen, found) for some in wanted]
    for line in table(rows):
        print(line)
    bandwidth = None if seen.ceilings is None else seen.ceilings.bandwidth
    return {**where, "bandwidth": bandwidth, "problems": rows}


def _elsewhere(known: Data, recorded: Sequence[Result]) -> Data:
    """What the figures of an earlier run, or else the newest result of a card, depend on."""
    names = ("date", "card", "driver", "torch", "triton")
    if known:
        return {name: known[name] for name in names}
    of_cards = [result for result in recorded if not result.device.emulated]
    if not of_cards:
        return {"card": ""}
    newest = max(of_cards, key=lambda result: result.created)
    ran = newest.environment
    values = (f"{newest.created:%Y-%m-%d}", newest.device.name, ran.driver, ran.torch, ran.triton)
    return dict(zip(names, values, strict=True))


def _read(profiles: Path | None) -> Data:
    """What an earlier run wrote; empty without one.

    Raises:
        SystemExit: the file has other data.
    """
    if profiles is None:
        return {}
    data: Data = json.loads(profiles.read_text(encoding="utf-8"))
    if data.get("what") != "fusion":
        raise SystemExit(f"--profiles {profiles}: python -m benchmarks --json has not written it")
    return data
