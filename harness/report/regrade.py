"""A line for each solution that was to be graded again, and a closing count."""

from collections import Counter
from collections.abc import Sequence

from harness.records.result import Result, Verdict
from harness.text.plain import plain


def regraded_line(before: Result, after: Result) -> str:
    """``regraded  softmax · alice/first · float32: ACCEPTED``, and why not if it is not."""
    line = f"regraded  {_who(before)}: {after.verdict}"
    return line if after.accepted else f"{line}: {plain(after.message.splitlines()[0], 200)}"


def skipped_line(before: Result, reason: str) -> str:
    """``skipped   softmax · alice/first · float32: file gone``."""
    return f"skipped   {_who(before)}: {plain(reason, 200)}"


def closing_line(verdicts: Sequence[Verdict], skipped: int) -> str:
    """How many were graded again, with which verdicts, and how many were not."""
    if not verdicts and not skipped:
        return "nothing to grade again: the boards of this device are up to date"
    counts = [f"{count} {verdict}" for verdict, count in Counter(verdicts).items()]
    by_verdict = f" ({', '.join(counts)})" if counts else ""
    return f"{len(verdicts)} regraded{by_verdict}, {skipped} skipped"


def _who(result: Result) -> str:
    solution = f"{result.solution.author}/{result.solution.name}"
    return " · ".join(plain(part, 60) for part in (result.problem.slug, solution, result.dtype))
