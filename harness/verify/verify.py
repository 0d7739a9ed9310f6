"""``harness verify``: one problem package from front matter to examples.

In comes a folder, out comes a :class:`PackageReport`. In each data type impostors (which must be
rejected) and honest variants (which must be accepted) go through some grades; then the package's
examples, baselines and solutions are graded.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from harness.device.base import Device
from harness.errors import ProblemError
from harness.grading.case_selection import correctness_cases
from harness.grading.job import Options
from harness.judge.batch import Batch, BatchMismatch, lay_out
from harness.problem.case import Case
from harness.problem.format.load import REFERENCE_FILE, STATEMENT_FILE, load_problem
from harness.problem.model import Problem
from harness.problem.reference import Reference
from harness.problem.sampling.footprint import CALLS
from harness.progress.progress import Progress
from harness.verify.arithmetic.survey import ReferenceTraits, survey
from harness.verify.examples import find_examples, run_examples
from harness.verify.findings import DetectionResult, PackageReport, Status
from harness.verify.grades import DetectionScore, GradeScores, run_grade
from harness.verify.impostors import Impostor, impostors
from harness.verify.package_lints import check_strength
from harness.verify.soundness import ReferenceCheck, check_statement
from harness.verify.trial import PackageTask
from harness.verify.variants import Absent, Variant, variants

_MIN_REFUSED = 0.5
_MIN_REFUSED_IMPRECISE = 0.125
"""Warn of an impostor that is refused in a smaller part of the cases where it differs. Lack of
precision shows in long sums only, so less is asked there."""

_MIN_RARE = 3
"""An impostor that seldom differs must be rejected in a grade with so many cases where it does: in
a single one it may be within what is allowed by chance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyChoices:
    """What the user may choose."""

    dtypes: tuple[str, ...] | None = None
    """Data types to try; None for all that are declared."""
    grades: int = 2
    """Grades, each with cases of its own, for each data type."""
    examples: bool = True
    """Whether the package's files are graded."""
    impostors: bool = True
    """Whether impostors are tried, beside honest variants."""
    seed: str
    """Seed of the first grade."""


def verify(
    folder: Path, choices: VerifyChoices, device: Device, progress: Progress
) -> PackageReport:
    """Verify the package in ``folder``; what is wrong with it is in the report.

    Raises:
        MachineError, HarnessError: not the author's doing.
    """
    started = time.monotonic()
    report = PackageReport(
        slug=folder.name, device=device.kind, seed=choices.seed, grades=choices.grades
    )
    try:
        _verify(folder, choices, device, progress, report)
    except ProblemError as error:
        report.add_diagnostics(error)
    report.seconds = time.monotonic() - started
    return report


def _verify(
    folder: Path, choices: VerifyChoices, device: Device, progress: Progress, report: PackageReport
) -> None:
    problem = load_problem(folder)
    report.slug = problem.slug
    check_statement(problem, report)
    if not problem.complete:
        return
    reference = Reference(problem)
    report.dtypes = choices.dtypes or problem.dtypes
    for dtype in report.dtypes:
        task = PackageTask(problem, reference, dtype, device, choices.seed)
        try:
            _verify_type(task, choices, progress, report)
        except ProblemError as error:
            report.add_diagnostics(error, dtype)
    solutions = _solutions(folder, problem)
    check_strength(problem, solutions, report)
    if choices.examples:
        files = find_examples(problem, solutions, device.kind, report.dtypes, report)
        progress.phase(f"{problem.slug}: examples", len(files))
        run_examples(problem, files, device, report, lambda name: progress.advance(note=name))


def _solutions(folder: Path, problem: Problem) -> Path | None:
    """``solutions/<slug>`` beside the folder of problems, if there is one."""
    place = folder.resolve().parent.parent / "solutions" / problem.slug
    return place if place.is_dir() else None


def seeds(seed: str, grades: int) -> list[str]:
    """Seeds of the grades; the first is the one given, so that it can be replayed as it is."""
    return [seed, *(f"{seed}-{number}" for number in range(2, grades + 1))]


