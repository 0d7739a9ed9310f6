"""``harness verify``: one problem package from front matter to examples.

In comes a folder, out comes a :class:`PackageReport`. In each data type impostors (which must be
rejected) and honest variants (which must be accepted) go through some grades; then the package's
examples, baselines and solutions are graded.
"""

import itertools
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from torch import OutOfMemoryError

from harness.device.base import Device
from harness.errors import MachineError, ProblemError
from harness.grading.case_selection import correctness_cases
from harness.grading.job import Options
from harness.grading.turns import shared_meanwhile
from harness.judge.batch import BatchMismatch
from harness.judge.layout import lay_out
from harness.problem.format.load import load_problem
from harness.problem.model import REFERENCE_FILE, STATEMENT_FILE
from harness.problem.reference import Reference
from harness.problem.sampling.footprint import CALLS
from harness.progress.progress import Progress
from harness.text.system_errors import machine_fault
from harness.verify.arithmetic.survey import ReferenceTraits, survey
from harness.verify.examples import find_examples, run_examples
from harness.verify.findings import DetectionResult, PackageReport, Status
from harness.verify.grades import DetectionScore, GradeScores, run_grade, run_timed
from harness.verify.impostor import Impostor
from harness.verify.impostors import impostors
from harness.verify.package_lints import check_strength
from harness.verify.soundness import ReferenceCheck, check_statement
from harness.verify.trial import PackageTask, Trial, TrialMemory
from harness.verify.variants import Variant, variants

_MIN_REFUSED = 0.5
_MIN_REFUSED_IMPRECISE = 0.125
"""Warn of an impostor that is refused in a smaller part of the cases where it differs. Lack of
precision shows in long sums only, so less is asked there."""

