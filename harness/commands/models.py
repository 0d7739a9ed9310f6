"""The command that compares models: what ``harness leaderboard --by model`` adds to the boards."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import IO, TYPE_CHECKING, TypeVar

from rich.console import Console

from harness.errors import UsageError
from harness.report.models import render_models
from harness.text.plain import json_text, plain
from leaderboard.models import by_model, write_csv

if TYPE_CHECKING:
    from leaderboard.ranking import Frame

_MAX_K = 10_000

Number = TypeVar("Number", int, float)
Open = Callable[[str], AbstractContextManager[IO[str]]]


def compare_models(
    entries: Frame,
    current: Mapping[str, str],
    *,
    ks: str,
    ps: str,
    csv_to: str | None,
    json_to: str | None,
    output: Open,
) -> None:
    """Print models by their samples, or write them to what ``output`` opens by its name.

    Raises:
        UsageError: ``ks`` or ``ps`` is no list of numbers.
    """
    rows = by_model(
        entries,
        ks=_numbers("--k", ks, int, lambda k: 1 <= k <= _MAX_K),
        ps=_numbers("--p", ps, float, lambda p: 0 <= p < math.inf),
        current=current,
    )
    cells = [row.cells() for row in rows]
    if csv_to:
        with output(csv_to) as file:
            write_csv(rows, file)
    if json_to:
        known = [{key: _known(value) for key, value in row.items()} for row in cells]
        with output(json_to) as file:
            file.write(json_text(json.dumps(known)) + "\n")
    if "-" not in (csv_to, json_to):
        render_models(cells, Console())


def _known(value: str | int | float) -> str | int | float | None:
    return None if isinstance(value, float) and math.isnan(value) else value


def _numbers(
    option: str, text: str, kind: Callable[[str], Number], allowed: Callable[[Number], bool]
) -> list[Number]:
    try:
        numbers = [kind(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if not numbers or not all(map(allowed, numbers)):
        least = "1" if kind is int else "0"
        raise UsageError(
            f"{option} {plain(text, 80)}: a list of numbers from {least} on, as 1,5,10"
        )
    return sorted(set(numbers))
