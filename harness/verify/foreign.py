"""``harness verify PATH``: which impostors a problem of another format accepts.

Nobody here can mend such a problem, so what it accepts is a warning, and a claim of its results;
an error is what keeps it from being graded for a mistake in its file.
"""

import time

from torch import OutOfMemoryError

from harness.device.base import Device
from harness.errors import ProblemError, UsageError
from harness.formats.problem import Foreign
from harness.formats.processes import PROBLEMS
from harness.formats.weakness import Tried, claim, try_impostors
from harness.grading.turns import shared_meanwhile
from harness.progress.progress import Progress
from harness.verify.findings import DetectionResult, PackageReport, Status


def verify_foreign(
    problem: Foreign, seed: str, grades: int, device: Device, progress: Progress
) -> PackageReport:
    """Try zeros, a constant, another input's answer and its own input on a problem.

    ``progress`` is at its phase already, and tells where the device has to be waited for.

    Raises:
        MachineError: not the author's doing.
    """
    started = time.monotonic()
    PROBLEMS.compute_on(device)
    report = PackageReport(slug=problem.slug, device=device.kind, seed=seed, grades=grades)
    try:
        if reason := problem.unfit(emulated=device.emulated):
            report.warn(problem.named, f"cannot be graded here: {reason}")
        else:
            with shared_meanwhile(device, progress):
                _verify(problem, report, device)
    except ProblemError as error:
        report.add_diagnostics(error)
    except (UsageError, OutOfMemoryError):  # no case is small enough
        report.warn(problem.named, "its tensors are too large to try impostors on")
    report.seconds = time.monotonic() - started
    return report


def _verify(problem: Foreign, report: PackageReport, device: Device) -> None:
    report.dtypes = problem.dtypes
    for each in try_impostors(problem, report.seed, report.grades, emulated=device.emulated):
        report.impostors.append(_result(each, problem.dtypes[0]))
        if each.accepted:
            report.warn(
                problem.named,
                f"impostor “{each.name}” is accepted in all {each.cases} cases",
                f"its results carry the claim “{claim(each.name)}”",
            )


def _result(tried: Tried, dtype: str) -> DetectionResult:
    if tried.lacking and not tried.refused:
        status, why = Status.NOT_APPLICABLE, "not in all cases is an input as large as the output"
    else:
        status, why = (Status.ACCEPTED if tried.accepted else Status.REJECTED), ""
    return DetectionResult(
        name=tried.name,
        dtype=dtype,
        status=status,
        cases=tried.cases,
        applicable=tried.cases,
        refused=tried.refused,
        why=why,
    )
