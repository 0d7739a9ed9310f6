"""What others say must meet before it is believed at all: names, dates, and numbers that agree.

That a time was measured nobody can see in a record; what contradicts itself, or could not have come
from this harness, is told here. Records of earlier harnesses and of a store's own are not asked.
"""

import math
import re
import statistics
from datetime import UTC, datetime, timedelta

from harness.records.result import Result
from harness.records.ruling import Ruling
from harness.text.names import IN_WORDS, LONGEST, is_name
from harness.text.plain import plain, quoted

CLOCKS = timedelta(minutes=10)
"""How far the clock of another machine may be ahead."""

EARLIEST = datetime(2020, 1, 1, tzinfo=UTC)
"""No harness is older."""

_VERSION = re.compile(r"\d{1,9}(\.[0-9A-Za-z.+-]{1,60})?")
_LONGEST_DEVICE = 200
_ROUNDING = 1e-6


def complaint(entry: Result | Ruling) -> str:
    """Why ``entry``, which another machine wrote, cannot be what it says; empty if it can."""
    if not is_name(entry.id):
        return _no_name("id", entry.id)
    if entry.created > datetime.now(UTC) + CLOCKS:
        return "it was made in the future"
    if entry.created < EARLIEST:
        return f"it was made before there was a harness, {entry.created.isoformat()[:10]}"
    return _of_ruling(entry) if isinstance(entry, Ruling) else _of_result(entry)


def _of_ruling(ruling: Ruling) -> str:
    if not is_name(ruling.result):
        return _no_name("result", ruling.result)
    return _not_plain("name of who ruled", ruling.who, LONGEST)


def _of_result(result: Result) -> str:
    solution = result.solution
    # What could not be read has no author, no name and no hash; what has no code, no language.
    unread = not result.accepted and not solution.hash
    parts = {
        "problem": result.problem.slug,
        "version of the problem": result.problem.hash,
        "data type": result.dtype,
        **({} if unread else {"author": solution.author, "name of the file": solution.name}),
        **({} if unread else {"hash of the file": solution.hash}),
        **({"language": result.language} if result.accepted or result.language else {}),
    }
    for what, value in parts.items():
        if not is_name(value):
            return _no_name(what, value)
    if not _VERSION.fullmatch(result.environment.harness):
        return f"{quoted(result.environment.harness)} is no version of the harness"
    return _not_plain("device", result.device.name, _LONGEST_DEVICE) or _of_score(result)


def _of_score(result: Result) -> str:
    if result.score is None:
        return ""
    for what, value, parts in (
        ("speed-up", result.score.speedup.value, [m.speedup for m in result.measurements]),
        ("time", result.score.time_s, [m.time_s for m in result.measurements]),
    ):
        mean = statistics.fmean(math.log(part.value) for part in parts)
        if abs(math.log(value) - mean) > _ROUNDING:
            return f"its {what}, {value:.6g}, is not the mean of its shapes, {math.exp(mean):.6g}"
    return ""


def _not_plain(what: str, text: str, longest: int) -> str:
    if text and text == plain(text).strip() and len(text) <= longest:
        return ""
    return f"the {what} {quoted(text)} is not one line of at most {longest} visible characters"


def _no_name(what: str, value: str) -> str:
    return f"the {what} {quoted(value)} is none that a harness gives ({IN_WORDS})"
