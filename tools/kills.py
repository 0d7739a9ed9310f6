"""Kill a part of a grade at a random moment, many times, and see that nothing is lost or left.

    python -m tools.kills                          200 kills, one after the other
    python -m tools.kills --count 12 --jobs 2 --victims judge builder

Each attempt submits a file that was never built before, waits for a random moment, and sends
SIGKILL to the judge, a builder (a compiler, a parser), a runner or any process of its sandbox, or
the template that Python's runners are forked from. Then it looks for processes that are left,
shared memory, mounts and temporary folders, opens the store, and gives the same command again,
which must be accepted. Prints a table, and what was wrong; exits with 1 if anything was. See
docs/explanation/robustness.md.
"""

import argparse
import contextlib
import ctypes
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from harness.records.result import Result, Verdict
from harness.sandbox.processes import descendants
from leaderboard.store import CorruptRecord, Store
from tools import ROOT

VICTIMS = ("judge", "builder", "runner", "template")
GONE_S = 10.0
"""How long what was killed may take to be gone; the kernel ends whole namespaces."""
_GRADE_S = 300.0
_PR_SET_CHILD_SUBREAPER = 36

_PROBLEM = ROOT / "problems" / "vector-add"
_SAMPLES = ROOT / "solutions" / "vector-add" / "samples"
_SHORTER = (
    (r"cases: \d+", "cases: 2"),
    (r"always: \[[^]]*\]", "always: [1, 33]"),
    (r"(?s)cpu_benchmarks:.*?\n\n", "cpu_benchmarks:\n  - {n: 1024}\n\n"),
)
"""What is changed in the problem, so that a grade has all its parts and takes few seconds."""

_COMPILERS = (
    *("nvcc", "cicc", "ptxas", "cudafe++", "fatbinary", "g++", "c++", "gcc", "cc1plus"),
    *("sh", "as", "ld", "collect2", "c++filt", "cu++filt"),
)
_RUNS_A_COMMAND = '"command": ["'
"""In the plan of a sandbox that is there for a compiler, the translator or a parser."""
_TEMPLATE = "harness.sandbox.zygote_main"

BLAMELESS = frozenset({Verdict.ACCEPTED, Verdict.INTERNAL_ERROR})
ALLOWED = {
    "judge": frozenset(Verdict),  # there is no verdict but one that was there before
    "builder": BLAMELESS,
    "template": BLAMELESS | {Verdict.RUNTIME_ERROR},
    # A submission can kill itself, so this is its own doing as far as anybody can know.
    "runner": BLAMELESS | {Verdict.RUNTIME_ERROR},
}
"""Verdicts that may be recorded when this was killed."""


@dataclass(slots=True)
class Attempt:
    """One kill: what was hit after how many seconds, what came of it, what was wrong."""

    victim: str
    hit: str = ""
    seconds: float = 0.0
    outcome: str = ""
    wrong: list[str] = field(default_factory=list)


class Place:
    """A store, a cache, a folder for temporary files, and a folder of submissions."""

    def __init__(self, folder: Path) -> None:
        self.store = folder / "results.sqlite"
        self.temporary = folder / "tmp"
        self.submissions = folder / "solutions" / "vector-add" / "someone"
        self.problems = folder / "problems"
        shutil.copytree(_PROBLEM, self.problems / "vector-add")
        statement = self.problems / "vector-add" / "problem.md"
        text = statement.read_text()
        for pattern, short in _SHORTER:
            text, count = re.subn(pattern, short, text)
            assert count == 1, pattern
        statement.write_text(text)
        self.temporary.mkdir(parents=True)
        self.submissions.mkdir(parents=True)
        self.environment = {
            **os.environ,
            "HARNESS_CACHE": str(folder / "cache"),
            "HARNESS_STORE": str(self.store),
            "TMPDIR": str(self.temporary),
            "PYTHONPATH": str(ROOT),
            "OMP_NUM_THREADS": "1",
        }

    def submission(self, suffix: str, number: int) -> Path:
        """A right solution that nobody has built yet."""
        source, comment = ("naive.cu", "//") if suffix == ".cu" else ("triton.py", "#")
        path = self.submissions / f"n{number}{suffix}"
        text = (_SAMPLES / source).read_text()
        path.write_text(f"{text}\n{comment} {number} {random.random()}\n")
        return path

    def submit(self, path: Path, output: Path) -> "subprocess.Popen[bytes]":
        """The command, its results as JSON in ``output``."""
        program = "from harness.cli import main; main()"
        command = [sys.executable, "-c", program, "submit", str(path)]
        command += ["--device", "cpu", "--problems", str(self.problems), "--json", "-"]
        with output.with_suffix(".log").open("wb") as log, output.open("wb") as results:
            return subprocess.Popen(
                command,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=results,
                stderr=log,
                start_new_session=True,
            )

    def results(self) -> list[Result]:
        """All results of the store.

        Raises:
            ValueError: a row is damaged, or the database is.
        """
        damaged: list[CorruptRecord] = []
        with Store.open(str(self.store)) as store:
            found = list(store.results(on_corrupt=damaged.append))
        with contextlib.closing(sqlite3.connect(self.store)) as connection:
            (integrity,) = connection.execute("PRAGMA integrity_check").fetchone()
        if damaged or integrity != "ok":
            raise ValueError(f"the store is damaged: {damaged} {integrity}")
        return found

    def left_over(self) -> list[str]:
        """What lies in the folder for temporary files."""
        return sorted(p.name for p in self.temporary.iterdir() if p.name != "kernel-harness-locks")


