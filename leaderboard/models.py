"""Models by their samples: how often they are right, and how often faster than a baseline.

A *sample* is one output of a model for one problem. Its last result counts; one that says nothing
about it (``INTERNAL_ERROR``, ``NOT_EXECUTABLE_HERE``) is *undecided* and no part of any share. An
output without code is wrong. All samples of a model on one device, data type and major version of
the harness, for the current versions of the problems, make one row; problems of another format, or
judged by a measured tolerance, make rows of their own. Where problems have levels, as KernelBench's
do, each level makes a row besides.

- ``pass@k``: probability that of k samples for a problem one is accepted, estimated without bias
  from the n there are, c of them accepted: 1 - C(n-c, k) / C(n, k) (Chen et al. 2021, "Evaluating
  Large Language Models Trained on Code"). The mean over problems.
- ``fast_p@k``: the same, where c are those that are accepted *and* more than p times as fast as the
  baseline; ``fast_0`` is accepted ones, timed or not. With one sample for each problem ``fast_p@1``
  is KernelBench's fast_p: the share of problems solved and faster than p × baseline.
- ``speedup``: geometric mean over problems of the geometric mean over accepted, timed samples.

Where a problem has fewer than k samples that are decided, pass@k and fast_p@k of the row are
missing (NaN): leaving problems out would make a model look better or worse than it is. So is fast_p
for p > 0 where samples were accepted, and none was timed.
"""

import csv
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO

import numpy as np
import pandas as pd

from harness.records.refs import FORMATS, MEASURED
from harness.records.result import Reason, Verdict
from leaderboard.csvfile import neutral
from leaderboard.origin import counting, first_spelling
from leaderboard.ranking import of_other_versions

UNDECIDED = frozenset({Verdict.INTERNAL_ERROR, Verdict.NOT_EXECUTABLE_HERE})

Cell = str | int | float

_PLACE = ["model", "dtype", "device_kind", "device", "harness_major", "problem_set"]
_FOREIGN = rf"^({'|'.join(FORMATS)})-.*?({MEASURED})?$"
"""The format of a problem, and whose tolerance decided, in its slug."""
_LEVEL = r"-level-?(\d{1,4})-"
"""The level in the slug of a problem, which has its folder."""
_SAMPLE = [*_PLACE, "problem", "author", "solution", "solution_hash"]


@dataclass(frozen=True, slots=True)
class ModelRow:
    """What the samples of one model come to; NaN is what is not known."""

    model: str
    """Name of the model, as its generations say it."""
    dtype: str
    """Data type that [VAR] stood for."""
    device_kind: str
    """cuda or cpu."""
    device: str
    """Name of the device."""
    harness_major: str
    """First number of the harness's version."""
    problem_set: str
    """Format of the problems, and whose tolerance decided; empty for packages."""
    problems: int
    """Problems that there are samples for."""
    samples: int
    """Samples that are decided."""
    solved: int
    """Problems with a sample that is accepted."""
    passed: Mapping[int, float]
    """pass@k by k."""
    fast: Mapping[tuple[float, int], float]
    """fast_p@k by p and k."""
    speedup: float
    """Geometric mean over problems of that over accepted, timed samples."""
    verdicts: Mapping[Verdict, int]
    """How many of all samples, undecided ones too, have each verdict."""
    reasons: Mapping[Reason, int]
    """The same of each reason why there was nothing to judge."""
    level: str = ""
    """The level of the problems; empty for all of them."""

    def cells(self) -> dict[str, Cell]:
        """The row as a table has it, by column."""
        return {
            **{name: getattr(self, name) for name in (*_PLACE, "problems", "samples", "solved")},
            **{f"pass@{k}": value for k, value in self.passed.items()},
            **{f"fast_{p:g}@{k}": value for (p, k), value in self.fast.items()},
            "speedup": self.speedup,
            **{str(verdict): self.verdicts.get(verdict, 0) for verdict in Verdict},
            **{str(reason): self.reasons.get(reason, 0) for reason in Reason},
            "level": self.level,
        }


def pass_at_k(n: int, c: int, k: int) -> float:
    """The unbiased estimate of pass@k from ``n`` samples, ``c`` of them right.

    Raises:
        ValueError: not 0 ≤ c ≤ n and 1 ≤ k ≤ n.
    """
    if not (0 <= c <= n and 1 <= k <= n):
        raise ValueError(f"pass@{k} of {c} right among {n} samples")
    return 1.0 - math.comb(n - c, k) / math.comb(n, k)


