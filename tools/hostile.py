"""Grade the corpus of hostile submissions, and print what became of each.

    python -m tools.hostile                          all, on the CPU path, two side by side
    python -m tools.hostile channel faults/abort     those whose names begin so
    python -m tools.hostile --device cuda            all, on a GPU, one after the other

Prints folder, entry, the verdict it must get, the one it got, and seconds; then, at the end, how
many of each folder there are and how many are otherwise than they must be, and how soon after
a limit of time its verdict came. Exits with 1 if any is.
See docs/explanation/hostile.md.
"""

import argparse
import multiprocessing
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from pathlib import Path

from harness.device.choose import open_device
from harness.sandbox.support import detect_support
from harness.text.plain import plain
from tools import ROOT

sys.path.insert(0, str(ROOT / "tests/hostile"))

from corpus import FOLDERS, Entry, Outcome, Trials, entries

_TOLD = 200
_trials: Trials


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; its exit code."""
    chosen = _parser().parse_args(arguments)
    if not detect_support().namespaces:
        print("this machine has no namespaces: some entries would harm it", file=sys.stderr)
        return 2
    wanted = [e for e in entries() if not chosen.names or e.id.startswith(tuple(chosen.names))]
    tried = [e for e in wanted if e.runs_on(chosen.device)]
    if not tried:
        print("no such entry", file=sys.stderr)
        return 2
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    failed: list[Outcome] = []
    late: list[tuple[float, str]] = []
    seen: Counter[str] = Counter()
    for outcome in _graded(tried, chosen.device, 1 if chosen.device == "cuda" else chosen.jobs):
        _show(outcome)
        seen[outcome.folder] += 1
        failed += [outcome] if outcome.faults else []
        late += [(outcome.late_s, outcome.name)] if outcome.late_s is not None else []
    bad = Counter(outcome.folder for outcome in failed)
    print()
    for folder in (f for f in FOLDERS if seen[f]):
        print(f"{folder:<12}{seen[folder]:>4} entries{bad[folder]:>4} otherwise")
    skipped = len(wanted) - len(tried)
    if late:
        print(f"{len(late)} ran into a limit of time; verdicts came within", end=" ")
        print("{:.2f} s after it ({})".format(*max(late)))
    print(f"{len(tried)} on {chosen.device}, {skipped} not for it: {len(failed)} otherwise")
    return int(bool(failed))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tools.hostile",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="folders or entries [all]")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--jobs", type=int, default=2, help="side by side, on the CPU path [2]")
    return parser


def _graded(tried: list[Entry], device: str, jobs: int) -> Iterator[Outcome]:
    """What became of each, in order; each process has a judge of its own."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="hostile-"))
        # Builds that nobody wants again, and no results of the user's.
        os.environ["HARNESS_CACHE"] = f"{folder}/cache"
        os.environ["HARNESS_STORE"] = f"{folder}/results.sqlite"
        pool = stack.enter_context(
            ProcessPoolExecutor(
                jobs, multiprocessing.get_context("spawn"), _start, (device, folder)
            )
        )
        yield from pool.map(_grade, [entry.id for entry in tried])


def _start(device: str, folder: str) -> None:
    global _trials  # what a process of the pool is for
    _trials = ExitStack().enter_context(Trials(open_device(device), Path(folder)))


def _grade(name: str) -> Outcome:
    return _trials.grade(next(entry for entry in entries() if entry.id == name))


def _show(outcome: Outcome) -> None:
    mark = "! " if outcome.faults else "  "
    verdicts = f"{outcome.wanted.lower():<22}{outcome.verdict.lower():<22}"
    print(f"{mark}{outcome.name:<44}{verdicts}{outcome.seconds:6.1f} s", flush=True)
    for fault in outcome.faults:
        print(f"      {plain(fault)[:_TOLD]}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
