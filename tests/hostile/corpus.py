"""The corpus of hostile submissions, and of honest ones that look like them: one file per trick.

The first lines of a file say, each in a comment of its own::

    // What it tries, in a sentence or two.
    // threat: 22, 25                  (docs/explanation/hostile.md; a word for a fault)
    // problem: vector-add
    // verdict: wrong_answer; on cpu: runtime_error

and, where it applies:

=====================  ===========================================================================
``timed: yes``         graded with times, one shape: what it tries is about those
``takes: 0.02``        seconds that a call sleeps: a measured time below that would be a false one
``graded: twice``      by the same judge, one after the other
``only: cuda``         cannot be tried without a GPU
``or: rejected``       other verdicts that are as good: it depends on when what is noticed
``no faster than: x``  its honest twin: accepted and ranked on a card, it is no faster than that
``never shows: word``  the result, printed text included, must not hold it
=====================  ===========================================================================

A trick earns the right answer only if it works, so that it would show as an accepted verdict.

Submissions that should not lie in a repository (undecodable, huge, oddly named) are written when
they are wanted: :mod:`generated`.
"""

import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Self
from unittest import mock

import generated

from harness.device.base import Device
from harness.grading.grader import Grader
from harness.grading.job import Job, Options
from harness.languages.read import HEADER_LINES, read_solution
from harness.problem.format.load import load_problem
from harness.problem.package import Problem
from harness.progress.progress import NoProgress
from harness.records.result import Result, Verdict
from harness.sandbox import command, processes, zygote
from harness.session import session
from harness.session.channel import Channel
from harness.session.fault import Fault
from harness.solution.suffixes import SOURCES
from harness.verify.examples import ExpectedVerdict, limited, read_header

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PROBLEMS = ROOT / "problems"

FOLDERS = (
    "channel",
    "knowledge",
    "replay",
    "timing",
    "answers",
    "conditions",
    "filters",
    "files",
    "faults",
    "compiler",
    "honest",
)
"""In the order of docs/explanation/hostile.md."""

SHAPES: Mapping[str, Mapping[str, float]] = {
    # Few blocks, and long: where there is most to gain from running calls side by side.
    "gemm-multiply-leakyrelu": {"m": 256, "n": 256, "k": 1024, "alpha": 0.01},
    "vector-add": {"n": 1 << 24},
    # Sizes that no correctness case has: what is done there alone, only timed calls can show.
    "softmax": {"m": 8192, "n": 4096},
    "layer-norm": {"m": 8192, "n": 4096, "eps": 1e-5},
    "row-reduction": {"m": 1, "n": 40_000_000},
    "matmul-large-k": {"m": 64, "n": 64, "k": 1 << 19},
}
CPU_SHAPES: Mapping[str, Mapping[str, float]] = {
    "gemm-multiply-leakyrelu": {"m": 61, "n": 67, "k": 129, "alpha": -0.5},
    "vector-add": {"n": 10007},
    "softmax": {"m": 7, "n": 1025},
    "layer-norm": {"m": 7, "n": 1025, "eps": 1e-6},
    "row-reduction": {"m": 1, "n": 20_000},
    "matmul-large-k": {"m": 13, "n": 17, "k": 5003},
}
"""Those that are timed."""

START_S = 8.0
"""How long a sandbox may take to start, which counts as loading, too; seconds. Imports wait so long
on top of ``PREPARE_S``, and the judge usually more patiently."""
PREPARE_S = 2.0
BUILD_S = 4.0

LONGEST_S = 180.0
"""Nothing may take longer, whatever hangs in it: the sum of all limits that it can run into, and
time for a busy machine."""

SECRET = "hostile-corpus-secret"
"""Stands in the judge's environment, to be looked for."""

DAEMON = "hostile-daemon"
"""What submissions call a process of theirs that is to outlive them."""

DISTURBING = ("channel", "faults", "compiler")
"""Folders after whose entries it is tried whether the next submission is graded as ever."""

