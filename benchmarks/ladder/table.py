"""The ladder as a table, and how far each clock is off."""

import math
import statistics
from collections.abc import Iterator, Sequence
from typing import Any

CLOCKS = {"ours_s": "judge", "events_s": "events", "do_bench_s": "do_bench"}
SM_CLOCKS = ("clock_", "cupti_", "clocks_")
"""Whose readings of the card's clock a row has: the judge's, and those of both honest processes."""
LONG_S = 20e-6
"""From here on what is off counts in per cent, below in microseconds."""

Row = dict[str, Any]


def lines(rows: Sequence[Row]) -> Iterator[str]:
    """A line of names, and one for each rung."""
    clocks = "CUPTI, µs | graph, µs | ours, µs | events, µs | do_bench, µs"
    yield f"kernel | {clocks} | ours ± | calls | captured | SM clock, MHz: judge, CUPTI, others"
    for row in rows:
        cupti = row.get("cupti_s")
        if cupti is None:
            yield f"{row['kernel']} | {row.get('error', 'not measured')}"
            continue
        graph = f"{row['graph_s'] * 1e6:.2f} (ours {row['ours_s'] / row['graph_s'] - 1:+.1%})"
        cells = [row["kernel"], f"{cupti * 1e6:.2f}", graph]
        cells += [f"{row[key] * 1e6:.2f} ({row[key] / cupti - 1:+.1%})" for key in CLOCKS]
        half = row["high_s"] / row["ours_s"] - 1
        cells += [f"{half:.1%}", str(row["calls"]), "yes" if row["captured"] else "no"]
        cells.append(", ".join(_megahertz(row.get(f"{who}mhz")) for who in SM_CLOCKS))
        yield " | ".join(cells)


def _megahertz(ends: Sequence[int] | None) -> str:
    """The lowest and the highest that were seen."""
    return "–".join(str(end) for end in sorted(set(ends))) if ends else "?"


def bias(rows: Sequence[Row]) -> dict[str, dict[str, float | int]]:
    """For each clock: how far off it is, in the median and at most; signs are kept.

    ``long`` are parts of what CUPTI says, ``short`` seconds. ``best`` counts the rungs at which no
    other clock is nearer.
    """
    known = [row for row in rows if row.get("cupti_s")]
    long = [row for row in known if row["cupti_s"] >= LONG_S]
    short = [row for row in known if row["cupti_s"] < LONG_S]

    def off(row: Row, key: str) -> float:
        return float(row[key] - row["cupti_s"])

    found: dict[str, dict[str, float | int]] = {}
    for key, name in CLOCKS.items():
        parts = [off(row, key) / row["cupti_s"] for row in long]
        times = [off(row, key) for row in short]
        found[name] = {
            "long_median": statistics.median(parts) if parts else math.nan,
            "long_worst": max(parts, key=abs, default=math.nan),
            "short_median_s": statistics.median(times) if times else math.nan,
            "short_worst_s": max(times, key=abs, default=math.nan),
            "best": sum(
                abs(off(row, key)) <= min(abs(off(row, other)) for other in CLOCKS) for row in known
            ),
        }
    return found


def summary(rows: Sequence[Row]) -> Iterator[str]:
    """A line for each clock, and one for the judge against the device's clock around a graph."""
    for name, of in bias(rows).items():
        yield (
            f"{name}: from {LONG_S * 1e6:.0f} µs on {of['long_median']:+.2%} in the median, "
            f"{of['long_worst']:+.2%} at most; below {of['short_median_s'] * 1e6:+.2f} µs, "
            f"{of['short_worst_s'] * 1e6:+.2f} µs at most; nearest at {of['best']} rungs"
        )
    known = [row for row in rows if row.get("graph_s")]
    long = [row["ours_s"] / row["graph_s"] - 1 for row in known if row["graph_s"] >= LONG_S]
    short = [row["ours_s"] - row["graph_s"] for row in known if row["graph_s"] < LONG_S]
    if long and short:
        yield (
            f"judge against the same graph: from {LONG_S * 1e6:.0f} µs on "
            f"{statistics.median(long):+.2%} in the median, {max(long, key=abs):+.2%} at most; "
            f"below {statistics.median(short) * 1e6:+.2f} µs, "
            f"{max(short, key=abs) * 1e6:+.2f} µs at most; "
            f"host's clock / device's: {statistics.median(row['clock'] for row in known):.5f}"
        )
