"""What a board needs to know of a result: a few values, kept beside the record by the store.

A record is some ten kilobytes, of which a board shows one line; to read a hundred thousand of them
takes minutes, to read their standings a second. Many are read at once, by columns:
:mod:`leaderboard.standings`.
"""

from __future__ import annotations

import json
import math
import struct
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from harness.records.result import Result


FORM = 3
"""Version of :class:`Standing`; those of another one are made again from their records."""

WIDTHS = (6, 7, 1, 6, 5)
"""How many values are in each part of a standing: what makes a board; the entry and its numbers;
why it is not ranked; where it comes from; what no board shows."""

SILENT = frozenset({"INTERNAL_ERROR", "NOT_EXECUTABLE_HERE", "INVALID_SUBMISSION"})
"""Verdicts that do not withdraw an accepted solution: they tell of the machine or the request."""


_FACTS = struct.Struct("<16s16s16sQqddd???")

FACTS = np.dtype(
    [
        ("solution", "S16"),
        ("version", "S16"),
        ("author", "S16"),
        ("result", "<u8"),
        ("date", "<i8"),
        ("speedup", "<f8"),
        ("low", "<f8"),
        ("high", "<f8"),
        ("accepted", "?"),
        ("speaks", "?"),
        ("unranked", "?"),
    ]
)
"""What ranking asks of a standing, in so many bytes: names are digests, since all that is asked is
whether two are the same. ``solution`` is a file of an author for a version of a problem, wherever
it can be compared; ``date`` is in microseconds since 1970."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_PARTS = tuple(map(slice, accumulate((0, *WIDTHS)), accumulate(WIDTHS)))
_ENCODE = json.JSONEncoder(separators=(",", ":")).encode


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
    sol_fraction: float
    accepted: bool
    speaks: bool
    model: str
    verdict: str
    reason: str

    def to_bytes(self) -> bytes:
        """Lines of ASCII: what ranking asks, as :data:`FACTS` in hexadecimal, and all values.

        These are in the parts that :data:`WIDTHS` tells of: JSON with commas between.
        """
        moment = datetime.fromisoformat(self.date) - _EPOCH
        facts = _FACTS.pack(
            _digest(*self[:5], self.problem_hash, self.author, self.solution_hash),
            _digest(self.problem, self.problem_hash),
            _digest(self.author),
            int.from_bytes(_digest(self.result)[:8], "little"),
            moment // timedelta(microseconds=1),
            self.speedup,
            self.speedup_low,
            self.speedup_high,
            self.accepted,
            self.speaks,
            self.unranked_reason != "",
        )
        texts = (_ENCODE(self[part])[1:-1] for part in _PARTS)
        return "\n".join([facts.hex(), *texts]).encode("ascii")


def _digest(*values: str) -> bytes:
    return blake2b(_ENCODE(values).encode("ascii"), digest_size=16).digest()


def standing(result: Result) -> Standing:
    """The standing of ``result``."""
    score = result.score
    light = result.sol_fraction
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
        date=result.created.replace(tzinfo=None).isoformat(timespec="microseconds") + "+0000",
        problem_hash=result.problem.hash,
        solution_hash=result.solution.hash,
        harness=result.environment.harness,
        result=result.id,
        sol_fraction=math.nan if light is None else light,
        accepted=result.accepted,
        speaks=result.verdict not in SILENT,
        model=generation.model if generation else "",
        verdict=str(result.verdict),
        reason=str(result.reason or ""),
    )
