"""How far grades of the same file are apart, and whether one that takes 1 % longer comes out below.

Kernels that spin for a millisecond are graded over a baseline that spins as long, so that the
card's clock rate, which differs by a per cent from process to process, falls out as it does
between kernels that compute. Beside them a matrix product, on the shapes of `throughput.py`, and
sums of vectors so large that few fit into a card.
"""

import itertools
import math
import shutil
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.ladder.rungs import COPY, spin_source
from benchmarks.throughput import SAMPLES, SLUG, modest

SPIN = "spin"
SLOWER = 1.01
VECTORS = "vector-add"
_LARGE = "benchmarks:\n  - {n: 8388608}\n  - {n: 3333333}\n"
_CYCLES = 2_000_000
_BASELINE = f'''"""Spins as long as the kernels that are timed beside it, and copies."""

import torch


def solution(x, y, n):
    if x.is_cuda:
        torch.cuda._sleep({_CYCLES})
    y.copy_(x)
'''

Grade = dict[str, Any]
"""``value``, ``low`` and ``high`` of a speed-up; ``ranked``; the card's ``clock_mhz``."""


def spin_problem(folder: Path) -> Path:
    """The package of a copy whose baseline spins, written below ``folder``."""
    package = folder / SPIN
    shutil.copytree(COPY, package)
    (package / "baseline.py").write_text(_BASELINE)
    statement = package / "problem.md"
    text = statement.read_text().replace(f'slug: "{COPY.name}"', f'slug: "{SPIN}"')
    # Large cases would take longer to check than the kernels to time.
    for old, new in (("{n: 8388608}", "{n: 1048576}"), ("134217728", "1048576")):
        assert old in text
        text = text.replace(old, new)
    statement.write_text(text)
    return package


def spins(folder: Path, slower: float = SLOWER) -> list[Path]:
    """A kernel that spins, and one that spins for longer, written to ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / "spin.cu", folder / "slower.cu"]
    for file, factor in zip(files, (1.0, slower), strict=True):
        file.write_text(spin_source(round(_CYCLES * factor)))
    return files


def repeat(
    submit: Callable[..., list[dict[str, Any]]], folder: Path, times: int, seconds: float
) -> dict[str, Any]:
    """Grade four files again and again, in processes of their own, and print how scores scatter.

    ``submit`` runs the command in a process and returns the results. No new round begins after
    ``seconds``.
    """
    problems, solutions = folder / "problems", folder / "solutions"
    spin_problem(problems)
    modest(problems / SLUG)
    spins(solutions / SPIN / "bench")
    modest(problems / VECTORS, VECTORS, _LARGE)
    vectors = SAMPLES.parents[1] / VECTORS / "samples" / "vectorized.cu"
    for slug, sample in ((SLUG, SAMPLES / "tiled.cu"), (VECTORS, vectors)):
        copy = solutions / slug / "bench" / sample.name
        copy.parent.mkdir(parents=True)
        shutil.copy(sample, copy)
    scores: dict[str, list[Grade]] = defaultdict(list)
    start = time.perf_counter()
    for _ in range(times):
        if time.perf_counter() - start > seconds:
            break
        for result in submit(
            str(solutions), "--problems", str(problems), "--store", str(folder / "repeat.sqlite")
        ):
            name, score = result["solution"]["name"], result["score"]
            if score is None:
                print(f"{name}: {result['verdict']} {result['message'][:90]}")
                continue
            clock = (result["conditions"] or {}).get("clock_mhz")
            scores[name].append({**score["speedup"], "ranked": score["ranked"], "clock_mhz": clock})
            if not score["ranked"]:
                print(f"{name}: {score['unranked_reason'][:90]}")
    for line in table(scores):
        print(line)
    sigma = spread_between(list(scores.values()))
    print(f"σ_AA, what the intervals do not hold and boards allow for: {sigma:.2%}")
    found = {
        "scores": dict(scores),
        "sigma_aa": sigma,
        **told_apart(scores.get("spin", []), scores.get("slower", [])),
    }
    print(f"1 % slower: ranked below in {found['told']} of {found['pairs']} pairs of grades")
    for name, graded in scores.items():
        near = [abs(math.log(a["value"] / b["value"])) <= 0.005 for a, b in _pairs(graded)]
        print(f"{name} against itself: within 0.5 % in {sum(near)} of {len(near)} pairs of grades")
    return found


def table(scores: dict[str, list[Grade]]) -> list[str]:
    """A line for each file: grades, how many were ranked, score, interval, scatter."""
    lines = ["solution | grades | ranked | median speed-up | ± (median) | σ of log score | largest"]
    for name, found in scores.items():
        logs = [math.log(one["value"]) for one in found]
        half = statistics.median(one["high"] / one["value"] - 1 for one in found)
        spread = statistics.stdev(logs) if len(logs) > 1 else math.nan
        most = max(abs(x - statistics.median(logs)) for x in logs)
        lines.append(
            f"{name} | {len(found)} | {sum(bool(o['ranked']) for o in found)} | "
            f"{math.exp(statistics.median(logs)):.4f} | ±{half:.2%} | {spread:.3%} | {most:.2%}"
        )
    return lines


def spread_between(files: Sequence[Sequence[Grade]]) -> float:
    """σ_AA as boards find it, from the grades of each file in their order."""
    import numpy as np

    from leaderboard.spread import grade_spread
    from leaderboard.ties import standard_errors

    ends = [[(g["value"], g["low"], g["high"]) for g in grades] for grades in files]
    value, low, high = np.array(list(itertools.chain(*ends))).reshape(-1, 3).T
    which = np.repeat(np.arange(len(files)), [len(grades) for grades in files])
    return grade_spread(np.log(value), standard_errors(low, high), which)


def told_apart(fast: Sequence[Grade], slow: Sequence[Grade]) -> dict[str, int]:
    """In how many ``pairs`` of grades of two files the slower one was ``told``: ranked below."""
    import numpy as np

    from leaderboard.ties import beats, standard_errors

    def entry(grade: Grade) -> tuple[Any, Any]:
        low, high = np.array([grade["low"]]), np.array([grade["high"]])
        return np.array([math.log(grade["value"])]), standard_errors(low, high)

    told = [
        bool(beats(float(one[0][0]), float(one[1][0]), *other)[0])
        for one, other in itertools.product(map(entry, fast), map(entry, slow))
    ]
    return {"told": sum(told), "pairs": len(told)}


def _pairs(graded: Sequence[Grade]) -> list[tuple[Grade, Grade]]:
    return list(itertools.combinations(graded, 2))
