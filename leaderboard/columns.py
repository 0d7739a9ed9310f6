"""What a board shows: the columns that its users may rely on."""

from collections.abc import Mapping
from typing import NamedTuple


class Column(NamedTuple):
    """The type that pandas gives a column, and what is in it."""

    kind: str
    meaning: str


DESCRIBED: Mapping[str, Column] = {
    "problem": Column("str", "slug of the problem"),
    "dtype": Column("str", "data type that [VAR] stood for"),
    "device_kind": Column("str", "cuda or cpu: never on one board"),
    "device": Column("str", "name of the device"),
    "harness_major": Column("str", "first number of `harness`"),
    "baseline": Column("str", "what the speed-up is over; empty if nothing was timed"),
    "rank": Column("Int64", "1 is best, ties share; missing: not ranked"),
    "author": Column("str", "who submitted it"),
    "solution": Column("str", "name of the submitted file"),
    "language": Column("str", "`cuda`, `triton` or `python`"),
    "time_us": Column(
        "float64", "geometric mean of the times per call over the shapes, microseconds"
    ),
    "speedup": Column("float64", "geometric mean of the speed-ups over `baseline`"),
    "speedup_low": Column("float64", "the lower end of its 95 % interval"),
    "speedup_high": Column("float64", "the interval's upper end"),
    "unranked_reason": Column("str", "empty for ranked entries"),
    "date": Column("datetime64[us, UTC]", "when it was graded"),
    "problem_hash": Column("str", "version of the problem that it was measured on"),
    "solution_hash": Column("str", "SHA-256 of the submitted file"),
    "harness": Column("str", "version that graded"),
    "result": Column("str", "id of the result in the store"),
    "sol_fraction": Column(
        "float64", "geometric mean of the parts of the speed of light; missing: not known"
    ),
}
"""Columns of a board in their order. New ones will be added at the end."""

COLUMNS: Mapping[str, str] = {name: column.kind for name, column in DESCRIBED.items()}
"""The same with their pandas types alone."""
