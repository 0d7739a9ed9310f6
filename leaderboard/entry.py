"""The entry of a result: what boards and the comparison of models ask of it, as plain values.

A record is some ten kilobytes, of which a board shows one line; the store keeps the entries in a
table of their own (``leaderboard.schema.ENTRIES``), so that a board need not read the records.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.records.result import Result

INCONCLUSIVE = frozenset({"INTERNAL_ERROR", "NOT_EXECUTABLE_HERE", "INVALID_SUBMISSION"})
"""Verdicts that do not withdraw an accepted solution: they tell of the machine or the request."""

Value = str | float | bool | datetime | None


def entry(result: Result) -> dict[str, Value]:
    """The columns of :data:`leaderboard.schema.ENTRIES` but for ``seq``; the date has no zone."""
    score = result.score
    generation = result.solution.generation
    return {
        "problem": result.problem.slug,
        "dtype": result.dtype,
        "device_kind": result.device.kind,
        "device": result.device.name,
        "harness_major": result.environment.harness_major,
        "baseline": score.baseline if score else "",
        "author": result.solution.author,
        "solution": result.solution.name,
        "language": result.language,
        "time_us": score.time_s * 1e6 if score else None,
        "speedup": score.speedup.value if score else None,
        "speedup_low": score.speedup.low if score else None,
        "speedup_high": score.speedup.high if score else None,
        "unranked_reason": score.unranked_reason if score else "not timed",
        "date": result.created.replace(tzinfo=None),
        "problem_hash": result.problem.hash,
        "solution_hash": result.solution.hash,
        "harness": result.environment.harness,
        "result": result.id,
        "sol_fraction": result.sol_fraction,
        "origin": result.origin,
        "libraries": ", ".join(each.name for each in result.build.libraries)
        if result.build
        else "",
        "accepted": result.accepted,
        "conclusive": result.verdict not in INCONCLUSIVE,
        "model": generation.model if generation else "",
        "verdict": str(result.verdict),
        "reason": str(result.reason or ""),
    }