def _verify_type(
    task: PackageTask, choices: VerifyChoices, progress: Progress, report: PackageReport
) -> None:
    """Try impostors and variants in one data type, and report what became of them."""
    problem, dtype = task.problem, task.dtype
    graded: list[GradeScores] = []
    false: Sequence[Impostor] = ()
    honest: Sequence[Variant | Absent] = ()
    count = choices.grades
    for number, seed in enumerate(seeds(task.seed, count)):
        one = replace(task, seed=seed)
        cases = correctness_cases(one, Options(timing=False))
        if number == 0:
            seen = _survey(one, cases)
            _report_unknown(one, seen, report)
            false = impostors(problem, dtype, seen) if choices.impostors else ()
            honest = variants(problem, dtype, seen)
        progress.phase(f"{problem.slug} {dtype} {number + 1}/{count}", len(cases))
        look = ReferenceCheck(one, report) if number == 0 else None
        tried = [v for v in honest if isinstance(v, Variant)]
        with _one_thread():
            graded.append(run_grade(one, cases, false, tried, progress.advance, look))
    _report_impostors(task, false, graded, report)
    _report_variants(task, honest, graded, report)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Keep torch on one core: handing thousands of small operations to others costs more."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _survey(task: PackageTask, cases: Sequence[Case]) -> ReferenceTraits:
    """Watch the reference compute one case, of the middle of the list."""
    case = cases[len(cases) // 2]
    arena = task.device.arena(lay_out(task, case, CALLS).size)
    try:
        batch = Batch(task, case, arena, calls=CALLS, portable=True)
        batch.fill(task.seed)
        return survey(task.reference, case, batch.inputs(0))
    finally:
        arena.close()


def _report_unknown(task: PackageTask, seen: ReferenceTraits, report: PackageReport) -> None:
    for name in seen.unknown:
        report.warn(
            str(task.problem.folder / REFERENCE_FILE),
            f"how {name} sums cannot be varied, so nothing is known of its rounding ({task.dtype})",
            "write it with elementary operations: matmul, sum, exp, …",
        )


# -- reports on impostors and variants ------------------------------------------------------


def _report_impostors(
    task: PackageTask,
    tried: Sequence[Impostor],
    graded: Sequence[GradeScores],
    report: PackageReport,
) -> None:
    place = str(task.problem.folder / STATEMENT_FILE)
    for one in tried:
        scores = [g.impostors[one.name] for g in graded]
        total = _total(scores)
        status, why = Status.REJECTED, ""
        if total.applicable == 0:
            status = Status.NOT_APPLICABLE
            why = "the reference cannot be evaluated so" if total.broken else "right in every case"
        elif one.rare and total.refused == 0 and total.applicable < _MIN_RARE:
            status, why = Status.NOT_APPLICABLE, "right in all but a few cases"
        missed = _missed(one, total, graded)
        if missed is not None and one.excuse:
            status, why = Status.NOT_APPLICABLE, one.excuse
        elif missed is not None:
            status = Status.ACCEPTED
            score = missed.impostors[one.name]
            report.error(
                place,
                f"impostor “{one.name}” is accepted in all {score.cases} cases of a grade in "
                f"{task.dtype} (seed {missed.seed}; in {score.applicable} it differs)",
                one.remedy,
            )
        share = _MIN_REFUSED_IMPRECISE if one.precision else _MIN_REFUSED
        weak = total.refused < share * total.applicable
        if status is Status.REJECTED and weak and not one.excuse:
            report.warn(
                place,
                f"impostor “{one.name}” is rejected in {total.refused} of the {total.applicable} "
                f"cases in which it differs in {task.dtype}",
                one.remedy,
            )
        report.impostors.append(_result(one.name, task, status, total, why))


def _missed(
    one: Impostor, total: DetectionScore, graded: Sequence[GradeScores]
) -> GradeScores | None:
    """The first grade that did not refuse an impostor, though it differed; None if all did."""
    for grade in graded:
        score = grade.impostors[one.name]
        differs = score.applicable >= _MIN_RARE if one.rare else total.applicable > 0
        if differs and score.refused == 0:
            return grade
    return None


def _report_variants(
    task: PackageTask,
    tried: Sequence[Variant | Absent],
    graded: Sequence[GradeScores],
    report: PackageReport,
) -> None:
    place = str(task.problem.folder / STATEMENT_FILE)
    for one in tried:
        if isinstance(one, Absent):
            report.variants.append(
                _result(one.name, task, Status.NOT_APPLICABLE, DetectionScore(), one.why)
            )
            continue
        total = _total([g.variants[one.name] for g in graded])
        status = Status.REJECTED if total.refused else Status.ACCEPTED
        report.variants.append(_result(one.name, task, status, total))
        for grade in graded:
            first = grade.variants[one.name].first
            if first is not None:
                case, found = first
                report.error(
                    place,
                    f"honest variant “{one.name}” is rejected in {total.refused} of {total.cases} "
                    f"cases in {task.dtype}: {_worst(found)} (case {case}, seed {grade.seed})",
                    "the tolerance is too narrow, or the magnitude misses a term",
                )
                break


def _worst(found: BatchMismatch) -> str:
    """Describe the worst element, in numbers."""
    if found.mismatch is None:
        return found.message
    worst = found.mismatch.worst
    return (
        f"{found.message}; at {list(worst.index)} {worst.got:.9g} instead of {worst.expected:.9g}, "
        f"±{worst.allowed:.2g} allowed"
    )


def _total(scores: Sequence[DetectionScore]) -> DetectionScore:
    return DetectionScore(
        cases=sum(s.cases for s in scores),
        applicable=sum(s.applicable for s in scores),
        refused=sum(s.refused for s in scores),
        broken=sum(s.broken for s in scores),
    )


def _result(
    name: str, task: PackageTask, status: Status, total: DetectionScore, why: str = ""
) -> DetectionResult:
    return DetectionResult(
        name=name,
        dtype=task.dtype,
        status=status,
        cases=total.cases,
        applicable=total.applicable,
        refused=total.refused,
        why=why,
    )
