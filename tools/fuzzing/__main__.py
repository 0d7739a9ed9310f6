"""Fuzz every reader of untrusted bytes for so many inputs or seconds, and print a table.

Needs what ``pip install -e '.[fuzz]'`` installs. See docs/explanation/robustness.md.
"""

import argparse
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from tools import ROOT
from tools.fuzzing.targets import TARGETS

_STEP = re.compile(r"^#(\d+)\s+(\w+)\s+cov: (\d+) .*?corp: (\d+)/", re.MULTILINE)
_HANGS_S = 120
"""Of wall time, after which the target is ended; a busy machine takes its time."""
_MEMORY_MIB = 1024
_LAST_LINES = 5


class Outcome(NamedTuple):
    """What came of one target; coverage in instrumented branches, of the seeds and at the end."""

    target: str
    inputs: int
    seconds: float
    corpus: int
    covered_by_seeds: int
    covered: int
    crashes: dict[str, str]


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; 1 if anything crashed or hung."""
    names = [target.name for target in TARGETS]
    parser = _parser(names)
    chosen = parser.parse_args(arguments)
    if unknown := set(chosen.targets) - set(names):
        parser.error(f"no target {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    if importlib.util.find_spec("atheris") is None:
        print("atheris is not installed: pip install -e '.[fuzz]'", file=sys.stderr)
        return 2
    folder = chosen.keep or Path(tempfile.mkdtemp(prefix="fuzz-"))
    options = [f"-timeout={_HANGS_S}", f"-rss_limit_mb={_MEMORY_MIB}", "-detect_leaks=0"]
    options += ["-print_final_stats=0", f"-seed={chosen.seed}"]
    if chosen.seconds:
        options.append(f"-max_total_time={chosen.seconds}")
    else:
        options.append(f"-runs={chosen.inputs}")
    print(f"{'target':<12}{'inputs':>9}{'crashes':>9}{'seconds':>9}{'corpus':>8}  branches reached")
    failed = False
    with ThreadPoolExecutor(chosen.jobs) as pool:
        runs = [pool.submit(_fuzz, name, folder, options) for name in chosen.targets or names]
        for run in runs:
            failed |= bool(_print(run.result(), folder))
    if not failed and not chosen.keep:
        shutil.rmtree(folder)
    return int(failed)


def _parser(names: Sequence[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tools.fuzzing", description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(names)}")
    parser.add_argument("--inputs", type=int, default=100_000, help="inputs for each target")
    parser.add_argument("--seconds", type=int, help="seconds for each target, instead of --inputs")
    parser.add_argument("--jobs", type=int, default=1, help="targets at once")
    parser.add_argument("--seed", type=int, default=1, help="of libFuzzer's mutations; 0: another")
    parser.add_argument("--keep", type=Path, help="folder that keeps the corpus for the next run")
    return parser


def _fuzz(target: str, root: Path, options: Sequence[str]) -> Outcome:
    folder = root / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "crashes.json").unlink(missing_ok=True)
    started = time.monotonic()
    scratch = folder / "scratch"
    scratch.mkdir(exist_ok=True)
    with (folder / "log").open("w+b") as log:
        done = subprocess.run(
            [sys.executable, "-m", "tools.fuzzing.child", target, str(folder.resolve()), *options],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            check=False,
            cwd=ROOT,
            env={**os.environ, "FUZZING_SCRATCH": str(scratch)},
        )
        log.seek(0)
        text = log.read().decode("utf-8", "replace")
    steps = _STEP.findall(text)
    crashes: dict[str, str] = {}
    if (folder / "crashes.json").exists():
        crashes = json.loads((folder / "crashes.json").read_text())
    if done.returncode:
        last = " | ".join(text.strip().splitlines()[-_LAST_LINES:])
        crashes[f"ended with status {done.returncode}"] = last
    begun = next((int(cov) for _, kind, cov, _ in steps if kind == "INITED"), 0)
    inputs, _, covered, corpus = steps[-1] if steps else ("0", "", "0", "0")
    seconds = time.monotonic() - started
    return Outcome(target, int(inputs), seconds, int(corpus), begun, int(covered), crashes)


def _print(outcome: Outcome, folder: Path) -> int:
    new = outcome.covered - outcome.covered_by_seeds
    print(
        f"{outcome.target:<12}{outcome.inputs:>9,}{len(outcome.crashes):>9}{outcome.seconds:>9.0f}"
        f"{outcome.corpus:>8}  {outcome.covered} ({new} more than the seeds)",
        flush=True,
    )
    for place, message in outcome.crashes.items():
        print(f"    {place}: {message!r} (see {folder / outcome.target / 'crashes'})", flush=True)
    return len(outcome.crashes)


if __name__ == "__main__":
    sys.exit(main())
