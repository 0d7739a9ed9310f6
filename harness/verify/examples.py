"""Grade the files of a package that must get a certain verdict.

A submission is data here: one of its first lines says ``verdict: X`` or ``verdict: X; on cpu: Y``
(``X`` on a GPU, ``Y`` without one)::

    // verdict: wrong_answer
    # verdict: wrong_answer; on cpu: runtime_error (a remark)

An example must say it; a baseline that says nothing must be accepted. So should a solution: it is a
contestant's work, and a warning if it is not.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from harness.device.base import Device
from harness.grading.executor import InProcess
from harness.grading.job import Job, Options, Work
from harness.languages.build.framework_imports import ImportFault, known_fault
from harness.languages.python import needed_frameworks
from harness.languages.read import HEADER_LINES, read_solution
from harness.problem.package import Problem
from harness.progress.progress import NoProgress
from harness.records.result import Result, Verdict
from harness.sandbox.processors import usable_processors
from harness.solution.model import Invalid, Solution
from harness.solution.suffixes import SOURCES
from harness.verify.findings import ExampleRun, PackageReport

_HEADER = re.compile(r"^(?://|#) verdict: (\w+)(?:; on cpu: (\w+))?(?:\s+\(.*\))?\s*$")

_TIME_LIMIT_S = 0.5
_PREPARE_LIMIT_S = 20.0
_HOST_LIMIT = 1 << 30


class HeaderError(ValueError):
    """A header names something that is no verdict."""


@dataclass(frozen=True, slots=True)
class ExpectedVerdict:
    """The verdict that a file must get on a GPU and without one."""

    cuda: Verdict
    cpu: Verdict

    def on(self, device: str) -> Verdict:
        """The verdict on ``cuda`` or ``cpu``."""
        return self.cuda if device == "cuda" else self.cpu


def read_header(text: str) -> ExpectedVerdict | None:
    """The verdict that one of the first lines of a file names; None if none does.

    Raises:
        HeaderError: it names something that is no verdict.
    """
    for line in text.splitlines()[:HEADER_LINES]:
        if found := _HEADER.match(line):
            for word in filter(None, found.groups()):
                if word.upper() not in Verdict.__members__:
                    raise HeaderError(f"{word} is no verdict")
            cuda, cpu = found.groups(default=found[1])
            return ExpectedVerdict(Verdict(cuda.upper()), Verdict(cpu.upper()))
    return None


@dataclass(frozen=True, slots=True)
class Example:
    """A file, and the verdicts that are right for it on the device at hand."""

    path: Path
    wanted: tuple[Verdict, ...]
    dtype: str | None = None
    """None for the first that the file is written for."""
    contestants: bool = False
    """Whether it is a solution: not the package's own, so that its faults are warnings."""


def limited(problem: Problem, verdict: Verdict) -> Problem:
    """``problem``, with lower limits for files that must reach one, so that they do so soon."""
    limits = problem.limits
    if verdict is Verdict.TIME_LIMIT:
        limits = replace(limits, call_s=_TIME_LIMIT_S, prepare_s=_PREPARE_LIMIT_S)
    elif verdict is Verdict.MEMORY_LIMIT:
        limits = replace(limits, host_bytes=_HOST_LIMIT)
    return replace(problem, limits=limits)


