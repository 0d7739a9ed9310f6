"""Scores as a table, and every survivor in full."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tools.mutation.equivalent import description
from tools.mutation.trial import Outcome, Trial


@dataclass(frozen=True, slots=True)
class Score:
    """What became of one solution's mutants; ``obstacle`` says why none was tried."""

    name: str
    obstacle: str
    trials: tuple[Trial, ...]

    def count(self, outcome: Outcome) -> int:
        """How many ended so."""
        return sum(trial.outcome is outcome for trial in self.trials)

    @property
    def built(self) -> int:
        """Mutants that are programs at all."""
        return len(self.trials) - self.count(Outcome.UNBUILT)

    @property
    def share(self) -> float | None:
        """Killed of those that are not equivalent."""
        counted = self.built - self.count(Outcome.EQUIVALENT)
        return self.count(Outcome.KILLED) / counted if counted else None

    def reaches(self, required: float) -> bool:
        """Whether nothing stands against this solution's score."""
        return self.share is None or self.share >= required

    @property
    def summary(self) -> str:
        """``killed 80 of 81, 1 equivalent``."""
        counted = self.built - self.count(Outcome.EQUIVALENT)
        return (
            f"killed {self.count(Outcome.KILLED)} of {counted}, "
            f"{self.count(Outcome.EQUIVALENT)} equivalent, "
            f"{self.count(Outcome.UNBUILT)} did not build"
        )

    @property
    def data(self) -> dict[str, Any]:
        """Everything, for JSON."""
        return {
            "solution": self.name,
            "obstacle": self.obstacle,
            "score": self.share,
            **{str(outcome): self.count(outcome) for outcome in Outcome},
            "trials": [
                {
                    "id": t.mutant.id,
                    "operator": t.mutant.operator,
                    "line": t.mutant.line,
                    "change": description(t.mutant),
                    "outcome": str(t.outcome),
                    "verdict": t.verdict,
                    "dtype": t.dtype,
                    "case": t.case,
                    "spec": t.spec,
                    "message": t.message[:500],
                }
                for t in self.trials
            ],
        }


_HEADER = ("solution", "mutants", "killed", "survived", "equivalent", "unbuilt", "score")


def print_scores(scores: Sequence[Score], required: float) -> None:
    """The table, how the killed ones died, and the survivors."""
    rows = [_row(score) for score in scores]
    widths = [max(len(row[i]) for row in [_HEADER, *rows]) for i in range(len(_HEADER))]
    for row in [_HEADER, *rows]:
        cells = [
            cell.ljust(w) if i == 0 else cell.rjust(w)
            for i, (cell, w) in enumerate(zip(row, widths, strict=True))
        ]
        print("  ".join(cells).rstrip())
    trials = [trial for score in scores for trial in score.trials]
    killed = [trial for trial in trials if trial.outcome is Outcome.KILLED]
    if killed:
        verdicts = Counter(trial.verdict for trial in killed).most_common()
        soon = sum(trial.case <= 3 for trial in killed)
        print("\nkilled by: " + ", ".join(f"{verdict} {count}" for verdict, count in verdicts))
        print(f"in one of the three first cases: {soon} of {len(killed)}")
    for score in scores:
        survivors = [t.mutant for t in score.trials if t.outcome is Outcome.SURVIVED]
        if survivors:
            print(f"\n{score.name}: survivors")
            for mutant in survivors:
                print(f"  {mutant.id} line {mutant.line}: {description(mutant)}")
        if score.obstacle:
            print(f"\n{score.name}: not tried: {score.obstacle}")
    low = [score.name for score in scores if not score.reaches(required)]
    if low:
        print(f"\nbelow {required:.0%}: {', '.join(low)}")


def _row(score: Score) -> tuple[str, ...]:
    if score.obstacle or not score.trials:
        return (score.name, *("–",) * 6)
    share = score.share
    return (
        score.name,
        str(score.built),
        *(str(score.count(o)) for o in (Outcome.KILLED, Outcome.SURVIVED, Outcome.EQUIVALENT)),
        str(score.count(Outcome.UNBUILT)),
        "–" if share is None else f"{share:.1%}",
    )
