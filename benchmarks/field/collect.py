"""`python -m benchmarks field`.

Problems come from checkouts, in an order of their own, so that those which are graded before the
time is up are a sample of all. `--part 2/4` takes every fourth. `--jobs 4` grades four at a time,
each in a process of its own with its share of the processors, on one card or on each of
`--cards all`; problems that take much of a card's memory take turns, and no times are taken.
`--known FILE` goes on with an earlier run's `--json`. `--memory 24` holds the rest of each card's
memory, so that all processes on it together have 24 GiB.
"""

import json
import statistics
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.field.grades import Graded, one_by_one
from benchmarks.field.jobs import side_by_side
from benchmarks.order import mixed
from harness import signals
from harness.device.cards import choose_cards, opened_as, visible_cards
from harness.formats.base import Source
from harness.formats.known import problems_in

_AGAIN = ("MEMORY_LIMIT", "MachineError")
"""Verdicts of the company, not of the problem: such problems are graded again."""
_NO_ROOM = ("OutOfMemoryError", "out of memory", "of memory, and there are", "with status 113")
"""In messages of others, the same; 113: a process could not be confined, or not be started."""


def field(
    paths: Sequence[Path],
    *,
    device: str,
    timed: bool,
    seconds: float,
    part: str,
    memory: float | None = None,
    known: Sequence[Path] = (),
    cards: str = "",
    jobs: int = 1,
) -> dict[str, Any]:
    """Grade the references of the problems at ``paths``, and print what became of them."""
    found = [source for path in paths for source in problems_in(path)]
    before = earlier(known)
    mine = [source for source in ordered(found, part) if _key(source) not in before]
    started = time.monotonic()
    places: list[Mapping[str, str]] = [{}]
    if cards:
        places = [opened_as(card)[1] for card in choose_cards(cards, visible_cards())]
    if jobs > 1 or cards:
        if timed:
            raise SystemExit("--timed is for one process, without --cards and --jobs")
        graded_ = side_by_side(mine, device, places, jobs, seconds, memory=memory)
    else:
        graded_ = one_by_one(mine, device, seconds, memory=memory, timed=timed)
    new = 0
    try:
        for row in graded_:
            before[row.hash, row.slug] = row
            new += 1
            _say(row)
    except KeyboardInterrupt as ended:  # what is known until then is worth its time on the card
        signals.accept()
        print(f"{ended}: some are left", file=sys.stderr)
    rows = list(before.values())
    for line in table(rows):
        print(line)
    known_ = f", {len(rows) - new} known before" if known else ""
    print(f"{new} of {len(mine)} in {time.monotonic() - started:.0f} s{known_}")
    told = [asdict(row) for row in rows]
    return {"found": len(found), "part": part, "memory_gib": memory, "graded": told}


def earlier(files: Sequence[Path]) -> dict[tuple[str, str], Graded]:
    """What earlier runs have graded, but for what was no matter of the problem.

    Nor what does not say of which files it is, as in runs of before `--known`.
    """
    rows = (Graded(**row) for file in files for row in json.loads(file.read_bytes())["graded"])
    return {(row.hash, row.slug): row for row in rows if row.hash and not _again(row)}


def _again(row: Graded) -> bool:
    if row.verdict == "ACCEPTED":
        return False
    return row.verdict in _AGAIN or any(each in row.message for each in _NO_ROOM)


def _key(source: Source) -> tuple[str, str]:
    return source.hash, source.slug


def ordered(found: Sequence[Source], part: str) -> list[Source]:
    """One of some parts of what was found, as ``2/4``, in an order that has no other meaning."""
    number, _, count = part.partition("/")
    if not 1 <= int(number) <= int(count or 1):
        raise SystemExit(f"--part {part}: there is no such part")
    return mixed(sorted(found, key=lambda each: each.slug))[int(number) - 1 :: int(count or 1)]


def table(rows: Sequence[Graded]) -> Iterator[str]:
    """A line for each set, then for each kind of thing that was not accepted."""
    sets = defaultdict[str, list[Graded]](list)
    for row in rows:
        sets[row.set].append(row)
    yield f"{'set':24} {'graded':>6} {'right':>6} {'median s':>9} {'most s':>7}"
    for name, some in sorted(sets.items()):
        right = sum(row.verdict == "ACCEPTED" for row in some)
        spent = [row.seconds for row in some]
        median = statistics.median(spent)
        yield f"{name:24} {len(some):6} {right:6} {median:9.1f} {max(spent):7.1f}"
    spent_on = Counter[str]()
    for row in rows:
        spent_on.update(row.phases)
    if spent_on:
        parts = (f"{name} {seconds / len(rows):.2f}" for name, seconds in spent_on.most_common())
        yield f"s of each on average: {', '.join(parts)}"
    others = Counter(row.verdict for row in rows if row.verdict != "ACCEPTED")
    for verdict, count in others.most_common():
        yield f"{count:4} {verdict}"


def _say(row: Graded) -> None:
    why = "" if row.verdict == "ACCEPTED" else f" {row.message.splitlines()[0][:200]}"
    print(f"{row.seconds:7.1f} s {row.verdict} {row.slug}{why}", file=sys.stderr, flush=True)
