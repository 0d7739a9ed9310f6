"""All that is known of one problem, as data and as a line of a table."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from benchmarks.fusion.profiles import Seen
from benchmarks.fusion.ways import HAND, LIBRARY, UNFUSED, WAYS, Key, Way
from harness.records.measurement import Interval
from harness.records.profile import KernelProfile
from harness.records.result import Result
from harness.text import numbers

Data = dict[str, Any]

_TRAFFIC = ("read_bytes", "written_bytes")
_SHOWN = {"name", "duration_s", *_TRAFFIC}
"""What is kept of a launch."""


def fused_seconds(
    flops: float | None, moved: float | None, bandwidth: float, peak: float | None
) -> float | None:
    """Least seconds of one kernel; None where the problem does not say what it does and moves."""
    if moved is None or (flops is None and peak is not None):
        return None
    return max(moved / bandwidth, (flops or 0.0) / peak if peak else 0.0)


def unfused_seconds(
    kernels: Sequence[KernelProfile], flops: float | None, bandwidth: float, peak: float | None
) -> float | None:
    """Least seconds of some kernels one after the other; None where one's bytes are not known.

    All operations are those of the launch that took longest: the product, where there is one.
    """
    traffic = [moved(kernel) for kernel in kernels]
    times = [kernel.duration_s or 0.0 for kernel in kernels]
    longest = times.index(max(times))
    parts = [
        fused_seconds(flops if number == longest else 0.0, each, bandwidth, peak)
        for number, each in enumerate(traffic)
    ]
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None


def moved(kernel: KernelProfile) -> float | None:
    """DRAM bytes that a launch reads and writes."""
    if kernel.read_bytes is None or kernel.written_bytes is None:
        return None
    return kernel.read_bytes + kernel.written_bytes


def row(some: Sequence[Way], seen: Seen, results: Mapping[Key, Result | str]) -> Data:
    """All that is known of one problem, whose ways these are; times in seconds, sizes in bytes.

    What is not known is None, or empty, and beside it stands why.
    """
    problem, slug, dtype = some[0].problem, some[0].problem.slug, some[0].dtype
    cases = problem.timed_cases(emulated=False)
    ceilings = seen.ceilings
    peak = None if ceilings is None else ceilings.peaks.get(slug)
    calls = seen.calls.get((slug, UNFUSED), "not profiled")
    why = "not all bytes and operations are known"
    if isinstance(calls, str):
        why = calls
    elif ceilings is None:
        why = "the card's roofline was not measured"
    shapes: list[Data] = []
    for number, case in enumerate(cases):
        cost = problem.work(case, dtype)
        one = unfused = None
        if ceilings is not None:
            one = fused_seconds(cost.flops, cost.bytes, ceilings.bandwidth, peak)
            if not isinstance(calls, str):
                kernels = calls[number].kernels
                unfused = unfused_seconds(kernels, cost.flops, ceilings.bandwidth, peak)
        shapes.append(
            {
                "spec": case.spec,
                "flops": cost.flops,
                "bytes": cost.bytes,
                "fused_s": one,
                "unfused_s": unfused,
                "predicted": unfused / one if one and unfused else None,
            }
        )
    predicted = mean([shape["predicted"] for shape in shapes])
    specs = [case.spec for case in cases]
    return {
        "problem": slug,
        "title": problem.title,
        "problem_hash": problem.hash,
        "dtype": dtype,
        "peak": peak,
        "shapes": shapes,
        "predicted": predicted,
        "not_predicted": why if predicted is None else "",
        "ways": {way.name: _way(way, specs, seen, _times(way, results)) for way in some},
    }


def _times(way: Way, results: Mapping[Key, Result | str]) -> Result | str:
    """The result that has times of ``way``: the baseline's is timed beside the others."""
    beside = WAYS if way.name == UNFUSED else (way.name,)
    found = [results.get((way.problem.slug, name), "no such sample") for name in beside]
    return next((result for result in found if isinstance(result, Result)), found[0])


def _way(way: Way, specs: Sequence[str], seen: Seen, result: Result | str) -> Data:
    baseline = way.name == UNFUSED
    calls = seen.calls.get(way.key, "no such sample" if way.file is None else "not profiled")
    score = None if isinstance(result, str) or baseline else result.score
    measured = {} if isinstance(result, str) else {m.spec: m for m in result.measurements}
    shapes: list[Data] = []
    for number, spec in enumerate(specs):
        kernels = () if isinstance(calls, str) else calls[number].kernels
        counted = time_s = gain = None
        if (one := measured.get(spec)) is not None:
            counted = one.baseline_kernels if baseline else one.kernels
            time_s = (one.baseline_s if baseline else one.time_s).model_dump(mode="json")
            gain = None if baseline else one.speedup.model_dump(mode="json")
        read, written = ([getattr(k, name) for k in kernels] for name in _TRAFFIC)
        shapes.append(
            {
                "spec": spec,
                "launches": len(kernels) if kernels else counted,
                "read_bytes": total(read),
                "written_bytes": total(written),
                "kernels": [kernel.model_dump(include=_SHOWN) for kernel in kernels],
                "time_s": time_s,
                "gain": gain,
            }
        )
    return {
        "file": way.shown,
        "hash": way.hash,
        "shapes": shapes,
        "gain": score and score.speedup.model_dump(mode="json"),
        "ranked": score is not None and score.ranked,
        "graded": None if isinstance(result, str) else f"{result.created:%Y-%m-%d}",
        "not_profiled": calls if isinstance(calls, str) else "",
        "not_measured": result if isinstance(result, str) else "",
    }


def total(values: Sequence[float | None]) -> float | None:
    """The sum; None without values, or if one of them is not known."""
    known = [value for value in values if value is not None]
    return sum(known) if known and len(known) == len(values) else None


def mean(values: Sequence[float | None]) -> float | None:
    """The geometric mean; None without values, or if one of them is not known."""
    known = [value for value in values if value is not None]
    if not known or len(known) < len(values):
        return None
    return math.exp(math.fsum(map(math.log, known)) / len(known))


def ratio(interval: Data | None) -> str:
    """``1.31× ± 0.02``; empty where there is none."""
    return "" if interval is None else numbers.ratio(Interval.model_validate(interval))


def launches(each: Data) -> str:
    """Launches a call, from the fewest of a shape to the most; empty where they are not known."""
    known = [shape["launches"] for shape in each["shapes"] if shape["launches"] is not None]
    if not known or len(known) < len(each["shapes"]):
        return ""
    return "–".join(dict.fromkeys(f"{count:g}" for count in (min(known), max(known))))


def table(rows: Iterable[Data]) -> Iterator[str]:
    """A line for each problem."""
    yield "problem | type | launches unfused, library, hand | predicted | library | hand"
    for each in rows:
        counts = ", ".join(launches(each["ways"][way]) or "?" for way in WAYS)
        gains = []
        for way in (LIBRARY, HAND):
            of = each["ways"][way]
            gains.append(ratio(of["gain"]) or of["not_measured"] or "?")
        predicted = each["not_predicted"] or "?"
        if each["predicted"] is not None:
            predicted = f"{each['predicted']:.2f}×"
        yield " | ".join([each["problem"], each["dtype"], counts, predicted, *gains])
