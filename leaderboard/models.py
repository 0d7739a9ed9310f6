"""Models by their samples: how often they are right, and how often faster than a baseline.

A *sample* is one output of a model for one problem. Its last result counts; one that says nothing
about it (``INTERNAL_ERROR``, ``NOT_EXECUTABLE_HERE``) is *undecided* and no part of any share. An
output without code is wrong. All samples of a model on one device, data type and major version of
the harness, for the current versions of the problems, make one row.

- ``pass@k``: probability that of k samples for a problem one is accepted, estimated without bias
  from the n there are, c of them accepted: 1 - C(n-c, k) / C(n, k) (Chen et al. 2021, "Evaluating
  Large Language Models Trained on Code"). The mean over problems.
- ``fast_p@k``: the same, where c are those that are accepted *and* more than p times as fast as the
  baseline; ``fast_0`` is accepted ones, timed or not. With one sample for each problem ``fast_p@1``
  is KernelBench's fast_p: the share of problems solved and faster than p × baseline.
- ``speedup``: geometric mean over problems of the geometric mean over accepted, timed samples.

Where a problem has fewer than k samples that are decided, pass@k and fast_p@k of the row are
missing (NaN): leaving problems out would make a model look better or worse than it is.
"""

import csv
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO

from harness.records.result import Reason, Verdict
from leaderboard.csvfile import neutral
from leaderboard.standing import Standing

UNDECIDED = frozenset({Verdict.INTERNAL_ERROR, Verdict.NOT_EXECUTABLE_HERE})

Cell = str | int | float


@dataclass(frozen=True, slots=True)
class ModelRow:
    """What the samples of one model come to; NaN is what cannot be told.

    ``samples`` are those that are decided, ``solved`` the problems with one that is accepted.
    ``passed`` maps k to pass@k, ``fast`` maps (p, k) to fast_p@k. ``verdicts`` counts all samples,
    undecided ones too.
    """

    model: str
    dtype: str
    device_kind: str
    device: str
    harness_major: str
    problems: int
    samples: int
    solved: int
    passed: Mapping[int, float]
    fast: Mapping[tuple[float, int], float]
    speedup: float
    verdicts: Mapping[Verdict, int]
    reasons: Mapping[Reason, int]

    def cells(self) -> dict[str, Cell]:
        """The row as a table has it, by column."""
        return {
            "model": self.model,
            "dtype": self.dtype,
            "device_kind": self.device_kind,
            "device": self.device,
            "harness_major": self.harness_major,
            "problems": self.problems,
            "samples": self.samples,
            "solved": self.solved,
            **{f"pass@{k}": value for k, value in self.passed.items()},
            **{f"fast_{p:g}@{k}": value for (p, k), value in self.fast.items()},
            "speedup": self.speedup,
            **{str(verdict): self.verdicts.get(verdict, 0) for verdict in Verdict},
            **{str(reason): self.reasons.get(reason, 0) for reason in Reason},
        }


@dataclass(slots=True)
class _Tally:
    """The samples of one problem."""

    samples: int = 0
    accepted: int = 0
    speedups: list[float] = field(default_factory=list)

    def faster(self, p: float) -> int:
        return self.accepted if p == 0 else sum(1 for speedup in self.speedups if speedup > p)


def pass_at_k(n: int, c: int, k: int) -> float:
    """The unbiased estimate of pass@k from ``n`` samples, ``c`` of them right.

    Raises:
        ValueError: not 0 ≤ c ≤ n and 1 ≤ k ≤ n.
    """
    if not (0 <= c <= n and 1 <= k <= n):
        raise ValueError(f"pass@{k} of {c} right among {n} samples")
    return 1.0 - math.comb(n - c, k) / math.comb(n, k)


