"""The references of other people's problems, graded as submissions to them: all must be right.

Problems come from checkouts, in an order of their own, so that those which are graded before the
time is up are a sample of all. `--part 2/4` takes every fourth, for several processes side by side.
`--memory 24` holds the rest of a larger card's memory, so that all of them together have 24 GiB.
"""

import random
import statistics
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from harness.device.base import Device
from harness.device.choose import open_device
from harness.errors import JudgeError
from harness.formats.base import Source
from harness.formats.known import problems_in
from harness.formats.problem import Foreign
from harness.grading.grader import Grader
from harness.grading.job import Job, Options
from harness.languages.read import read_solution
from harness.problem.terms import Direction
from harness.progress.progress import NoProgress
from harness.records.result import Verdict

_ORDER = 7
"""Seed of the order of problems."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Graded:
    """What became of one problem's reference."""

    set: str
    """The format, and the folder of a level where there is one."""
    slug: str
    verdict: str
    """A verdict, or the kind of error that ended it."""
    message: str
    claims: tuple[str, ...]
    seconds: float


def field(
    paths: Sequence[Path],
    *,
    device: str,
    timed: bool,
    seconds: float,
    part: str,
    memory: float | None = None,
) -> dict[str, Any]:
    """Grade the references of the problems at ``paths``, and print what became of them."""
    found = [source for path in paths for source in problems_in(path)]
    mine = ordered(found, part)
    started, rows, opened = time.monotonic(), list[Graded](), open_device(device)
    rest = None if memory is None else _held(opened, memory)
    with tempfile.TemporaryDirectory() as folder, Grader(opened, NoProgress()) as grader:
        for number, source in enumerate(mine):
            if time.monotonic() - started > seconds:
                break
            own = Path(folder) / str(number)
            rows.append(graded(grader, source, own, emulated=opened.emulated, timed=timed))
            _say(rows[-1])
    del rest
    for line in table(rows):
        print(line)
    print(f"{len(rows)} of {len(mine)} in {time.monotonic() - started:.0f} s")
    graded_ = [asdict(row) for row in rows]
    return {"found": len(found), "part": part, "memory_gib": memory, "graded": graded_}


def _held(device: Device, gib: float) -> torch.Tensor:
    """All of a card's free memory but ``gib`` GiB, which nobody else gets while it is kept."""
    if device.emulated:
        raise SystemExit("--memory: there is no card")
    rest = device.free_bytes() - int(gib * 2**30)
    if rest < 0:
        raise SystemExit(f"--memory {gib:g}: there is less free on {device.name}")
    return torch.empty(rest, dtype=torch.uint8, device=device.torch_device)


def ordered(found: Sequence[Source], part: str) -> list[Source]:
    """One of some parts of what was found, as ``2/4``, in an order that has no other meaning."""
    number, _, count = part.partition("/")
    if not 1 <= int(number) <= int(count or 1):
        raise SystemExit(f"--part {part}: there is no such part")
    mixed = sorted(found, key=lambda source: source.slug)
    random.Random(_ORDER).shuffle(mixed)
    return mixed[int(number) - 1 :: int(count or 1)]


def graded(grader: Grader, source: Source, folder: Path, *, emulated: bool, timed: bool) -> Graded:
    """Grade a problem's reference; its file is written to ``folder``."""
    started = time.monotonic()
    verdict, message, claims = "", "", tuple[str, ...]()
    problem = Foreign(source=source)
    try:
        if message := problem.unfit(emulated=emulated):
            verdict = Verdict.NOT_EXECUTABLE_HERE
        else:
            folder.mkdir()
            file = folder / "reference.py"
            file.write_bytes(program(problem))
            solution = read_solution(file, problem=problem.slug, author="reference")
            result = grader.grade(
                Job(path=str(file), solution=solution, problem=problem),
                Options(timing=timed, quick=True, shrink_s=0.0),
            )
            verdict, message, claims = result.verdict, result.message, tuple(result.claims)
    except JudgeError as error:
        verdict, message = type(error).__name__, str(error)
    level = source.path.parent.name if source.format == "kernelbench" else ""
    return Graded(
        set=f"{source.format} {level}".strip(),
        slug=problem.slug,
        verdict=str(verdict),
        message=message,
        claims=claims,
        seconds=round(time.monotonic() - started, 1),
    )


_WRITING = """

def {entry}(*arguments):
    made = {program}(*(x for number, x in enumerate(arguments) if number not in {outputs}))
    for number, x in zip({outputs}, made if isinstance(made, (tuple, list)) else (made,)):
        arguments[number].copy_(x.reshape(arguments[number].shape))
"""


def program(problem: Foreign) -> bytes:
    """The reference as a submission's file: where the format has outputs written, it writes."""
    entry, text = problem.program()
    if entry == problem.entry:
        return text
    places = (n for n, p in enumerate(problem.parameters) if p.direction is Direction.OUT)
    written = _WRITING.format(entry=problem.entry, program=entry, outputs=tuple(places))
    return text + written.encode()


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
    others = Counter(row.verdict for row in rows if row.verdict != "ACCEPTED")
    for verdict, count in others.most_common():
        yield f"{count:4} {verdict}"


def _say(row: Graded) -> None:
    why = "" if row.verdict == "ACCEPTED" else f" {row.message.splitlines()[0][:200]}"
    print(f"{row.seconds:7.1f} s {row.verdict} {row.slug}{why}", file=sys.stderr, flush=True)