def find_examples(problem: Problem, solutions: Path, report: PackageReport) -> list[Example]:
    """All files of a package, and its solutions, in the order in which they are graded.

    Faults of their headers or folders go into the report. Examples are graded in the first data
    type that they are written for, baselines and solutions in all that the report names.
    """
    found: list[Example] = []
    device = report.device
    for path in files_below(problem.folder / "examples"):
        wanted, readable = _expected(path, report)
        if wanted is None:
            if readable:
                report.error(
                    str(path),
                    "no line says which verdict it must get",
                    "add: verdict: wrong_answer",
                )
            continue
        folder = path.parent.name.upper()
        if folder not in (wanted.cuda, wanted.cpu):
            report.error(
                str(path),
                f"must get {wanted.cuda.lower()}, but lies in {path.parent.name}",
                "move it to the folder of its verdict",
            )
        found.append(Example(path, (wanted.on(device),)))
    others = files_below(solutions)
    for path in (*problem.baselines.values(), *others):
        contestants = path in others
        wanted, _ = _expected(path, report, report.warn if contestants else report.error)
        verdicts: tuple[Verdict, ...] = (Verdict.ACCEPTED,)
        if wanted is not None:
            verdicts = (wanted.on(device),)
        elif device == "cpu":
            verdicts += (Verdict.NOT_EXECUTABLE_HERE,)  # a solution may need what only GPUs have
        solution = read_solution(path, problem=problem.slug)
        if device != "cpu" and (lack := _lack(solution)):
            report.warn(str(path), f"not tried: {lack.reason}", lack.remedy)
            continue
        meant = solution.dtypes if isinstance(solution, Solution) else None
        found += [
            Example(path, verdicts, dtype, contestants)
            for dtype in report.dtypes
            if meant is None or dtype in meant
        ]
    return found


def _lack(solution: Solution | Invalid) -> ImportFault | None:
    """What this machine lacks of the frameworks that a file needs."""
    if isinstance(solution, Invalid):
        return None
    for needed in needed_frameworks(solution.language, solution.text):
        if needed.version() is None:
            return ImportFault(f"{needed.title} is not installed", needed.remedy)
        if fault := known_fault(needed):
            return fault
    return None


def files_below(folder: Path) -> list[Path]:
    """Submissions in a folder and its subfolders, sorted; none where there is no such folder."""
    return sorted(p for p in folder.rglob("*") if p.suffix in SOURCES and p.is_file())


def _expected(
    path: Path, report: PackageReport, tell: Callable[[str, str, str], None] | None = None
) -> tuple[ExpectedVerdict | None, bool]:
    """The verdict that a file names, and whether its header could be read at all.

    If it could not, ``tell`` is called with place, message and remedy; by default it is an error.
    """
    tell = tell or report.error
    try:
        return read_header(path.read_text(encoding="utf-8")), True
    except HeaderError as error:
        tell(str(path), str(error), f"one of {', '.join(v.lower() for v in Verdict)}")
    except (OSError, UnicodeDecodeError) as error:
        tell(str(path), f"cannot be read: {error}", "")
    return None, False


def run_examples(
    problem: Problem,
    examples: list[Example],
    device: Device,
    report: PackageReport,
    advance: Callable[[str], None],
) -> None:
    """Grade all files, without times, and report those that get another verdict.

    On the CPU several at a time, since no times are taken.

    Raises:
        MachineError, HarnessError: not the fault of the files.
    """
    workers = max(1, usable_processors() // 2) if device.emulated else 1
    work = []
    for example in examples:
        solution = read_solution(example.path, problem=problem.slug)
        one = limited(problem, example.wanted[0])
        # Compiling for a card that is not there decides only whether something compiles.
        arch = "sm_90" if Verdict.COMPILE_ERROR in example.wanted else None
        options = Options(dtype=example.dtype, timing=False, arch=arch, shrink_s=0.0)
        work.append(Work(Job(path=str(example.path), solution=solution, problem=one), options))
    results: dict[int, Result] = {}
    with InProcess(device, NoProgress(), workers=workers) as executor:
        for done, result in executor.grade(work):
            advance(Path(done.job.path).name)
            results[id(done)] = result
    for example, each in zip(examples, work, strict=True):
        _judge(example, results[id(each)], report)


def _judge(example: Example, result: Result, report: PackageReport) -> None:
    words = tuple(v.lower() for v in example.wanted)
    run = ExampleRun(
        path=str(example.path), dtype=result.dtype, wanted=words, got=result.verdict.lower()
    )
    report.examples.append(run)
    if result.verdict not in example.wanted:
        tell = report.warn if example.contestants else report.error
        tell(
            str(example.path),
            f"gets {run.got} instead of {' or '.join(words)} in {run.dtype}: {result.message}",
            result.reproduce or f"its cases: --dtype {run.dtype} --seed {result.seed}",
        )