def by_model(
    entries: pd.DataFrame,
    *,
    ks: Sequence[int] = (1,),
    ps: Sequence[float] = (0.0, 1.0),
    current: Mapping[str, str] | None = None,
) -> list[ModelRow]:
    """One row for each model that has samples, by name; below it one for each level.

    Args:
        entries: of results in any order (:func:`leaderboard.ranking.entries_frame`); those without
            a model are passed over.
        ks: numbers of samples to tell pass@k and fast_p@k for.
        ps: the p of fast_p.
        current: current hash by slug, for problems whose present version is known; else the version
            of a problem whose first result is the newest.
    """
    ours = entries[entries["model"] != ""].drop_duplicates("result")
    ours = ours[~of_other_versions(ours, current or {})]
    ours = ours.assign(**{name: first_spelling(ours, name) for name in ("model", "author")})
    ours = ours.assign(problem_set=_problem_sets(ours["problem"]))
    ours = ours[counting(ours, _SAMPLE)]
    ours = ours.assign(decided=~ours["verdict"].isin([str(each) for each in UNDECIDED]))
    # The last word on each sample, and one that decides it before one that does not.
    last = ours.sort_values(["decided", "date", "result"]).drop_duplicates(_SAMPLE, keep="last")
    last = last.assign(level=last["problem"].str.extract(_LEVEL, expand=False).fillna(""))
    rows = []
    for _, samples in last.groupby(_PLACE):
        rows.append(_row(samples, ks, ps))
        by_level = samples[samples["level"] != ""].groupby("level")
        levels = sorted(by_level, key=lambda each: int(str(each[0])))
        rows += [_row(each, ks, ps, str(level)) for level, each in levels]
    return rows


def _problem_sets(slugs: "pd.Series[str]") -> "pd.Series[str]":
    """What samples are pooled with: those of one format and tolerance; empty for packages."""
    parts = slugs.str.extract(_FOREIGN).fillna("")
    return parts[0].str.cat(parts[1].map({"": "", MEASURED: ", measured tolerance"}))


def without_cpu_times(entries: pd.DataFrame) -> pd.DataFrame:
    """``entries`` without the times that were taken on a CPU, which say nothing of a GPU's."""
    return entries.assign(speedup=entries["speedup"].mask(entries["device_kind"] == "cpu"))


def write_csv(rows: Sequence[ModelRow], file: IO[str]) -> None:
    """Write ``rows`` with a header; text cells are made harmless, what is missing is empty."""
    writer = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    tables = [row.cells() for row in rows]
    if tables:
        writer.writerow(tables[0])
    for cells in tables:
        known = ("" if cell != cell else cell for cell in cells.values())  # NaN alone differs
        writer.writerow([neutral(cell) if isinstance(cell, str) else cell for cell in known])


def _row(
    samples: pd.DataFrame, ks: Sequence[int], ps: Sequence[float], level: str = ""
) -> ModelRow:
    """The row of the samples of one model in one place."""
    problem, accepted, speedup = samples["problem"], samples["accepted"], samples["speedup"]
    counts = samples["decided"].groupby(problem).sum()
    solved = accepted.groupby(problem).sum()
    logs = np.log(speedup.where(accepted).dropna())
    untimed = logs.empty and accepted.any()  # then nobody knows what is fast

    def right(p: float) -> pd.Series | None:
        if not p:
            return solved
        return None if untimed else (accepted & (speedup > p)).groupby(problem).sum()

    return ModelRow(
        **samples.iloc[0][_PLACE],
        problems=len(counts),
        samples=int(counts.sum()),
        solved=int((solved > 0).sum()),
        passed={k: _share(counts, solved, k) for k in ks},
        fast={(p, k): _share(counts, right(p), k) for p in ps for k in ks},
        speedup=float(np.exp(logs.groupby(problem).mean().mean())),
        verdicts=Counter(map(Verdict, samples["verdict"])),
        reasons=Counter(map(Reason, filter(None, samples["reason"]))),
        level=level,
    )


def _share(counts: pd.Series, right: pd.Series | None, k: int) -> float:
    """Mean over problems of pass@k; NaN if one has fewer than ``k`` samples, or no ``right``."""
    if right is None or counts.min() < k:
        return math.nan
    pairs = zip(counts.tolist(), right.tolist(), strict=True)
    return math.fsum(pass_at_k(n, c, k) for n, c in pairs) / len(counts)
