"""Models as a page shows them: a table for each device and data type, shares as bars."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from harness.records.result import Reason, Verdict

if TYPE_CHECKING:
    from leaderboard.models import ModelRow

MOST = 100
"""Models in one table."""


class Line(NamedTuple):
    """A model with its figures."""

    model: str
    counts: tuple[int, int, int]
    """Problems, those that are solved, samples that are decided."""
    shares: tuple[float | None, ...]
    """One for each of the table's columns; None where it is not known."""
    speedup: float | None
    verdicts: str
    """What became of the samples."""


@dataclass(frozen=True, slots=True)
class ModelTable:
    """The models on one device in one data type, the best first."""

    dtype: str
    device: str
    emulated: bool
    harness_major: str
    columns: tuple[str, ...]
    """Names of the shares that are known of some model: pass@k, then fast_p of the least k."""
    lines: tuple[Line, ...]
    count: int
    """How many models there are, shown or not."""

    @classmethod
    def of(cls, rows: Iterable["ModelRow"]) -> "Sequence[ModelTable]":
        """The tables, by data type and device."""
        groups: dict[tuple[str, ...], list[ModelRow]] = {}
        for row in rows:
            key = (row.dtype, row.device_kind, row.device, row.harness_major)
            groups.setdefault(key, []).append(row)
        return [cls._of(group) for _, group in sorted(groups.items(), key=lambda item: item[0])]

    @classmethod
    def _of(cls, rows: "list[ModelRow]") -> "ModelTable":
        first = rows[0]
        shares = [_shares(row) for row in rows]
        columns = [name for name in shares[0] if any(each[name] is not None for each in shares)]
        lines = [_line(row, each, columns) for row, each in zip(rows, shares, strict=True)]
        lines.sort(key=lambda line: [-(part or 0) for part in line.shares])
        return cls(
            dtype=first.dtype,
            device=first.device,
            emulated=first.device_kind == "cpu",
            harness_major=first.harness_major,
            columns=tuple(columns),
            lines=tuple(lines[:MOST]),
            count=len(lines),
        )


def _shares(row: "ModelRow") -> dict[str, float | None]:
    least = min(row.passed)
    passed = {f"pass@{k}": _known(share) for k, share in row.passed.items()}
    fast = {  # fast_0 is pass
        f"fast_{p:g}@{k}": _known(share) for (p, k), share in row.fast.items() if p and k == least
    }
    return passed | fast


def _line(row: "ModelRow", shares: dict[str, float | None], columns: Sequence[str]) -> Line:
    return Line(
        row.model,
        (row.problems, row.solved, row.samples),
        tuple(shares[name] for name in columns),
        _known(row.speedup),
        _verdicts(row),
    )


def _verdicts(row: "ModelRow") -> str:
    """``3 accepted, 2 wrong answer``: each sample once, reasons in brackets."""
    counts = {verdict: row.verdicts.get(verdict, 0) for verdict in Verdict}
    shown = {verdict: f"{count} {_words(verdict)}" for verdict, count in counts.items() if count}
    reasons = ", ".join(
        f"{row.reasons[each]} {_words(each)}" for each in Reason if row.reasons.get(each)
    )
    if reasons and Verdict.INVALID_SUBMISSION in shown:
        shown[Verdict.INVALID_SUBMISSION] += f" ({reasons})"
    return ", ".join(shown.values())


def _words(name: str) -> str:
    return str(name).lower().replace("_", " ")


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value
