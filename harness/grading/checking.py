"""The first half of a grade: is the submission right in all cases, and if not, where not?"""

from collections.abc import Callable
from contextlib import suppress

from harness.device.base import Device
from harness.errors import MachineError, ProblemError
from harness.grading.case_selection import correctness_cases
from harness.grading.result_builder import ResultBuilder
from harness.grading.weights import KEPT, MAYBE_OF_WEIGHTS, fixed_task, weighed_tasks
from harness.judge.cases import run_cases
from harness.judge.memcheck import is_memory_fault, locate
from harness.judge.replay import FailingCase, patient, shrink_failure
from harness.problem.terms import Limits
from harness.progress.progress import Progress
from harness.records.result import Verdict
from harness.session.allowance import Allowance
from harness.session.fault import Fault
from harness.session.programs import RunnerProgram
from harness.session.session import Session

OpenSession = Callable[[RunnerProgram, Device, Limits], Session]
"""Starts a runner with a program."""

_NOT_ISOLATED = "not isolated: this machine allows no namespaces (harness doctor)"


def check_cases(
    session: Session,
    draft: ResultBuilder,
    again: Callable[[], Session | Fault],
    progress: Progress,
    *,
    interpreted: bool,
) -> tuple[Session, Fault | None]:
    """Load the submission and run all cases; the draft gets what came of them.

    Returns the session that ran the last: another one, made by ``again``, where a case was too
    large for the emulator.
    """
    # Before any submitted code runs: memory that it takes must not make cases smaller.
    draft.task = fixed_task(draft.task)
    cases = correctness_cases(draft.task, draft.options, interpreted=interpreted)
    progress.phase("load")
    fault = session.load()
    draft.layers = session.layers
    if not session.isolated and _NOT_ISOLATED not in draft.notes:
        draft.notes.append(_NOT_ISOLATED)
    if fault is not None:
        return session, fault
    tasks = weighed_tasks(session, draft.task, cases)
    if isinstance(tasks, Fault):
        return session, tasks
    for draft.task in tasks:
        progress.phase("check", len(cases))
        outcome = run_cases(session, draft.task, cases, progress.advance, again)
        session, fault = outcome.session or session, outcome.fault
        draft.drawn, draft.cases = outcome.drawn, outcome.cases
        if fault is None or fault.verdict not in MAYBE_OF_WEIGHTS or draft.task is tasks[-1]:
            break
        if fault.verdict is Verdict.RUNTIME_ERROR:  # nothing may work in that process any more
            session.close()
            if isinstance(fresh := again(), Fault):
                return session, fresh
            session = fresh
    if fault is None and draft.task is not tasks[0]:
        draft.notes.append(KEPT)
    return session, fault


def explain(
    draft: ResultBuilder,
    fault: Fault,
    program: RunnerProgram,
    open_session: OpenSession,
    progress: Progress,
) -> str:
    """Look for a smaller failing case; returns a line on where a GPU's invalid access was."""
    if draft.failed_case is None or draft.options.rough:
        return ""
    task, number = draft.task, len(draft.cases) - 1
    failure = FailingCase(draft.drawn[number], number, fault.verdict)
    limits = patient(task.problem.limits)
    allowance = Allowance(limits.shrink_s)

    def start() -> Session | Fault:
        session = open_session(program, task.device, limits)
        session.allowance = allowance
        if (failed := session.load()) is not None:
            session.close()
        return failed or session

    with suppress(MachineError, ProblemError):  # the verdict stands without it
        progress.phase("shrink")
        options = draft.options
        draft.shrunk = shrink_failure(
            task, failure, start, options.shrink_s, smaller=options.smaller
        )
    with suppress(MachineError):
        if is_memory_fault(fault.message):
            progress.phase("locate")
            spec = draft.shrunk.case.spec if draft.shrunk else failure.case.spec
            report = locate(task, task.problem.parse_case(spec), program)
            return f"\n{report}" if report else ""
    return ""
