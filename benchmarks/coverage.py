"""How often the interval of a speed-up covers the truth, under noise that is known.

Blocks are made up by models of what was seen on cards, and go through the judge's own stopping
rule and statistics. A 95 % interval should cover the true ratio in 95 of 100 grades, or more. Noise
that stays the same for a whole grade cannot be seen from within it: there the interval of one grade
covers less, and only ``σ_AA``, the spread between grades of the same files, makes up for it.
"""

import itertools
import math
import random
import statistics
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from harness.records.ties import Z95
from harness.timing.budget import TimingBudget
from harness.timing.measure import enough
from harness.timing.null_batches import in_turn, is_due
from harness.timing.statistics import Timed, ratio_interval
from leaderboard.spread import grade_spread
from leaderboard.ties import Floats, beats

BLOCK_S = 0.06
"""What a block of both programs takes with all around it, seconds."""
BATCH_S = 0.025
NOISE = 0.003
"""Standard deviation of independent noise, relative."""
LATE_S = 150e-6
"""By so much a third of the batches are late: a stopped process was continued late."""
SLOWER = 1.01
"""The kernel that is to be told from another takes so many times as long."""
STATE = 0.008
"""How far apart the two states are that a clock may stay in for longer than a grade."""
SHORT_S, LAUNCH_S = 8e-3, 250e-6
"""A batch as short as memory makes some, and what it takes beyond its calls if nobody is late."""

Source = random.Random
Block = tuple[Timed, Timed]
"""The submission's batch and the baseline's, of one call; both really take as long."""
Model = Callable[[Source, TimingBudget], Iterator[Block]]


def independent(source: Source, _: TimingBudget) -> Iterator[Block]:
    """Each batch is off by itself."""
    while True:
        yield Timed(_noisy(source)), Timed(_noisy(source))


def late(source: Source, _: TimingBudget) -> Iterator[Block]:
    """A third of the batches are late, whatever they take."""

    def batch() -> Timed:
        return Timed(_noisy(source) + LATE_S * (source.random() < 1 / 3))

    while True:
        yield batch(), batch()


def drifting(source: Source, _: TimingBudget) -> Iterator[Block]:
    """Both get slower from block to block, as a card does that heats up."""
    for number in itertools.count():
        slower = 1 + 0.0005 * number
        yield Timed(_noisy(source) * slower), Timed(_noisy(source) * slower)


def heavy_tailed(source: Source, _: TimingBudget) -> Iterator[Block]:
    """Now and then a batch is off by much, in either direction: Student's t, three degrees."""
    while True:
        yield Timed(_heavy(source)), Timed(_heavy(source))


def two_states(source: Source, _: TimingBudget) -> Iterator[Block]:
    """Each side stays in one of two states for the whole grade."""
    own, other = (1 + STATE * source.getrandbits(1) for _ in range(2))
    while True:
        yield Timed(_noisy(source) * own), Timed(_noisy(source) * other)


def launched(source: Source, budget: TimingBudget) -> Iterator[Block]:
    """Short batches and their null batches, all of which a host launches late, as one H200's does.

    By 0.01 ms as a rule, by 0.16 in a third of the cases.
    """

    def launch_s() -> float:
        late_s = source.gauss(160e-6, 30e-6) if source.random() < 0.35 else 0.0
        return LAUNCH_S + source.gammavariate(2, 6e-6) + late_s

    def batch(nulls_s: list[float], blocks: int) -> Timed:
        if due := is_due(len(nulls_s), blocks, budget):
            nulls_s.append(launch_s())
        null_s = nulls_s[-1] if due else in_turn(nulls_s, blocks)
        return Timed(SHORT_S + launch_s(), null_s)

    nulls: tuple[list[float], list[float]] = ([], [])
    for blocks in itertools.count(1):
        yield batch(nulls[0], blocks), batch(nulls[1], blocks)


MODELS: Mapping[str, Model] = {
    "independent": independent,
    "late": late,
    "drifting": drifting,
    "heavy-tailed": heavy_tailed,
    "two states": two_states,
    "launched": launched,
}


