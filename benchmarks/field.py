"""The references of other people's problems, graded as submissions to them: all must be right.

Problems come from checkouts, in an order of their own, so that those which are graded before the
time is up are a sample of all. `--part 2/4` takes every fourth. `--jobs 4` grades four at a time,
each in a process of its own with its share of the processors, on one card or on each of
`--cards all`; problems that take much of a card's memory take turns, and no times are taken.
`--known FILE` goes on with an earlier run's `--json`. `--memory 24` holds the rest of each card's
memory, so that all processes on it together have 24 GiB.
"""

import json
import multiprocessing
import os
import queue
import statistics
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, replace
from dataclasses import field as having
from multiprocessing.context import SpawnContext, SpawnProcess
from pathlib import Path
from typing import Any
from unittest import mock

import torch

from benchmarks.order import mixed
from benchmarks.phases import Phases
from harness.device.base import Device
from harness.device.cards import choose_cards, opened_as, visible_cards
from harness.device.choose import open_device
from harness.errors import JudgeError
from harness.formats.base import Source
from harness.formats.known import problems_in
from harness.formats.problem import Foreign
from harness.grading.grader import Grader
from harness.grading.job import Job, Options
from harness.languages.read import read_solution
from harness.problem.case import CaseLimits
from harness.problem.terms import Direction
from harness.records.result import Verdict

_GRACE_S = 60.0
"""What a problem that is being graded when the time is up may still take, of several at a time."""
_SHARE = 0.15
"""Of a card's memory for several at a time: what takes more than its part of that waits for its
turn. References compute in further memory."""
_AGAIN = ("MEMORY_LIMIT", "MachineError")
"""Verdicts of the company, not of the problem: such problems are graded again."""
_NO_ROOM = ("OutOfMemoryError", "out of memory", "of memory, and there are", "with status 113")
"""In messages of others, the same; 113: a process could not be confined, or not be started."""


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
    hash: str = ""
    """Of the problem's files, of which two checkouts have different ones."""
    bytes: int = 0
    """What checking its largest case takes where there is room for all; 0: not known."""
    card: str = ""
    """The UUID of the one it was graded on."""
    phases: Mapping[str, float] = having(default_factory=dict)
    """Seconds of each phase of the grade, by its first word."""


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
    for row in graded_:
        before[row.hash, row.slug] = row
        new += 1
        _say(row)
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


class Turn:
    """Of those who share a card, one at a time grades what takes much of its memory."""

    def __init__(
        self, lock: AbstractContextManager[object], jobs: int, memory: float | None = None
    ) -> None:
        self._lock = lock
        self._jobs = jobs
        self._memory = memory

    def of(self, problem: Foreign) -> AbstractContextManager[object]:
        """To be entered while a problem is graded on a card; it has been described."""
        whole = torch.cuda.get_device_properties(0).total_memory
        shared = whole if self._memory is None else min(whole, self._memory * 2**30)
        large = max(problem.footprints(emulated=False)) > shared * _SHARE / self._jobs
        return self._lock if large else nullcontext()


def one_by_one(
    mine: Iterable[Source],
    device: str,
    seconds: float,
    *,
    memory: float | None = None,
    timed: bool = False,
    turn: Turn | None = None,
) -> Iterator[Graded]:
    """Grade until the time is up, in this process."""
    started, opened, phases = time.monotonic(), open_device(device), Phases()
    card = opened.variables().get("CUDA_VISIBLE_DEVICES", "")
    rest = None if memory is None else _held(opened, memory)
    with tempfile.TemporaryDirectory() as folder, Grader(opened, phases) as grader:
        for number, source in enumerate(mine):
            if time.monotonic() - started > seconds:
                break
            own = Path(folder) / str(number)
            row = graded(
                grader, source, own, phases, emulated=opened.emulated, timed=timed, turn=turn
            )
            yield replace(row, card=card)
    del rest


