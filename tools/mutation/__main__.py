"""Spoil right solutions in one place at a time, and count how many of them the judge accepts.

    python -m tools.mutation                            all problems, all CUDA and Triton samples
    python -m tools.mutation softmax --language cuda --jobs 2
    python -m tools.mutation softmax --limit 40 --json build/mutants.json

Prints, per solution: mutants that build, killed, survived, equivalent (listed by hand in
tests/tools/mutation/equivalent.toml), and the score, killed / not equivalent; then every survivor.
Exits with 1 if a score is below --require. See docs/explanation/mutants.md.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from harness.device.choose import open_device
from harness.grading.grader import Grader
from harness.problem.format.load import find_problem, problem_slugs
from harness.problem.package import Problem
from harness.progress.progress import NoProgress
from tools import ROOT
from tools.mutation.equivalent import read_equivalents
from tools.mutation.mutants_of import mutants_of
from tools.mutation.report import Score, print_scores
from tools.mutation.trial import Outcome, Subject, Trial, Trials, subject_of


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; its exit code."""
    chosen = _parser().parse_args(arguments)
    problems = [
        find_problem(chosen.problems, slug)
        for slug in chosen.slugs or problem_slugs(chosen.problems)
    ]
    subjects = [s for p in problems for s in _subjects(p, chosen)]
    if not subjects:
        print("no solution to mutate", file=sys.stderr)
        return 2
    scores = []
    with ExitStack() as stack:
        if "HARNESS_CACHE" not in os.environ:  # thousands of builds that nobody wants again
            os.environ["HARNESS_CACHE"] = stack.enter_context(
                tempfile.TemporaryDirectory(prefix="mutants-cache-")
            )
        grader = stack.enter_context(Grader(open_device(chosen.device), NoProgress()))
        for subject in subjects:
            scores.append(_examine(subject, grader, chosen))
    print_scores(scores, chosen.require)
    if chosen.json:
        Path(chosen.json).write_text(json.dumps([s.data for s in scores], indent=1) + "\n")
    return int(any(not s.reaches(chosen.require) for s in scores))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tools.mutation",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("slugs", nargs="*", metavar="SLUG", help="problems [all]")
    parser.add_argument("--language", choices=["cuda", "triton"], help="one language only")
    parser.add_argument("--file", action="append", help="names of files only (naive.cu)")
    parser.add_argument("--operator", action="append", help="one kind of change only")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--jobs", type=int, default=2, help="mutants side by side [2]")
    parser.add_argument("--limit", type=int, help="so many mutants of a file, evenly chosen")
    parser.add_argument("--seed", default="mutants", help="decides all cases of the run")
    parser.add_argument("--require", type=float, default=0.98, help="least score [0.98]")
    parser.add_argument("--json", metavar="FILE", help="write every trial")
    parser.add_argument("--list", action="store_true", help="list the mutants, grade none")
    parser.add_argument("--problems", type=Path, default=ROOT / "problems", help=argparse.SUPPRESS)
    parser.add_argument(
        "--solutions", type=Path, default=ROOT / "solutions", help=argparse.SUPPRESS
    )
    return parser


def _subjects(problem: Problem, chosen: argparse.Namespace) -> list[Subject]:
    folder = chosen.solutions / problem.slug / "samples"
    found = []
    for path in sorted(folder.glob("*")):
        if path.suffix not in (".cu", ".py") or (chosen.file and path.name not in chosen.file):
            continue
        subject = subject_of(path, problem)
        if subject and chosen.language in (None, subject.language):
            found.append(subject)
    return found


def _examine(subject: Subject, grader: Grader, chosen: argparse.Namespace) -> Score:
    """Try all mutants of one solution; the listed ones are not tried."""
    known = read_equivalents()
    every = mutants_of(subject, chosen.solutions)
    if chosen.operator:
        every = [m for m in every if m.operator in chosen.operator]
    mutants = _sample(every, chosen.limit)
    name = subject.path.relative_to(chosen.solutions).as_posix()
    if chosen.list:
        for mutant in mutants:
            print(mutant.id, mutant.summary)
        return Score(name, "", ())
    trials = Trials(subject, grader, chosen.seed, None)
    obstacle = trials.original()
    if obstacle:
        return Score(name, obstacle, ())
    started = time.monotonic()
    listed = [
        Trial(m, Outcome.EQUIVALENT, message=known[m.id].reason) for m in mutants if m.id in known
    ]
    graded = trials.run([m for m in mutants if m.id not in known], chosen.jobs, _print_survivor)
    score = Score(name, "", (*listed, *graded))
    print(f"{name}: {score.summary} in {time.monotonic() - started:.0f} s", file=sys.stderr)
    return score


def _sample(mutants: list[Any], limit: int | None) -> list[Any]:
    """Evenly spread over the file, always the same."""
    if limit is None or len(mutants) <= limit:
        return mutants
    by_id = sorted(mutants, key=lambda m: m.id)[:limit]
    return [m for m in mutants if m in by_id]


def _print_survivor(trial: Trial) -> None:
    if trial.outcome is Outcome.SURVIVED:
        print(f"survived {trial.mutant.id} {trial.mutant.summary}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
