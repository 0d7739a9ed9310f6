"""The times of entries shape by shape, which a board gives the geometric mean of; as CSV, too.

They are in the records alone, so that it is the entries with a record at hand that have them.
"""

import csv
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, fields
from typing import IO

from harness.records.result import Result
from leaderboard.board import BoardRow
from leaderboard.csvfile import neutral


@dataclass(frozen=True, slots=True)
class ShapeRow:
    """An entry on one timed shape. Fields are the columns of the CSV; new ones come at the end."""

    problem: str
    """Slug of the problem."""
    dtype: str
    """Data type that [VAR] stood for."""
    device_kind: str
    """cuda or cpu."""
    device: str
    """Name of the device."""
    harness_major: str
    """First number of the harness's version."""
    baseline: str
    """What the speed-up is over."""
    rank: int | None
    """The rank of the entry on its board; missing: not ranked."""
    author: str
    """Who submitted it."""
    solution: str
    """Name of the submitted file."""
    language: str
    """Name of the language."""
    result: str
    """Id of the result in the store."""
    shape: str
    """Sizes and scalars, as ``--case`` takes them."""
    time_us: float
    """Time per call, microseconds."""
    time_us_low: float
    """The lower end of its 95 % interval."""
    time_us_high: float
    """The interval's upper end."""
    baseline_us: float
    """Time per call of the baseline, microseconds."""
    speedup: float
    """The baseline's time over the submission's."""
    speedup_low: float
    """The lower end of its 95 % interval."""
    speedup_high: float
    """The interval's upper end."""
    sol_fraction: float | None
    """Part of the speed of light; missing: not known."""
    flops: float | None
    """Floating-point operations of a call; missing: the problem does not say."""
    bytes: float | None
    """Bytes that a call must move; missing: the problem does not say."""
    kernels: float | None
    """Kernels that a call launches; missing: not known."""


SHAPE_COLUMNS = [each.name for each in fields(ShapeRow)]


def shape_rows(row: BoardRow, result: Result) -> Iterator[ShapeRow]:
    """The shapes of the entry ``row``, whose record is ``result``, in their order."""
    named = {name: getattr(row, name) for name in SHAPE_COLUMNS[: SHAPE_COLUMNS.index("shape")]}
    for each in result.measurements:
        yield ShapeRow(
            **named,
            shape=each.spec,
            time_us=each.time_s.value * 1e6,
            time_us_low=each.time_s.low * 1e6,
            time_us_high=each.time_s.high * 1e6,
            baseline_us=each.baseline_s.value * 1e6,
            speedup=each.speedup.value,
            speedup_low=each.speedup.low,
            speedup_high=each.speedup.high,
            sol_fraction=each.sol_fraction,
            flops=each.flops,
            bytes=each.bytes,
            kernels=each.kernels,
        )


class ShapesCsv:
    """Writes rows as CSV: text is made harmless as on a board's, what is missing is empty."""

    def __init__(self, file: IO[str]) -> None:
        self._writer = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
        self._writer.writerow(SHAPE_COLUMNS)

    def write(self, rows: Iterable[ShapeRow]) -> None:
        """Add ``rows``."""
        for row in rows:
            cells = asdict(row).values()
            self._writer.writerow([neutral(c) if isinstance(c, str) else c for c in cells])
