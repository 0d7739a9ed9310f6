"""What the judges of a host do to each other: one card's scores, whatever its neighbours do.

The first card grades six files and copies of them, again and again, alone, then in the company of
the other cards and of the host's other processors; shift and scatter of the scores are held against
bars. Then one command grades files on one card, another as many for each on all.
"""

import math
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks import ROOT
from benchmarks.command import harness
from benchmarks.company import ALONE, companies_of
from benchmarks.throughput import SLUG as MANY
from benchmarks.throughput import modest, write_variants
from harness import signals

SHIFT, SIGMA, UNRANKED, REFUSED = 0.002, 0.003, 0.01, 0
"""Bars: relative shift and σ of a score, more of the grades unranked than alone, refused."""
SCALE, PER_MINUTE = 0.9375, 15.0
"""Bars for each card: files a minute over those of one card alone; for 4 cards 3.75, 60."""

SIX = (
    ("large-vectors", "vector-add", "vectorized.cu", "n: 67108864"),
    ("softmax-rows", "softmax", "block_per_row.cu", "m: 8192, n: 4096"),
    ("tiled-product", MANY, "tiled.cu", "m: 1024, n: 1024, k: 1024, alpha: 0.01"),
    ("library-product", MANY, "pytorch.py", "m: 4096, n: 4096, k: 4096, alpha: 0.01"),
    ("short-kernel", "vector-add", "vectorized.cu", "n: 262144"),
    ("triton-rows", "softmax", "triton.py", "m: 8192, n: 4096"),
)
"""Name, problem, sample and shape."""

Grade = dict[str, Any]
"""``score`` (None: none), ``ranked``, ``refused``, ``constant_us``, ``clock_mhz``, ``power_w``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One file in one company, against the same file alone."""

    company: str
    """What the neighbours do."""
    file: str
    """Its name."""
    grades: int
    """How many there were."""
    shift: float | None
    """Mean of the log scores, less that of the file alone; None without scores of both."""
    sigma: float | None
    """Standard deviation of the log scores; None below two."""
    unranked: float
    """The part of accepted grades that were not ranked."""
    more_unranked: float
    """That part, less the file's alone."""
    refused: int
    """Grades that were not accepted, though the file is right."""
    constant_us: float
    """What a batch takes beyond its calls, in the median; nan where it is not known."""
    clock_mhz: float
    """The highest clock of a grade, in the median; nan where it is not known."""
    power_w: float
    """The greatest power of a grade, in the median; nan where it is not known."""

    @property
    def missed(self) -> tuple[str, ...]:
        """The bars that it misses."""
        company = self.company != ALONE
        found = {
            "shift": company and (self.shift is None or abs(self.shift) > SHIFT),
            "σ": self.sigma is None or self.sigma > SIGMA,
            "unranked": company and self.more_unranked > UNRANKED,
            "refused": self.refused > REFUSED,
        }
        return tuple(name for name, missed in found.items() if missed)


def row(company: str, file: str, grades: Sequence[Grade], alone: Sequence[Grade]) -> Row:
    """The row of a file's ``grades`` in a ``company``, against those ``alone``."""
    logs, before = _logs(grades), _logs(alone)
    both = bool(logs and before)
    return Row(
        company=company,
        file=file,
        grades=len(grades),
        shift=statistics.fmean(logs) - statistics.fmean(before) if both else None,
        sigma=statistics.stdev(logs) if len(logs) > 1 else None,
        unranked=_unranked(grades),
        more_unranked=_unranked(grades) - _unranked(alone),
        refused=sum(bool(grade["refused"]) for grade in grades),
        constant_us=_median(grades, "constant_us"),
        clock_mhz=_median(grades, "clock_mhz"),
        power_w=_median(grades, "power_w"),
    )


def _logs(grades: Sequence[Grade]) -> list[float]:
    return [math.log(grade["score"]) for grade in grades if grade["score"] is not None]


def _unranked(grades: Sequence[Grade]) -> float:
    accepted = [grade for grade in grades if not grade["refused"]]
    return sum(not grade["ranked"] for grade in accepted) / max(1, len(accepted))


def _median(grades: Sequence[Grade], what: str) -> float:
    known = [grade[what] for grade in grades if grade[what] is not None]
    return statistics.median(known) if known else math.nan


def grade_of(result: Mapping[str, Any]) -> Grade:
    """What counts here of a result's JSON."""
    score, conditions = result["score"], result["conditions"] or {}
    constants = [m["launch_overhead_s"] for m in result["measurements"]]
    known = [each * 1e6 for each in constants if each is not None]
    return {
        "score": None if score is None else score["speedup"]["value"],
        "ranked": score is not None and score["ranked"],
        "refused": result["verdict"] != "ACCEPTED",
        "constant_us": statistics.median(known) if known else None,
        "clock_mhz": max(conditions["clock_mhz"]) if conditions.get("clock_mhz") else None,
        "power_w": conditions.get("power_w"),
    }


