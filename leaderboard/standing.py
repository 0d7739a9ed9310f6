"""What a board needs to know of a result: a few values, kept beside the record by the store.

A record is some ten kilobytes, of which a board shows one line; to read a hundred thousand of them
takes minutes, to read their standings a second.
"""

import json
import math
from collections.abc import Sequence
from typing import NamedTuple

from harness.result import Result, Verdict

FORM = 2
"""Version of :class:`Standing`; those of another one are made again from their records."""

SILENT = frozenset(
    {Verdict.INTERNAL_ERROR, Verdict.NOT_EXECUTABLE_HERE, Verdict.INVALID_SUBMISSION}
)
"""Verdicts that do not withdraw an accepted solution: they tell of the machine or the request."""


class Standing(NamedTuple):
    """The columns of a board but for the rank, and what decides whether it is on one.

    ``model``, ``verdict`` and ``reason`` are for comparing models. ``date`` is ISO 8601 in UTC;
    what is missing is NaN.
    """

    problem: str
    dtype: str
    device_kind: str
    device: str
    harness_major: str
    baseline: str
    author: str
    solution: str
    language: str
    time_us: float
    speedup: float
    speedup_low: float
    speedup_high: float
    unranked_reason: str
    date: str
    problem_hash: str
    solution_hash: str
    harness: str
    result: str
    of_light: float
    accepted: bool
    speaks: bool
    model: str
    verdict: str
    reason: str

    def to_json(self) -> str:
        """A JSON list in ASCII, NaN and infinity as Python writes them."""
        return json.dumps(self)

    @classmethod
    def from_json(cls, text: str) -> "Standing":
        """Read what :meth:`to_json` wrote.

        Raises:
            ValueError: it is something else.
        """
        values = json.loads(text)
        if not isinstance(values, list) or len(values) != len(cls._fields):
            raise ValueError("not the values of a standing")
        return cls._make(values)


def many_from_json(texts: Sequence[str]) -> list[Standing] | None:
    """Read many at once, which takes half the time; None if any is something else."""
    try:
        found = json.loads(f"[{','.join(texts)}]")
    except ValueError:
        return None
    fields = len(Standing._fields)
    if len(found) != len(texts) or not all(type(v) is list and len(v) == fields for v in found):
        return None
    return list(map(Standing._make, found))


def standing(result: Result) -> Standing:
    """The standing of ``result``."""
    score = result.score
    light = result.of_light
    generation = result.solution.generation
    return Standing(
        problem=result.problem.slug,
        dtype=result.dtype,
        device_kind=result.device.kind,
        device=result.device.name,
        harness_major=result.environment.harness.split(".")[0],
        baseline=score.baseline if score else "",
        author=result.solution.author,
        solution=result.solution.name,
        language=result.language,
        time_us=score.time_s * 1e6 if score else math.nan,
        speedup=score.speedup.value if score else math.nan,
        speedup_low=score.speedup.low if score else math.nan,
        speedup_high=score.speedup.high if score else math.nan,
        unranked_reason="not timed" if score is None else score.unranked_reason,
        date=result.created.isoformat(timespec="microseconds"),
        problem_hash=result.problem.hash,
        solution_hash=result.solution.hash,
        harness=result.environment.harness,
        result=result.id,
        of_light=math.nan if light is None else light,
        accepted=result.accepted,
        speaks=result.verdict not in SILENT,
        model=generation.model if generation else "",
        verdict=str(result.verdict),
        reason=str(result.reason or ""),
    )
