"""One kill: the run, the moment, what came of it, and the same command again."""

import contextlib
import os
import random
import signal
import subprocess
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from harness.records.result import Result, Verdict
from harness.sandbox.processes import descendants
from tools.kills.place import EXPECTED, Place, acknowledged, log_of
from tools.kills.strike import command, strike
from tools.postgresql import Server

GONE_S = 10.0
"""How long what was killed may take to be gone; the kernel ends whole namespaces."""
_GRADE_S = 300.0
_TRIES = 4
"""How often a run may end before there is anything to kill."""

_OWN_DOING = {"runner": {Verdict.RUNTIME_ERROR}}
"""A submission can kill its runner itself, so that is its own doing as far as anybody can know."""
_ENDS = frozenset({"judge", "terminate", "interrupt", "group", "power", "runner"})
"""Victims without which a run may end; a runner, before it has submitted code."""
_LEAVES = frozenset({"judge", "group", "power"})
"""Victims whose temporary folders the next judge removes."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How long a run takes that nobody disturbs, in seconds."""

    first_s: float
    """Until its first result is there."""
    rest_s: float
    """From then on."""


@dataclass(slots=True)
class Attempt:
    """One kill, what came of it, and what was wrong."""

    store: str
    victim: str
    after_first: bool
    """Whether to wait for the first result."""
    hit: str = ""
    """What was killed; empty if there was nothing to kill."""
    seconds: float = 0.0
    """Of the run, until it was hit."""
    recorded: int = 0
    """Results that were acknowledged by then."""
    acknowledged: int = 0
    """Results that were acknowledged at all, by the first run."""
    lost: int = 0
    """Those of them that are not in the store."""
    exact: bool = False
    """Whether each file had its one right result at last."""
    outcome: str = ""
    """How the first run ended."""
    wrong: list[str] = field(default_factory=list)
    """Everything that should not be."""


def warmed(folder: Path) -> tuple[Path, Pace]:
    """A cache that has what the first file needs, and the pace of a run that finds it there."""
    first = Place(folder / "warm", None)
    if first.submit(first.folder / "run.json").wait(_GRADE_S) != 1:
        raise RuntimeError(f"no run without kills: {log_of(first.folder / 'run.json').read_text()}")
    place = Place(folder / "pace", None, first.cache)
    output = place.folder / "run.json"
    started = time.monotonic()
    process = place.submit(output)
    _wait_for_a_line(process, output)
    first_s = time.monotonic() - started
    process.wait(_GRADE_S)
    return first.cache, Pace(first_s, time.monotonic() - started - first_s)


def attempt(folder: Path, attempt: Attempt, cache: Path, pace: Pace, seed: str) -> Attempt:
    """The ``attempt``, made in ``folder``; again where a run ended before it was hit."""
    random.seed(seed)
    for left in reversed(range(_TRIES)):
        with Server() if attempt.store == "postgresql" else contextlib.nullcontext() as server:
            place = Place(Path(tempfile.mkdtemp(dir=folder)) / "place", server, cache)
            if _run(place, attempt, pace, server) or not left:
                _look(place, attempt, server)
                break
    return attempt


def _run(place: Place, attempt: Attempt, pace: Pace, server: Server | None) -> bool:
    """The run that is hit; False if there was nothing to hit."""
    output = place.folder / "first.json"
    started = time.monotonic()
    process = place.submit(output)
    try:
        if attempt.after_first:
            _wait_for_a_line(process, output)
        time.sleep(random.uniform(0.0, pace.rest_s if attempt.after_first else pace.first_s))
        while process.poll() is None:
            attempt.recorded = len(list(acknowledged(output)))
            if hit := strike(process.pid, attempt.victim, server):
                attempt.hit, attempt.seconds = hit, time.monotonic() - started
                break
            time.sleep(0.01)
    except BaseException:
        process.kill()
        raise
    if not _ended(process):
        attempt.wrong.append("the judge hangs")
    attempt.outcome = f"exit {process.returncode}"
    return bool(attempt.hit)