def kill_one(place: Path, victim: str, number: int, seed: str) -> Attempt:
    """One attempt in a folder of its own."""
    random.seed(seed)
    attempt = Attempt(victim)
    where = Place(place / f"{number}")
    # Only a Python submission has a builder of Python; the baseline has a template in any case.
    path = where.submission(random.choice((".cu", ".cu", ".cu", ".py")), number)
    shared, mounts = _shared_memory(), _mounts()
    output = place / f"{number}" / "first.json"
    process = where.submit(path, output)
    try:
        _strike(process, attempt)
        process.wait(_GRADE_S)
    except subprocess.TimeoutExpired:
        attempt.wrong.append("the judge hangs")
        process.kill()
        process.wait()
    _look_for_processes(attempt)
    printed = _acknowledged(output)
    _look_at_store(where, attempt, printed)
    status = process.returncode
    if attempt.victim == "judge":
        attempt.outcome = f"killed, {len(printed)} recorded"
    else:
        attempt.outcome = printed[0].verdict if printed else f"exit {status}"
        if printed and printed[0].verdict not in ALLOWED[victim]:
            attempt.wrong.append(f"{printed[0].verdict}: {printed[0].message[:300]}")
        if not printed and status != 3:
            attempt.wrong.append(f"exit {status}: {_log(output)}")
        if left := where.left_over():
            attempt.wrong.append(f"left in the temporary folder: {left}")
    if "internal error" in _log(output):
        attempt.wrong.append(_log(output))
    _again(where, path, attempt, output.with_name("again.json"))
    if new := _shared_memory() - shared:
        attempt.wrong.append(f"shared memory: {sorted(new)}")
    if _mounts() > mounts:
        attempt.wrong.append("a mount is left")
    return attempt


def _strike(process: "subprocess.Popen[bytes]", attempt: Attempt) -> None:
    """Wait for a random moment, then until there is such a process, and kill it."""
    started = time.monotonic()
    # Moments are spread over the part of a grade in which there is such a process at all.
    pause = random.uniform(0.0, 8.0 if attempt.victim == "judge" else 4.0)
    seen = 0.0
    while process.poll() is None:
        targets = list(_targets(process.pid, attempt.victim))
        if targets and not seen:
            seen = time.monotonic()
            pause = pause if attempt.victim in ("judge", "runner") else random.uniform(0, 0.5)
        if targets and time.monotonic() - seen >= pause:
            pid, attempt.hit = random.choice(targets)
            attempt.seconds = time.monotonic() - started
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                return
        time.sleep(0.01)
    attempt.hit = ""


def _targets(judge: int, victim: str) -> Iterator[tuple[int, str]]:
    """Processes of this kind below the judge, and what each is called."""
    if victim == "judge":
        yield judge, "judge"
        return
    commands: set[int] = set()
    for pid in descendants(judge):  # parents before children
        name, line = _command(pid)
        parent = _parent(pid)
        if parent in commands or _RUNS_A_COMMAND in line or name in _COMPILERS:
            commands.add(pid)
        template = _TEMPLATE in line and parent == judge
        kind = "builder" if pid in commands else "template" if template else "runner"
        if kind == victim:
            yield pid, name


def _command(pid: int) -> tuple[str, str]:
    try:
        name = Path(f"/proc/{pid}/comm").read_text().strip()
        return name, Path(f"/proc/{pid}/cmdline").read_bytes().decode("utf-8", "replace")
    except OSError:
        return "", ""


def _parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except (OSError, IndexError):
        return 0


def _look_for_processes(attempt: Attempt) -> None:
    """Whatever the judge has left behind is our child now: it must end by itself, and soon."""
    deadline = time.monotonic() + GONE_S
    while True:
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        left = descendants(os.getpid())
        if not left:
            return
        if time.monotonic() > deadline:
            attempt.wrong.append(f"processes left: {[_command(pid) for pid in left]}"[:600])
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            return
        time.sleep(0.02)