def side_by_side(
    mine: Sequence[Source],
    device: str,
    places: Sequence[Mapping[str, str]],
    jobs: int,
    seconds: float,
    *,
    memory: float | None = None,
) -> Iterator[Graded]:
    """Grade until the time is up, in so many processes for each of ``places``, their environments.

    Each takes the next problem when it has done one, and has its share of the processors.
    """
    until = time.time() + seconds
    spawn = multiprocessing.get_context("spawn")
    todo: Any = spawn.Queue()
    done: Any = spawn.Queue()
    count = len(places) * jobs
    for source in (*mine, *[None] * count):
        todo.put(source)
    processors = sorted(os.sched_getaffinity(0))
    turns = [Turn(spawn.Lock(), jobs, memory) for _ in places]
    workers = []
    holders = [] if memory is None else [_holder(spawn, place, device, memory) for place in places]
    for number in range(count):
        place, turn = places[number % len(places)], turns[number % len(places)]
        share = processors[number::count] or processors
        workers.append(_started(spawn, place, _work, device, share, until, todo, done, turn))
    try:
        while time.time() < until + _GRACE_S:
            alive = any(worker.is_alive() for worker in workers)
            try:
                yield done.get(timeout=0.5 if alive else 0.0)
            except queue.Empty:
                if not alive:
                    break
    finally:
        todo.cancel_join_thread()  # what nobody takes any more must not keep this process
        for process in (*workers, *holders):
            process.terminate()
            process.join()


def _started(
    spawn: SpawnContext, place: Mapping[str, str], what: Callable[..., None], *given: Any
) -> SpawnProcess:
    """A process with the environment of a card, which it has before it imports anything."""
    process = spawn.Process(target=what, args=given)
    with mock.patch.dict(os.environ, place):
        process.start()
    return process


def _holder(
    spawn: SpawnContext, place: Mapping[str, str], device: str, memory: float
) -> SpawnProcess:
    """A process that holds all of a card's memory but ``memory`` GiB until it is ended."""
    held = spawn.Event()
    process = _started(spawn, place, _hold, device, memory, held)
    while not held.wait(0.2):
        if not process.is_alive():
            raise SystemExit(f"--memory {memory:g}: the rest of a card could not be held")
    return process


def _hold(device: str, memory: float, held: Any) -> None:
    """A process of its own: hold the rest of the card's memory, no longer than its parent lives."""
    rest = _held(open_device(device), memory)
    held.set()
    if parent := multiprocessing.parent_process():
        parent.join()
    del rest


def _work(
    device: str, share: Sequence[int], until: float, todo: Any, done: Any, turn: Turn
) -> None:
    """A process of its own: grade what is next until nothing is, or the time is up."""
    os.sched_setaffinity(0, share)
    torch.set_num_threads(len(share))
    sources = iter(todo.get, None)
    for row in one_by_one(sources, device, until - time.time(), turn=turn):
        done.put(row)


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
    return mixed(sorted(found, key=lambda each: each.slug))[int(number) - 1 :: int(count or 1)]


def graded(
    grader: Grader,
    source: Source,
    folder: Path,
    phases: Phases,
    *,
    emulated: bool,
    timed: bool,
    turn: Turn | None = None,
) -> Graded:
    """Grade a problem's reference; its file is written to ``folder``."""
    started = time.monotonic()
    verdict, message, claims, bytes_ = "", "", tuple[str, ...](), 0
    problem = Foreign(source=source)
    phases.phase("describe")
    try:
        if message := problem.unfit(emulated=emulated):
            verdict = Verdict.NOT_EXECUTABLE_HERE
        else:
            bytes_ = taken(problem, emulated=emulated)
            folder.mkdir()
            file = folder / "reference.py"
            file.write_bytes(program(problem))
            solution = read_solution(file, problem=problem.slug, author="reference")
            phases.phase("wait for a turn")
            with turn.of(problem) if turn and not emulated else nullcontext():
                phases.phase("claims")
                problem.claims(emulated=emulated)
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
        hash=source.hash,
        bytes=bytes_,
        phases=phases.taken(),
    )


def taken(problem: Foreign, *, emulated: bool) -> int:
    """Bytes that checking the largest case takes, if nothing has to be spared."""
    room = CaseLimits(work=1.0 if emulated else None)
    cases = problem.draw_cases("", dtype=problem.dtypes[0], room=room)
    return max(problem.footprint(case) for case in cases)


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
