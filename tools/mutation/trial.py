"""Grade mutants: what becomes of each, and what the judge let pass."""

import hashlib
import tempfile
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from harness.errors import HarnessError
from harness.grading.grader import Grader
from harness.grading.job import Job, Options
from harness.languages.read import read_solution
from harness.problem.dtypes import DTYPES
from harness.problem.package import Problem
from harness.records.result import Result, Verdict
from harness.solution.model import Solution
from tools.mutation.mutant import Mutant

CALL_S = 5.0
"""Seconds for a call: a mutant that never ends must not cost more."""

_UNBUILT = frozenset(
    {Verdict.COMPILE_ERROR, Verdict.INVALID_SUBMISSION, Verdict.NOT_EXECUTABLE_HERE}
)
_OUTSIDE = ("outside of its tensors", "out of bounds")


class Outcome(StrEnum):
    """What became of a mutant."""

    KILLED = "killed"
    SURVIVED = "survived"
    UNBUILT = "did not build"
    EQUIVALENT = "equivalent"


@dataclass(frozen=True, slots=True)
class Trial:
    """One mutant's fate: for a killed one the verdict, the data type and the case's number."""

    mutant: Mutant
    outcome: Outcome
    verdict: str = ""
    dtype: str = ""
    case: int = 0
    spec: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True)
class Subject:
    """A right solution: where it is, what it is for, in which data types it is tried."""

    path: Path
    problem: Problem
    language: str
    dtypes: tuple[str, ...]


def subject_of(path: Path, problem: Problem) -> Subject | None:
    """The solution at ``path``; None if it is no CUDA C++ or Triton.

    float32 comes first, where most mistakes show, then a 16-bit type, then the others.
    """
    solution = read_solution(path, problem=problem.slug)
    if not isinstance(solution, Solution) or solution.language not in ("cuda", "triton"):
        return None
    meant = [d for d in problem.dtypes if solution.dtypes is None or d in solution.dtypes]
    narrow = [d for d in meant if DTYPES[d].itemsize == 2]
    first = ["float32"] if "float32" in meant else []
    ordered = tuple(dict.fromkeys((*first, *narrow[:1], *meant)))
    return Subject(path, problem, solution.language, ordered)


class Trials:
    """Grades copies of one solution, each in a folder of its own."""

    def __init__(self, subject: Subject, grader: Grader, seed: str, arch: str | None) -> None:
        self._subject = subject
        self._grader = grader
        self._seed = seed
        self._arch = arch
        limits = replace(subject.problem.limits, call_s=CALL_S)
        self._problem = replace(subject.problem, limits=limits)

    def original(self) -> str:
        """Why the solution as it is cannot be tried; "" if every data type is accepted."""
        text = self._subject.path.read_text(encoding="utf-8")
        for dtype in self._subject.dtypes:
            result = self._grade(text, dtype, "original")
            if result.verdict is not Verdict.ACCEPTED:
                return f"{dtype}: {result.verdict}: {result.message.splitlines()[0]}"
        return ""

    def run(
        self, mutants: Sequence[Mutant], jobs: int, done: Callable[[Trial], None]
    ) -> list[Trial]:
        """What becomes of each, in order; ``done`` hears of each as soon as it is known."""
        with ThreadPoolExecutor(jobs) as pool:
            trials: list[Trial] = []
            for trial in pool.map(self._try, mutants):
                done(trial)
                trials.append(trial)
            return trials

    def _try(self, mutant: Mutant) -> Trial:
        """Killed if any data type kills it; not built if it builds in none."""
        built = False
        last: Result | None = None
        for dtype in self._dtypes(mutant):
            last = self._grade(mutant.text, dtype, mutant.id)
            if last.verdict is Verdict.INTERNAL_ERROR:
                raise HarnessError(f"{mutant.summary}: {last.message}")
            if last.verdict is Verdict.ACCEPTED:
                built = True
            elif not self._is_unbuilt(last):
                failed = last.failed_case
                return Trial(
                    mutant,
                    Outcome.KILLED,
                    str(last.verdict),
                    dtype,
                    len(last.cases),
                    failed.spec if failed else "",
                    last.message,
                )
        if built:
            return Trial(mutant, Outcome.SURVIVED)
        return Trial(mutant, Outcome.UNBUILT, message=last.message if last else "no 16-bit type")

    def _dtypes(self, mutant: Mutant) -> Iterable[str]:
        return [d for d in self._subject.dtypes if not mutant.narrow or DTYPES[d].itemsize == 2]

    def _is_unbuilt(self, result: Result) -> bool:
        """A Triton kernel that no compiler would take ends as an error in its interpreter."""
        if result.verdict in _UNBUILT:
            return True
        if self._subject.language != "triton" or result.verdict is not Verdict.RUNTIME_ERROR:
            return False
        return not any(words in result.message for words in _OUTSIDE)

    def _grade(self, text: str, dtype: str, name: str) -> Result:
        seed = hashlib.sha256(f"{self._seed}/{name}/{dtype}".encode()).hexdigest()[:32]
        with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
            path = Path(folder) / f"mutant{self._subject.path.suffix}"
            path.write_text(text, encoding="utf-8")
            solution = read_solution(path, problem=self._problem.slug)
            job = Job(path=path.name, solution=solution, problem=self._problem)
            options = Options(dtype=dtype, seed=seed, timing=False, arch=self._arch, shrink_s=0.0)
            return self._grader.grade(job, options)