def table(rows: Sequence[Row]) -> list[str]:
    """The rows as Markdown; a bar that is missed is named."""
    lines = [
        "| company | file | grades | shift | σ | unranked | refused | c, µs | MHz | W | missed |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for each in rows:
        cells = [
            each.company,
            each.file,
            str(each.grades),
            "–" if each.shift is None else f"{each.shift:+.2%}",
            "–" if each.sigma is None else f"{each.sigma:.2%}",
            f"{each.unranked:.0%}",
            str(each.refused),
            f"{each.constant_us:.0f}",
            f"{each.clock_mhz:.0f}",
            f"{each.power_w:.0f}",
            ", ".join(each.missed) or "–",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """Files a minute on all cards against one."""

    cards: int
    one_per_minute: float
    all_per_minute: float

    @property
    def factor(self) -> float:
        """How many times as many."""
        return self.all_per_minute / self.one_per_minute

    @property
    def missed(self) -> tuple[str, ...]:
        """The bars that it misses."""
        found = {
            "factor": self.factor < SCALE * self.cards,
            "files a minute": self.all_per_minute < PER_MINUTE * self.cards,
        }
        return tuple(name for name, missed in found.items() if missed)

    def line(self) -> str:
        """It, in words."""
        missed = f"; missed: {', '.join(self.missed)}" if self.missed else ""
        return (
            f"{self.cards} cards: {self.all_per_minute:.1f} files a minute, one: "
            f"{self.one_per_minute:.1f}; {self.factor:.2f} times as many (bar: "
            f"{SCALE * self.cards:.2f} times, {PER_MINUTE * self.cards:.0f} a minute){missed}"
        )


def neighbours(
    cards: Sequence[str],
    times: int,
    seconds: float,
    count: int,
    *,
    copies: int = 1,
    companies: Sequence[str] = (),
) -> dict[str, Any]:
    """Print both tables for ``cards`` (UUIDs), the first of which is watched.

    Each company lasts for ``times`` rounds, none of which begins after ``seconds``; a round is one
    command for ``copies`` of each of the six files. ``count`` files are graded on all cards, and on
    one its part of them.
    """
    if len(cards) < 2:
        raise SystemExit("neighbours: at least two GPUs are needed")
    rows: list[Row] = []
    graded: dict[tuple[str, str], list[Grade]] = {}
    scale: Scale | None = None
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        problems, solutions = write_six(folder, copies)
        grade = ("submit", str(solutions), "--problems", str(problems))
        try:
            for company, joined in companies_of(cards[1:], folder, grade).items():
                if companies and company not in (ALONE, *companies):
                    continue
                with joined():
                    for name, found in rounds(cards[0], grade, folder, times, seconds):
                        graded.setdefault((company, name), []).append(found)
                new = [
                    row(company, name, found, graded.get((ALONE, name), []))
                    for (among, name), found in graded.items()
                    if among == company
                ]
                for line in table(new)[2 if rows else 0 :]:
                    print(line, flush=True)
                rows += new
            scale = throughput(cards, folder, count) if count else None
        except KeyboardInterrupt as ended:  # what is known until then took minutes of all cards
            signals.accept()
            print(f"{ended}: some are left", file=sys.stderr)
        if scale is not None:
            print(scale.line())
    return {
        "rows": [asdict(each) | {"missed": each.missed} for each in rows],
        "grades": [{"company": c, "file": f, "grades": g} for (c, f), g in graded.items()],
        "scale": None if scale is None else asdict(scale) | {"factor": scale.factor},
    }


def write_six(folder: Path, copies: int = 1) -> tuple[Path, Path]:
    """The six files and their problems, each with one shape, below ``folder``.

    ``copies`` of each differ in a comment, so that each of them is graded.
    """
    problems, solutions = folder / "problems", folder / "solutions"
    for name, slug, sample, shape in SIX:
        modest(problems / name, slug, f"benchmarks:\n  - {{{shape}}}\n")
        statement = problems / name / "problem.md"
        text, found = re.subn(
            rf"^slug: .*{re.escape(slug)}.*$", f'slug: "{name}"', statement.read_text(), flags=re.M
        )
        if found != 1:
            raise ValueError(f"the slug of {slug} is not where it was")
        statement.write_text(text)
        source = ROOT / "solutions" / slug / "samples" / sample
        text, comment = source.read_text(), "//" if source.suffix == ".cu" else "#"
        place = solutions / name / "bench"
        place.mkdir(parents=True)
        for number in range(copies):
            file = place / f"{source.stem}_{number}{source.suffix}"
            file.write_text(f"{text}\n{comment} copy {number}\n")
    return problems, solutions


def rounds(
    card: str,
    grade: Sequence[str],
    folder: Path,
    times: int,
    seconds: float,
    run: Callable[..., list[Any]] | None = None,
) -> Iterator[tuple[str, Grade]]:
    """Each file's name with its grades on ``card``, in so many commands one after the other."""
    run = run or _results
    start = time.perf_counter()
    for _ in range(times):
        if time.perf_counter() - start > seconds:
            return
        results = run(*grade, "--card", card, "--store", str(folder / "watched.sqlite"))
        for result in results:
            yield result["problem"]["slug"], grade_of(result)


def _results(*words: str) -> list[Any]:
    return harness(*words)[1]


def throughput(cards: Sequence[str], folder: Path, count: int) -> Scale:
    """Grade ``count`` files never built before on all ``cards``, after its part on the first."""
    modest(folder / "many" / MANY)
    rates: list[float] = []
    for chosen in ([cards[0]], cards):
        solutions = folder / f"on-{len(rates)}" / "solutions"
        write_variants(solutions / MANY / "bench", max(1, count * len(chosen) // len(cards)))
        start = time.perf_counter()
        results = _results(
            "submit", str(solutions), "--cards", ",".join(chosen), "--quick", "--no-shrink",
            "--problems", str(folder / "many"), "--store", str(folder / "many.sqlite"),
        )  # fmt: skip
        rates.append(60 * len(results) / (time.perf_counter() - start))
    return Scale(cards=len(cards), one_per_minute=rates[0], all_per_minute=rates[1])