def _noisy(source: Source) -> float:
    return BATCH_S * math.exp(source.gauss(0.0, NOISE))


def _heavy(source: Source) -> float:
    degrees = 3
    spread = math.sqrt(sum(source.gauss(0, 1) ** 2 for _ in range(degrees)) / degrees)
    return BATCH_S * math.exp(NOISE * source.gauss(0, 1) / spread)


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """What the grades of one model came to."""

    model: str
    covered: float
    """Part of the grades whose interval holds the true ratio."""
    half_width: float
    """Median half-width of the intervals, relative."""
    sigma: float
    """Standard deviation of the log ratio between grades."""
    sigma_beyond: float
    """σ_AA: what of it the intervals do not say, as boards find it from these grades."""
    covered_with_sigma: float
    """Part of the grades whose interval holds it, once widened by ``sigma_beyond``."""
    told: float
    """Part of pairs of grades in which boards rank a kernel below that takes 1 % longer."""
    blocks: float
    """Median number of blocks of a grade."""


def coverage(model: str, budget: TimingBudget, *, grades: int, seed: int = 1) -> Coverage:
    """Grade ``grades`` times by the judge's stopping rule, with made-up noise."""
    source = random.Random(f"{model}/{seed}")
    found = [_grade(MODELS[model](source, budget), budget) for _ in range(grades)]
    offs = [off for off, _, _ in found]
    halves = [half for _, half, _ in found]
    sigma = statistics.pstdev(offs, 0.0)
    scores, errors = np.array(offs), np.array(halves) / Z95
    beyond = grade_spread(scores, errors)
    wide = [math.hypot(half, Z95 * beyond) for half in halves]
    return Coverage(
        model=model,
        covered=_share(offs, halves),
        half_width=statistics.median(halves),
        sigma=sigma,
        sigma_beyond=beyond,
        covered_with_sigma=_share(offs, wide),
        told=_told(scores, errors, beyond),
        blocks=statistics.median(blocks for _, _, blocks in found),
    )


def _grade(blocks: Iterator[Block], budget: TimingBudget) -> tuple[float, float, int]:
    """Log ratio (truly 0), half-width of its interval, and blocks of one grade."""
    samples: tuple[list[Timed], list[Timed]] = ([], [])
    for block in blocks:
        for taken, timed in zip(samples, block, strict=True):
            taken.append(timed)
        if enough(samples, BLOCK_S * len(samples[0]), budget):
            break
    ratio = ratio_interval(samples[1], samples[0])
    half = math.log(ratio.high / ratio.low) / 2
    return math.log(ratio.value), half, len(samples[0])


def _told(scores: Floats, errors: Floats, spread: float) -> float:
    slower = scores - math.log(SLOWER)
    pairs = zip(scores.tolist(), errors.tolist(), strict=True)
    return statistics.fmean(beats(*one, slower, errors, spread=spread).mean() for one in pairs)


def _share(offs: list[float], halves: list[float]) -> float:
    return statistics.fmean(abs(off) <= half for off, half in zip(offs, halves, strict=True))


def table(budgets: Mapping[str, TimingBudget], *, grades: int) -> Iterator[Coverage]:
    """The coverage of each model under each budget, printed as it comes."""
    print("noise | budget | covers | ± | σ | σ_AA | covers with σ_AA | 1 % told | blocks")
    for name, budget in budgets.items():
        for model in MODELS:
            one = coverage(model, budget, grades=grades)
            print(
                f"{model} | {name} | {one.covered:.0%} | {one.half_width:.2%} | {one.sigma:.2%} "
                f"| {one.sigma_beyond:.2%} | {one.covered_with_sigma:.0%} | {one.told:.0%} "
                f"| {one.blocks:.0f}",
                flush=True,
            )
            yield one


def covered(grades: int) -> dict[str, Any]:
    """How often intervals hold the true ratio, under noise that is known."""
    full = TimingBudget()
    rows = table({"full": full, "quick": full.quick()}, grades=grades)
    return {"grades": grades, "rows": [asdict(row) for row in rows]}
