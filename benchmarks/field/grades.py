"""One reference after the other, each graded as a submission to its own problem."""

import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from dataclasses import field as having
from pathlib import Path

import torch

from benchmarks.phases import Phases
from harness.device.base import Device
from harness.device.choose import open_device
from harness.errors import JudgeError
from harness.formats.base import Source
from harness.formats.problem import Foreign
from harness.grading.grader import Grader
from harness.grading.job import Job, Options
from harness.languages.read import read_solution
from harness.problem.case import CaseLimits
from harness.problem.terms import Direction
from harness.records.result import Verdict

_SHARE = 0.15
"""Of a card's memory for several at a time: what takes more than its part of that waits for its
turn. References compute in further memory."""


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
    rest = None if memory is None else held_but(opened, memory)
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


def held_but(device: Device, gib: float) -> torch.Tensor:
    """All of a card's free memory but ``gib`` GiB, which nobody else gets while it is kept."""
    if device.emulated:
        raise SystemExit("--memory: there is no card")
    rest = device.free_bytes() - int(gib * 2**30)
    if rest < 0:
        raise SystemExit(f"--memory {gib:g}: there is less free on {device.name}")
    return torch.empty(rest, dtype=torch.uint8, device=device.torch_device)


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