def _acknowledged(output: Path) -> list[Result]:
    """What the judge said was recorded; a torn last line is not said."""
    if not output.exists():
        return []
    lines = output.read_text().splitlines(keepends=True)
    return [Result.from_json(line) for line in lines if line.endswith("\n")]


def _look_at_store(where: Place, attempt: Attempt, printed: Sequence[Result]) -> None:
    try:
        stored = {result.id for result in where.results()} if where.store.exists() else set()
    except Exception as error:
        attempt.wrong.append(f"{type(error).__name__}: {error}")
        return
    if lost := {result.id for result in printed} - stored:
        attempt.wrong.append(f"acknowledged and not in the store: {lost}")


def _again(where: Place, path: Path, attempt: Attempt, output: Path) -> None:
    """The same command, undisturbed."""
    process = where.submit(path, output)
    try:
        status = process.wait(_GRADE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        status = process.wait()
        attempt.wrong.append("the same command hangs")
    printed = _acknowledged(output)
    if status or [result.verdict for result in printed] != [Verdict.ACCEPTED]:
        why = printed[0].message[:300] if printed else _log(output)
        attempt.wrong.append(f"the same command then: exit {status}: {why}")
    _look_for_processes(attempt)
    _look_at_store(where, attempt, printed)
    if left := where.left_over():
        attempt.wrong.append(f"left in the temporary folder at last: {left}")


def _log(output: Path) -> str:
    return output.with_suffix(".log").read_text("utf-8", "replace")[-600:]


def _shared_memory() -> set[str]:
    """POSIX and System V segments of this user; private ones of sandboxes are gone with them."""
    mine = {p.name for p in Path("/dev/shm").iterdir() if p.name.startswith(("torch_", "harness"))}
    return mine | set(Path("/proc/sysvipc/shm").read_text().splitlines()[1:])


def _mounts() -> int:
    return len(Path("/proc/self/mountinfo").read_text().splitlines())


def _adopt_orphans() -> None:
    if ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError("cannot become a subreaper")


def _print(attempts: Sequence[Attempt], show_all: bool) -> int:
    print(f"\n{'victim':<10}{'kills':>6}{'missed':>8}{'wrong':>7}  outcomes")
    for victim in VICTIMS:
        some = [each for each in attempts if each.victim == victim]
        if some:
            hit = [each for each in some if each.hit]
            outcomes = Counter(each.outcome for each in hit)
            wrong = sum(bool(each.wrong) for each in some)
            listed = ", ".join(f"{count} {what}" for what, count in outcomes.most_common())
            print(f"{victim:<10}{len(hit):>6}{len(some) - len(hit):>8}{wrong:>7}  {listed}")
    names = Counter(each.hit for each in attempts if each.hit)
    print("killed:", ", ".join(f"{count} {name}" for name, count in names.most_common()))
    bad = [each for each in attempts if each.wrong]
    for each in bad if not show_all else attempts:
        print(f"{each.victim} ({each.hit}) after {each.seconds:.2f} s: {each.outcome} {each.wrong}")
    return len(bad)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; 1 if anything was lost, left or wrongly judged."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.kills", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("--count", type=int, default=200, help="how many kills")
    parser.add_argument("--jobs", type=int, default=1, help="attempts side by side")
    parser.add_argument("--victims", nargs="+", choices=VICTIMS, default=VICTIMS)
    parser.add_argument("--seed", default=str(random.randrange(10**6)), help="of the moments")
    parser.add_argument("--all", action="store_true", help="tell of every attempt")
    chosen = parser.parse_args(arguments)
    print(f"seed {chosen.seed}", flush=True)
    folder = Path(tempfile.mkdtemp(prefix="kills-"))
    attempts: list[Attempt] = []
    with ProcessPoolExecutor(chosen.jobs, initializer=_adopt_orphans) as pool:
        victims = [chosen.victims[i % len(chosen.victims)] for i in range(chosen.count)]
        runs = [
            pool.submit(kill_one, folder, victim, i, f"{chosen.seed}-{i}")
            for i, victim in enumerate(victims)
        ]
        for i, run in enumerate(runs):
            attempt = run.result()
            attempts.append(attempt)
            if not attempt.wrong:
                shutil.rmtree(folder / str(i), ignore_errors=True)
            else:
                print(json.dumps([i, attempt.victim, attempt.hit, attempt.wrong]), flush=True)
    bad = _print(attempts, chosen.all)
    if bad:
        print(f"what they left is in {folder}")
    else:
        shutil.rmtree(folder, ignore_errors=True)
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())
