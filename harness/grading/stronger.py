"""Checks that say more of an accepted submission than its problem's format asks: notes, no verdict.

Of problems in other formats whose tensors are small enough to compute right answers twice more:
whether answers hold in the tolerance that is measured, where the format's own decided, and with
inputs of both signs, where the format draws none below zero.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from harness.errors import JudgeError
from harness.formats.problem import Foreign
from harness.judge.cases import run_cases
from harness.judge.task import Task
from harness.problem.case import Case
from harness.problem.sampling.footprint import footprint
from harness.records.result import Verdict
from harness.session.session import Session

MOST_BYTES = 1 << 28
"""For checking a case, up to which it is done."""


def stronger_notes(session: Session, task: Task, case: Case) -> list[str]:
    """What a submission that was right in ``case`` gets wrong; it must be the last that runs."""
    notes = []
    with suppress(JudgeError):  # nothing that keeps a verdict from being given
        for what, harder, its_case in _harder(task, case):
            outcome = run_cases(session, harder, [its_case], lambda: None)
            if outcome.fault is None:
                continue
            notes.append(f"stronger check: {_how(outcome.fault.verdict)} {what}")
            if outcome.fault.verdict is not Verdict.WRONG_ANSWER:
                break  # there may be no process left
    return notes


def _how(verdict: Verdict) -> str:
    return "wrong" if verdict is Verdict.WRONG_ANSWER else f"a {verdict}"


def _harder(task: Task, case: Case) -> Iterator[tuple[str, Task, Case]]:
    problem = task.problem
    if not isinstance(problem, Foreign):
        return
    if footprint(problem.tensors_of(case, task.dtype)) > MOST_BYTES:
        return
    if not problem.measured:
        measured = replace(problem, measured=True)
        if not measured.unfit(emulated=task.device.emulated):
            by_it = replace(task, problem=measured, reference=measured.reference())
            yield "within what float32 loses: --tolerance measured refuses it", by_it, case
    signed = problem.signed(case, task.seed)
    if signed is not None:
        yield f"with inputs of both signs (--case {signed.spec})", task, signed