_GONE_S = 5.0

HONEST = HERE / "honest" / "plain.py"

GAIN = 1.02
"""Times as fast as its honest twin that an accepted entry may surely be."""

_KEYS = re.compile(
    r"^(?://|#) (threat|problem|timed|takes|graded|only|or|never shows|no faster than): (.*?)\s*$",
    re.MULTILINE,
)
_REMARK = re.compile(r"^(?://|#) ?(.*)$")


@dataclass(frozen=True, slots=True)
class Entry:
    """One submission, what it tries, and what must become of it.

    ``write`` leaves it in a folder and returns where; most lie there already.
    """

    folder: str
    name: str
    tries: str
    threats: tuple[str, ...]
    wanted: ExpectedVerdict
    write: Callable[[Path], Path]
    problem: str = "vector-add"
    timed: bool = False
    takes: float = 0.0
    times: int = 1
    only: str = ""
    others: tuple[Verdict, ...] = ()
    never_shows: str = ""
    twin: str = ""

    @property
    def id(self) -> str:
        """As it is named in docs/explanation/hostile.md."""
        return f"{self.folder}/{self.name}"

    def runs_on(self, device: str) -> bool:
        """Whether it can be tried there."""
        return self.only in ("", device)


def entries() -> list[Entry]:
    """All of them, in the order of :data:`FOLDERS`."""
    found = [
        _entry(path)
        for folder in FOLDERS
        for path in (HERE / folder).glob("*")
        if path.suffix in SOURCES
    ]
    found += [_generated(spec) for spec in generated.SPECS]
    return sorted(found, key=lambda e: (FOLDERS.index(e.folder), e.name))


def _entry(path: Path) -> Entry:
    folder, name = path.parent.name, path.name
    lines = path.read_text(encoding="utf-8").splitlines()[:HEADER_LINES]
    text = "\n".join(lines)
    keys = dict(_KEYS.findall(text))
    wanted = read_header(text)
    assert wanted is not None, f"{path}: says no verdict"
    timed_folder = folder == "timing"
    return Entry(
        folder=folder,
        name=name,
        tries=_sentence(lines),
        threats=tuple(word.strip() for word in keys["threat"].split(",")),
        wanted=wanted,
        write=lambda _: path,
        problem=keys["problem"],
        timed=timed_folder or keys.get("timed") == "yes",
        takes=float(keys.get("takes", 0.0)),
        times=2 if keys.get("graded") == "twice" else 1,
        only="cuda" if timed_folder else keys.get("only", ""),
        others=tuple(Verdict(word.upper()) for word in re.findall(r"\w+", keys.get("or", ""))),
        never_shows=keys.get("never shows", ""),
        twin=keys.get("no faster than", ""),
    )


def _sentence(lines: list[str]) -> str:
    """The remark on top of a file."""
    words = []
    for line in lines:
        remark = _REMARK.match(line)
        if remark is None or _KEYS.match(line) or read_header(line):
            break
        words.append(remark[1].strip())
    return " ".join(words)


def _generated(spec: generated.Spec) -> Entry:
    verdict = Verdict(spec.verdict.upper())
    return Entry(
        folder=spec.folder,
        name=spec.name,
        tries=spec.tries,
        threats=(spec.threat,),
        wanted=ExpectedVerdict(verdict, verdict),
        write=spec.write,
        never_shows=spec.never_shows,
    )


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of an entry: ``faults`` is empty if all is as it must be."""

    name: str
    wanted: Verdict
    verdict: Verdict
    seconds: float
    faults: tuple[str, ...]
    late_s: float | None = None
    """From the limit that it ran into to the verdict, if it ran into one of time."""

    @property
    def folder(self) -> str:
        """The entry's."""
        return self.name.partition("/")[0]