def by_model(
    standings: Iterable[Standing],
    *,
    ks: Sequence[int] = (1,),
    ps: Sequence[float] = (0.0, 1.0),
    current: Mapping[str, str] | None = None,
) -> list[ModelRow]:
    """One row for each model that has samples, by name.

    Args:
        standings: of results in any order; those without a model are passed over.
        ks: numbers of samples to tell pass@k and fast_p@k for.
        ps: the p of fast_p.
        current: current hash by slug, for problems whose present version is known; else the version
            of a problem whose first result is the newest.
    """
    ours = list({each.result: each for each in standings if each.model}.values())
    versions = dict(_newest(ours)) | dict(current or {})
    last: dict[tuple[str, ...], Standing] = {}
    for each in sorted(ours, key=lambda each: (each.date, each.result)):
        if each.problem_hash != versions[each.problem]:
            continue
        known = last.get(_sample(each))
        if known is None or _decided(each) or not _decided(known):
            last[_sample(each)] = each
    groups: dict[tuple[str, ...], list[Standing]] = {}
    for each in last.values():
        groups.setdefault(_place(each), []).append(each)
    return [_row(place, groups[place], ks, ps) for place in sorted(groups)]


def write_csv(rows: Sequence[ModelRow], file: IO[str]) -> None:
    """Write ``rows`` with a header; text cells are made harmless, what is missing is empty."""
    writer = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    tables = [row.cells() for row in rows]
    if tables:
        writer.writerow(tables[0])
    for cells in tables:
        writer.writerow([_written(cell) for cell in cells.values()])


def _written(cell: Cell) -> Cell:
    if isinstance(cell, str):
        return neutral(cell)
    return "" if math.isnan(cell) else cell


def _newest(standings: Iterable[Standing]) -> Iterator[tuple[str, str]]:
    first: dict[tuple[str, str], str] = {}
    for each in standings:
        version = (each.problem, each.problem_hash)
        first[version] = min(each.date, first.get(version, each.date))
    for version in sorted(first, key=lambda version: first[version]):
        yield version


def _place(each: Standing) -> tuple[str, ...]:
    return (each.model, each.dtype, each.device_kind, each.device, each.harness_major)


def _sample(each: Standing) -> tuple[str, ...]:
    return (*_place(each), each.problem, each.author, each.solution, each.solution_hash)


def _decided(each: Standing) -> bool:
    return Verdict(each.verdict) not in UNDECIDED


def _row(
    place: tuple[str, ...], standings: Sequence[Standing], ks: Sequence[int], ps: Sequence[float]
) -> ModelRow:
    problems: dict[str, _Tally] = {}
    for each in standings:
        tally = problems.setdefault(each.problem, _Tally())
        if not _decided(each):
            continue
        tally.samples += 1
        if each.accepted:
            tally.accepted += 1
            if not math.isnan(each.speedup):
                tally.speedups.append(each.speedup)
    tallies = list(problems.values())
    model, dtype, device_kind, device, harness_major = place
    return ModelRow(
        model=model,
        dtype=dtype,
        device_kind=device_kind,
        device=device,
        harness_major=harness_major,
        problems=len(tallies),
        samples=sum(tally.samples for tally in tallies),
        solved=sum(1 for tally in tallies if tally.accepted),
        passed={k: _share(tallies, [tally.accepted for tally in tallies], k) for k in ks},
        fast={
            (p, k): _share(tallies, [tally.faster(p) for tally in tallies], k)
            for p in ps
            for k in ks
        },
        speedup=_geometric([_geometric(tally.speedups) for tally in tallies if tally.speedups]),
        verdicts=Counter(Verdict(each.verdict) for each in standings),
        reasons=Counter(Reason(each.reason) for each in standings if each.reason),
    )


def _share(tallies: Sequence[_Tally], right: Sequence[int], k: int) -> float:
    if any(tally.samples < k for tally in tallies):
        return math.nan
    estimates = [pass_at_k(t.samples, c, k) for t, c in zip(tallies, right, strict=True)]
    return math.fsum(estimates) / len(estimates)


def _geometric(values: Sequence[float]) -> float:
    if not values:
        return math.nan
    return math.exp(math.fsum(map(math.log, values)) / len(values))