def _look(place: Place, attempt: Attempt, server: Server | None) -> None:
    """See what the first run has done and left, and what the next one makes of it."""
    output = place.folder / "first.json"
    printed = list(acknowledged(output))
    attempt.acknowledged = len(printed)
    _look_for_processes(attempt, server)
    stored = _stored(place, attempt)
    attempt.lost = len({each.id for each in printed} - {each.id for each in stored})
    if attempt.lost:
        attempt.wrong.append(f"{attempt.lost} acknowledged and not in the store")
    if "internal error" in _log(output) or "Traceback" in _log(output):
        attempt.wrong.append(_log(output))
    if attempt.victim not in _ENDS and len(printed) != len(EXPECTED):
        attempt.wrong.append(f"{len(printed)} results, {attempt.outcome}: {_log(output)}")
    if attempt.victim not in _LEAVES and (left := place.left_over()):
        attempt.wrong.append(f"left in the temporary folder: {left}")
    _again(place, attempt, server, {each.id for each in stored})


def _again(place: Place, attempt: Attempt, server: Server | None, before: set[str]) -> None:
    """The same command with ``--resume``, undisturbed; then each file has one right result."""
    output = place.folder / "again.json"
    process = place.submit(output, "--resume")
    if not _ended(process):
        attempt.wrong.append("the same command hangs")
    _look_for_processes(attempt, server)
    stored = _stored(place, attempt)
    new = {each.id for each in acknowledged(output)}
    attempt.exact = new | before == {each.id for each in stored} and is_exact(attempt, stored)
    if not attempt.exact or process.returncode != 1:  # one of the files is wrong
        found = sorted((each.solution.path.rpartition("/")[2], each.verdict) for each in stored)
        why = f"exit {process.returncode}: {found} {_log(output)}"
        attempt.wrong.append(f"resumed: {why}")
    if left := place.left_over():
        attempt.wrong.append(f"left in the temporary folder at last: {left}")
    backup = place.folder / "export.jsonl"
    if place.export(backup) or not all(each.id in backup.read_text() for each in stored):
        attempt.wrong.append(f"no whole export: {_log(backup)}")


def is_exact(attempt: Attempt, stored: list[Result]) -> bool:
    """Whether each file has one result that is no INTERNAL_ERROR, and the right one."""
    conclusive = [each for each in stored if each.verdict is not Verdict.INTERNAL_ERROR]
    files = Counter(each.solution.path.rpartition("/")[2] for each in conclusive)
    if files != Counter(EXPECTED.keys()):
        return False
    odd = [e for e in conclusive if e.verdict != EXPECTED[e.solution.path.rpartition("/")[2]]]
    # One process was killed, so it is one file's.
    return len(odd) <= 1 and {e.verdict for e in odd} <= _OWN_DOING.get(attempt.victim, set())


def _stored(place: Place, attempt: Attempt) -> list[Result]:
    try:
        return place.results()
    except Exception as error:
        attempt.wrong.append(f"{type(error).__name__}: {error}")
        return []


def _wait_for_a_line(process: "subprocess.Popen[bytes]", output: Path) -> None:
    while process.poll() is None and b"\n" not in output.read_bytes():
        time.sleep(0.005)


def _ended(process: "subprocess.Popen[bytes]") -> bool:
    """Wait for a run; whether it ended by itself."""
    try:
        process.wait(_GRADE_S)
        return True
    except subprocess.TimeoutExpired:
        return False
    finally:  # also if the tool is interrupted
        process.kill()
        process.wait()


def _look_for_processes(attempt: Attempt, server: Server | None) -> None:
    """Whatever the judge has left behind is our child now: it must end by itself, and soon."""
    deadline = time.monotonic() + GONE_S
    while left := _children(server):
        if time.monotonic() > deadline:
            attempt.wrong.append(f"processes left: {[command(pid) for pid in left]}"[:600])
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            return
        time.sleep(0.02)


def _children(server: Server | None) -> set[int]:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    return set(descendants(os.getpid())) - (server.processes() if server else set())


def _log(output: Path) -> str:
    return log_of(output).read_text("utf-8", "replace")[-600:]