_MIN_RARE = 3
"""An impostor that seldom differs must be rejected in a grade with so many cases where it does: in
a single one it may be within what is allowed by chance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyChoices:
    """What the user may choose.

    Data types (None for all that are declared), the number of grades for each, whether the
    package's files are graded and impostors tried beside honest variants, the first grade's seed.
    """

    dtypes: tuple[str, ...] | None = None
    grades: int = 2
    examples: bool = True
    impostors: bool = True
    seed: str


class VerifyStopped(MachineError):
    """The machine could not go on; ``report`` says what was seen until then."""

    def __init__(self, message: str, report: PackageReport) -> None:
        super().__init__(message)
        self.report = report

    def __reduce__(self) -> tuple[type["VerifyStopped"], tuple[str, PackageReport]]:
        return type(self), (str(self), self.report)


def verify(
    folder: Path, choices: VerifyChoices, device: Device, progress: Progress
) -> PackageReport:
    """Verify the package in ``folder``; what is wrong with it is in the report.

    Raises:
        VerifyStopped: the machine's doing; the grades before it are in its report.
        HarnessError: not the author's doing.
    """
    started = time.monotonic()
    report = PackageReport(
        slug=folder.name, device=device.kind, seed=choices.seed, grades=choices.grades
    )
    try:
        _verify(folder, choices, device, progress, report)
    except ProblemError as error:
        report.add_diagnostics(error)
    except (MachineError, OutOfMemoryError) as error:
        raise VerifyStopped(str(machine_fault(error) or error), report) from error
    finally:
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
    solutions = solutions_of(folder, problem.slug)
    check_strength(problem, solutions, report)
    if choices.examples:
        files = find_examples(problem, solutions, report)
        progress.phase(f"{problem.slug}: examples", len(files))
        run_examples(problem, files, device, report, lambda name: progress.advance(note=name))


def solutions_of(folder: Path, slug: str) -> Path:
    """Where the solutions of the package in ``folder`` are, if there are any."""
    return folder.resolve().parent.parent / "solutions" / slug


def seeds(seed: str, grades: int) -> list[str]:
    """Seeds of the grades; the first is the one given, so that it can be replayed as it is."""
    return [seed, *(f"{seed}-{number}" for number in range(2, grades + 1))]


def _verify_type(
    task: PackageTask, choices: VerifyChoices, progress: Progress, report: PackageReport
) -> None:
    """Try impostors and variants in one data type, and report what became of them."""
    problem, dtype, count = task.problem, task.dtype, choices.grades
    progress.phase(f"{problem.slug} {dtype}")
    seen = _survey(task, progress)
    for name in seen.unknown:
        report.warn(
            str(problem.folder / REFERENCE_FILE),
            f"how {name} sums cannot be varied, so nothing is known of its rounding ({dtype})",
            "write it with elementary operations: matmul, sum, exp, …",
        )
    false = impostors(problem, dtype, seen) if choices.impostors else []
    honest = variants(problem, dtype, seen)
    tried = {one.name: one.answer for one in honest if one.answer is not None}
    graded: list[GradeScores] = []
    timed: dict[str, list[GradeScores]] = {}
    shapes = problem.timed_cases(emulated=task.device.emulated)
    stopped: MachineError | None = None
    for number, seed in enumerate(seeds(task.seed, count), 1):
        one = replace(task, seed=seed)
        try:
            cases = correctness_cases(one, Options(timing=False))
            progress.phase(f"{problem.slug} {dtype} {number}/{count}", len(cases) + len(shapes))
            look = ReferenceCheck(one, report) if number == 1 else None
            graded.append(run_grade(one, cases, false, tried, progress, look))
            if look is not None:
                look.finish()
            for place, shape in enumerate(shapes):
                scores = run_timed(one, shape, false, tried, number + place, progress)
                timed.setdefault(shape.spec, []).append(scores)
                progress.advance()
        except (MachineError, OutOfMemoryError) as error:
            where = f"grade {number} of {count} in {dtype} did not end"
            stopped = MachineError(f"{where}: {machine_fault(error) or error}")
            break
    for impostor in false if graded else []:
        result = _judge_impostor(task, impostor, graded, report)
        if result.status is not Status.ACCEPTED and not impostor.excuse:
            result = _judge_timed(task, impostor, timed, result, report)
        report.impostors.append(result)
    for variant in honest if graded else []:
        every = [*graded, *itertools.chain(*timed.values())]
        report.variants.append(_judge_variant(task, variant, every, report))
    if stopped is not None:
        raise stopped


def _survey(task: PackageTask, progress: Progress) -> ReferenceTraits:
    """Watch the reference compute one case, of the middle of the list."""
    cases = correctness_cases(task, Options(timing=False))
    case = cases[len(cases) // 2]
    size = lay_out(task, case, CALLS).size
    with shared_meanwhile(task.device, progress), closing(task.device.arena(size)) as arena:
        trial = Trial(task, case, 0, arena, TrialMemory())
        return survey(task.reference, case, trial.inputs[0])


def _judge_impostor(
    task: PackageTask, one: Impostor, graded: Sequence[GradeScores], report: PackageReport
) -> DetectionResult:
    """The outcome for an impostor; an error if a grade did not refuse it, though it differed."""
    place = str(task.problem.folder / STATEMENT_FILE)
    status, why = Status.REJECTED, ""
    total = _total([grade.impostors[one.name] for grade in graded])
    missed = next((grade for grade in graded if _missed(one, total, grade)), None)
    share = _MIN_REFUSED_IMPRECISE if one.precision else _MIN_REFUSED
    if missed is not None and one.excuse:
        status, why = Status.NOT_APPLICABLE, one.excuse
    elif missed is not None:
        status, score = Status.ACCEPTED, missed.impostors[one.name]
        report.error(
            place,
            f"impostor “{one.name}” is accepted in all {score.cases} cases of a grade in "
            f"{task.dtype} (seed {missed.seed}; in {score.applicable} it differs)",
            one.remedy,
        )
    elif total.applicable == 0:
        status = Status.NOT_APPLICABLE
        why = "the reference cannot be evaluated so" if total.broken else "right in every case"
    elif one.rare and total.refused == 0 and total.applicable < _MIN_RARE:
        status, why = Status.NOT_APPLICABLE, "right in all but a few cases"
    elif total.refused < share * total.applicable and not one.excuse:
        report.warn(
            place,
            f"impostor “{one.name}” is rejected in {total.refused} of the {total.applicable} "
            f"cases in which it differs in {task.dtype}",
            one.remedy,
        )
    return _result(one.name, task, status, total, why)


def _judge_timed(
    task: PackageTask,
    one: Impostor,
    timed: Mapping[str, Sequence[GradeScores]],
    result: DetectionResult,
    report: PackageReport,
) -> DetectionResult:
    """``result``, or an error where an impostor is not refused at a timed shape and differs there.

    It might be right at all other sizes: no correctness case has so large ones.
    """
    for spec, grades in timed.items():
        total = _total([grade.impostors[one.name] for grade in grades])
        missed = next((grade for grade in grades if _missed(one, total, grade)), None)
        if missed is not None:
            score = missed.impostors[one.name]
            report.error(
                str(task.problem.folder / STATEMENT_FILE),
                f"impostor “{one.name}” is accepted in all {score.cases} batches timed at {spec} "
                f"in {task.dtype} (seed {missed.seed}; in {score.applicable} it differs)",
                one.remedy,
            )
            return replace(result, status=Status.ACCEPTED)
    return result


def _missed(one: Impostor, total: DetectionScore, grade: GradeScores) -> bool:
    """Whether a grade did not refuse an impostor, though it differed."""
    score = grade.impostors[one.name]
    differs = score.applicable >= _MIN_RARE if one.rare else total.applicable > 0
    return differs and score.refused == 0


def _judge_variant(
    task: PackageTask, one: Variant, graded: Sequence[GradeScores], report: PackageReport
) -> DetectionResult:
    """The outcome for an honest variant; an error if a case refused it."""
    if one.answer is None:
        return _result(one.name, task, Status.NOT_APPLICABLE, DetectionScore(), one.why)
    scores = {grade.seed: grade.variants[one.name] for grade in graded}
    total = _total(scores.values())
    for seed, score in scores.items():
        if score.first is not None:
            case, found = score.first
            report.error(
                str(task.problem.folder / STATEMENT_FILE),
                f"honest variant “{one.name}” is rejected in {total.refused} of {total.cases} "
                f"cases in {task.dtype}: {_worst(found)} (case {case}, seed {seed})",
                "the tolerance is too narrow, or the magnitude misses a term",
            )
            return _result(one.name, task, Status.REJECTED, total)
    return _result(one.name, task, Status.ACCEPTED, total)


def _worst(found: BatchMismatch) -> str:
    """Describe the worst element, in numbers."""
    if found.mismatch is None:
        return found.message
    worst = found.mismatch.worst
    return (
        f"{found.message}; at {list(worst.index)} {worst.got:.9g} instead of {worst.expected:.9g}, "
        f"±{worst.allowed:.2g} allowed"
    )


def _total(scores: Collection[DetectionScore]) -> DetectionScore:
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