class Trials:
    """Grades entries on one device, and looks at what they leave behind.

    Use as a context manager. Everything temporary of this process lies in ``folder`` meanwhile.
    """

    def __init__(self, device: Device, folder: Path) -> None:
        self._device = device
        self._folder = folder
        self._stack = ExitStack()
        self._packages: dict[str, Problem] = {}
        self._twins: dict[tuple[str, str], Result] = {}

    def __enter__(self) -> Self:
        enter = self._stack.enter_context
        # Short: a socket's path has no room for a long one.
        self._temporary = Path(tempfile.mkdtemp(prefix="h-", dir=self._folder))
        self._stack.callback(shutil.rmtree, self._temporary, ignore_errors=True)
        enter(mock.patch.object(tempfile, "tempdir", str(self._temporary)))
        enter(mock.patch.dict("os.environ", {"GITHUB_TOKEN": SECRET}))
        self._grader = enter(Grader(self._device, NoProgress()))
        self._next_is_graded()  # starts what is kept: it takes longer than START_S at times
        self._kept = self._everything()
        self._timed = False
        enter(mock.patch.object(session, "_START_SECONDS", START_S))
        self._passed: list[float] = []
        self._note_limits(enter)
        return self

    def _note_limits(self, enter: Callable[[AbstractContextManager[object]], object]) -> None:
        """Keep the moments at which limits of time were passed."""
        look, follow, passed = Channel.look, command._TreeWatch.follow, self._passed

        def looked(self: Channel, deadline: float, seconds: float) -> Fault | None:
            fault = look(self, deadline, seconds)
            if fault is not None and fault.verdict is Verdict.TIME_LIMIT:
                passed.append(deadline)
            return fault

        def followed(self: command._TreeWatch) -> None:
            follow(self)
            if self.timed_out:
                passed.append(self.deadline)

        enter(mock.patch.object(Channel, "look", looked))
        enter(mock.patch.object(command._TreeWatch, "follow", followed))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    def grade(self, entry: Entry) -> Outcome:
        """Grade an entry, once or twice, and compare what happened with what must."""
        if entry.timed and not self._timed:  # the baseline's runner is kept from then on
            self._timed = self._next_is_graded(timed=True)
            self._kept = self._everything()
        self._passed.clear()
        started = time.monotonic()
        results: list[Result] = []
        with tempfile.TemporaryDirectory(prefix="submitted-", dir=self._folder) as place:
            path = entry.write(Path(place))
            for _ in range(entry.times):
                results.append(self._grade(entry, path))
        seconds = time.monotonic() - started
        gains = [fault for result in results for fault in self._gains(entry, result)]
        late = time.monotonic() - self._passed[-1] if self._passed else None
        faults = [fault for result in results for fault in self._faults(entry, result)]
        faults += gains + self._left()
        if seconds > LONGEST_S * entry.times:
            faults.append(f"took {seconds:.0f} s")
        if entry.folder in DISTURBING and not self._next_is_graded():
            faults.append("the next submission is not accepted")
        wanted = entry.wanted.on(self._device.kind)
        return Outcome(entry.id, wanted, results[-1].verdict, seconds, tuple(faults), late)

    def _grade(self, entry: Entry, path: Path) -> Result:
        problem = self._limited(entry)
        # The name of the problem goes first: a path is the submitter's.
        solution = read_solution(path, problem=problem.slug, author="hostile")
        job = Job(path=str(path), solution=solution, problem=problem)
        arch = None  # compiling for a card that is not there decides nothing here
        return self._grader.grade(job, Options(timing=entry.timed, shrink_s=0.0, arch=arch))

    def _limited(self, entry: Entry) -> Problem:
        """The entry's problem, with limits that are reached soon by those who must."""
        verdict = entry.wanted.on(self._device.kind)
        problem = limited(self._problem(entry.problem), verdict)
        limits = problem.limits
        if verdict is Verdict.TIME_LIMIT:
            limits = replace(limits, prepare_s=PREPARE_S)
            if entry.folder == "compiler":
                limits = replace(limits, build_s=BUILD_S)
        return replace(problem, limits=limits)

    def _problem(self, slug: str) -> Problem:
        """With one shape to be timed."""
        if slug not in self._packages:
            problem = load_problem(PROBLEMS / slug)
            if slug in SHAPES:
                shape, cpu_shape = dict(SHAPES[slug]), dict(CPU_SHAPES[slug])
                problem = replace(problem, benchmarks=(shape,), cpu_benchmarks=(cpu_shape,))
            self._packages[slug] = problem
        return self._packages[slug]

    def _faults(self, entry: Entry, result: Result) -> list[str]:
        """What is otherwise than it must be, in words."""
        wanted = entry.wanted.on(self._device.kind)
        told = result.model_dump_json()
        faults = []
        if result.verdict not in (wanted, *entry.others):
            faults.append(f"{result.verdict} instead of {wanted}: {result.message}")
        elif not (result.message or result.accepted):
            faults.append("says no reason")
        if result.verdict is Verdict.REJECTED and result.failed_case is not None:
            faults.append("is rejected, and a case failed")
        if str(ROOT / "harness") in result.message:
            faults.append(f"shows where the harness lies: {result.message}")
        for secret in filter(None, (SECRET, entry.never_shows)):
            if secret in told:
                faults.append(f"shows {secret!r}")
        for measured in result.measurements:
            if measured.time_s.value < entry.takes:
                faults.append(f"{measured.time_s.value} s a call: it takes {entry.takes} s")
        return faults

    def _gains(self, entry: Entry, result: Result) -> list[str]:
        """The fault of an entry that is ranked as faster than its honest twin, on a card.

        Both are compared with the same baseline, for a card's clock is not the same in two grades.
        The twin is graded once for all entries, and again where it seems to be slower.
        """
        score = result.score
        if self._device.kind != "cuda" or not entry.twin or score is None or not score.ranked:
            return []
        key = entry.twin, entry.problem
        for again in (False, True):
            if again or key not in self._twins:
                self._twins[key] = self._grade(entry, HERE / entry.twin)
            twin = self._twins[key]
            if twin.score is None:
                return [f"its twin is {twin.verdict}: {twin.message}"]
            honest = twin.score.speedup
            if score.speedup.low <= GAIN * honest.high:
                return []
        seen = [(m.overlap_looks, m.cached_ahead, m.isolated_s) for m in result.measurements]
        return [
            f"speed-up {score.speedup.value:.3f}, of its honest twin {honest.value:.3f}; looks, "
            f"what was cached ahead, isolated: {seen}"
        ]

    def _left(self) -> list[str]:
        """What should be gone and is there."""
        deadline = time.monotonic() + _GONE_S
        while (left := self._everything() - self._kept) and time.monotonic() < deadline:
            time.sleep(0.02)
        return [f"left {what} behind" for what in sorted(left)]

    def _everything(self) -> set[str]:
        """The folders and processes of ours that are there now."""
        folders = {
            str(path.relative_to(self._temporary))
            for pattern in ("*", "harness-*/*")
            for path in self._temporary.glob(pattern)
        }
        zygotes = {each.pid for each in zygote._zygotes.values()}
        below = set(processes.descendants(os.getpid())) - zygotes
        return folders | {f"process {pid}" for pid in below} | _daemons()

    def _next_is_graded(self, *, timed: bool = False) -> bool:
        solution = read_solution(HONEST, problem="vector-add", author="hostile")
        job = Job(path=HONEST.name, solution=solution, problem=self._problem("vector-add"))
        options = Options(timing=timed, shrink_s=0.0, arch=None, case=None if timed else "n=33")
        return self._grader.grade(job, options).accepted


def _daemons() -> set[str]:
    """Processes that named themselves :data:`DAEMON`, wherever they are."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/comm"):
        with suppress(OSError):
            if path.read_text(encoding="utf-8", errors="replace").strip() == DAEMON:
                found.add(f"{DAEMON} {path.parent.name}")
    return found
