"""Kill a part of a run at a random moment, many times, and see that nothing is lost or left.

    python -m tools.kills                          200 kills, one after the other
    python -m tools.kills --count 12 --jobs 2 --store sqlite --victims judge power

Each attempt submits four files (CUDA that is built already and not, PyTorch, and PyTorch that is
wrong), and at a random moment, in every other attempt one after the first result, it hits the
judge, a builder (a compiler, a parser), a runner or any process of its sandbox, the template that
Python's runners are forked from, the judge's process group, everything at once, or the server of
the database. Then all that was acknowledged must be in the store, no process, shared memory, mount
or temporary folder may be left, and `--resume` must give each file exactly one result, the right
one. Prints a table (after Ctrl-C, of what is done), and what was wrong; exits with 1 if anything
was. Without PostgreSQL (`initdb`,
`postgres`, psycopg) stores are SQLite's alone. See docs/explanation/robustness.md.
"""

import argparse
import ctypes
import json
import os
import random
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from tools.kills.attempt import Attempt, Pace, attempt, warmed
from tools.kills.strike import VICTIMS
from tools.postgresql import PostgresqlMissing, find_programs

STORES = ("sqlite", "postgresql")
_PR_SET_CHILD_SUBREAPER = 36

_interrupted = False
"""Whether this worker was told to end."""


def planned(count: int, stores: Sequence[str], victims: Sequence[str]) -> list[Attempt]:
    """The attempts: stores and victims in turns, every other one after the first result."""
    plan: list[Attempt] = []
    for i in range(count):
        store = stores[i % len(stores)]
        some = [each for each in victims if each != "server" or store == "postgresql"]
        rounds, place = divmod(i // len(stores), len(some))
        plan.append(Attempt(store, some[place], after_first=(rounds + place) % 2 == 1))
    return plan


def _stores(asked: Sequence[str] | None) -> Sequence[str]:
    if asked is not None and "postgresql" not in asked:
        return asked
    try:
        find_programs()
    except PostgresqlMissing as missing:
        if asked is not None:
            raise SystemExit(f"--store postgresql: {missing}") from missing
        print(f"SQLite alone: {missing}")
        return ("sqlite",)
    return asked or STORES


def _prepare_worker() -> None:
    # What is started in the background by a shell ignores Ctrl-C, and hands that on.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError("cannot become a subreaper")


def _attempt(folder: Path, each: Attempt, cache: Path, pace: Pace, seed: str) -> Attempt:
    global _interrupted
    if _interrupted:  # one call is handed to a worker ahead
        raise KeyboardInterrupt
    try:
        return attempt(folder, each, cache, pace, seed)
    except KeyboardInterrupt:
        _interrupted = True
        raise


def _shared_memory() -> set[str]:
    """POSIX and System V segments of this user; private ones of sandboxes are gone with them."""
    mine = {p.name for p in Path("/dev/shm").iterdir() if p.name.startswith(("torch_", "harness"))}
    segments = Path("/proc/sysvipc/shm").read_text().splitlines()[1:]
    return mine | {line.split()[1] for line in segments if int(line.split()[7]) == os.getuid()}


def _print(attempts: Sequence[Attempt]) -> None:
    columns = ("kills", "after 1st", "missed", "acknowledged", "lost", "resumed", "wrong")
    print(f"\n{'store':<11}{'victim':<10}" + "".join(f"{c:>{len(c) + 2}}" for c in columns))
    for store in STORES:
        for victim in VICTIMS:
            if some := [e for e in attempts if (e.store, e.victim) == (store, victim)]:
                print(f"{store:<11}{victim:<10}{_numbers(some, columns)}  {_outcomes(some)}")
    print(f"{'all':<21}{_numbers(attempts, columns)}")
    names = Counter(each.hit for each in attempts if each.hit)
    print("hit:", ", ".join(f"{count} {name}" for name, count in names.most_common()))


def _numbers(some: Sequence[Attempt], columns: Sequence[str]) -> str:
    hit = [each for each in some if each.hit]
    numbers = (
        len(hit),
        sum(each.recorded > 0 for each in hit),
        len(some) - len(hit),
        sum(each.acknowledged for each in some),
        sum(each.lost for each in some),
        sum(each.exact for each in some),
        sum(bool(each.wrong) for each in some),
    )
    return "".join(f"{n:>{len(c) + 2}}" for n, c in zip(numbers, columns, strict=True))


def _outcomes(some: Sequence[Attempt]) -> str:
    counts = Counter(each.outcome for each in some if each.hit)
    return ", ".join(f"{count} x {what}" for what, count in counts.most_common())


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; 1 if anything was lost, left or wrongly judged."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.kills", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--count", type=int, default=200, help="how many kills")
    parser.add_argument("--jobs", type=int, default=1, help="attempts side by side")
    parser.add_argument("--victims", nargs="+", choices=VICTIMS, default=VICTIMS)
    parser.add_argument("--store", nargs="+", choices=STORES, help="default: those that are here")
    parser.add_argument("--seed", default=str(random.randrange(10**6)), help="of the moments")
    chosen = parser.parse_args(arguments)
    print(f"seed {chosen.seed}", flush=True)
    plan = planned(chosen.count, _stores(chosen.store), chosen.victims)
    shared, mounts = _shared_memory(), _mounts()
    folder = Path(tempfile.mkdtemp(prefix="kills-"))
    done: list[Attempt] = []
    with ProcessPoolExecutor(chosen.jobs, initializer=_prepare_worker) as pool:
        cache, pace = pool.submit(warmed, folder).result()
        print(
            f"undisturbed: first result after {pace.first_s:.1f} s, the rest in {pace.rest_s:.1f}"
        )
        runs = {}
        for i, each in enumerate(plan):
            place = folder / str(i)
            place.mkdir()
            runs[pool.submit(_attempt, place, each, cache, pace, f"{chosen.seed}-{i}")] = place
        try:
            for run in as_completed(runs):
                done.append(made := run.result())
                if made.wrong:
                    told = (made.store, made.victim, made.hit, made.seconds, made.wrong)
                    print(runs[run].name, json.dumps(told), flush=True)
                else:
                    shutil.rmtree(runs[run], ignore_errors=True)
        except KeyboardInterrupt:  # which the workers get as well
            pool.shutdown(cancel_futures=True)
            print(f"interrupted; {len(done)} of {len(plan)}")
    bad = any(each.wrong for each in done)
    _print(done)
    if new := _shared_memory() - shared:
        print(f"shared memory is left: {sorted(new)}")
    if (more := _mounts() - mounts) > 0:
        print(f"{more} mounts are left")
    if bad:
        print(f"what they left is in {folder}")
    else:
        shutil.rmtree(folder, ignore_errors=True)
    return int(bad or bool(new) or more > 0)


def _mounts() -> int:
    return len(Path("/proc/self/mountinfo").read_text().splitlines())


if __name__ == "__main__":
    sys.exit(main())
