"""Checks that say more of an accepted submission than its problem's format asks: notes, no verdict.

Of problems in other formats whose tensors are small enough to compute right answers twice more:
whether answers hold in the tolerance that is measured, where the format's own decided, and with
inputs of both signs, where the format draws none below zero. And of modules with weights that are
the same whatever the seed, a norm's that are 1 and 0: whether it is right with others, too.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from harness.errors import JudgeError
from harness.formats.problem import Foreign
from harness.grading.weights import with_problem
from harness.judge.cases import run_cases
from harness.judge.task import Task
from harness.problem.case import Case
from harness.problem.sampling.footprint import footprint
from harness.problem.terms import Direction
from harness.records.result import Verdict
from harness.session.session import Session

MOST_BYTES = 1 << 28
"""For checking a case, up to which it is done."""
MOST_NAMED = 8
"""Weights that are tried alone where it is wrong with others of all."""


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
                return notes  # there may be no process left
        if ignored := _ignored_weights(session, task, case):
            one = "its weight" if len(ignored) == 1 else "its weights"
            notes.append(
                f"stronger check: ignores {one} {', '.join(ignored)} (wrong with other values than "
                "those that it is made with)"
            )
    return notes


def _ignored_weights(session: Session, task: Task, case: Case) -> list[str]:
    """Names of parameters that are the same whatever the seed, and that make it wrong.

    Those that do so alone; all, if none does.
    """
    problem = task.problem
    if not isinstance(problem, Foreign) or _is_large(task, case):
        return []
    initial = [
        each.weight.spec.name
        for each in problem.weights
        if each.weight.kind == "initial" and each.certain
    ]
    if not initial or not _wrong_with(session, task, case, initial):
        return []
    alone = [name for name in initial[:MOST_NAMED] if _wrong_with(session, task, case, [name])]
    return [name.removeprefix("self.") for name in alone or initial]


def _wrong_with(session: Session, task: Task, case: Case, redrawn: Sequence[str]) -> bool:
    """Whether it is wrong where these weights have other values; False where no answer is known."""
    problem = task.problem
    assert isinstance(problem, Foreign)
    others = with_problem(task, replace(problem, redrawn=frozenset(redrawn)))
    source = others.problem.inputs()
    read = [x for x in problem.tensors_of(case, task.dtype) if x.direction is not Direction.OUT]
    inputs = {spec.name: source.draw(spec, case, f"{task.seed}/0") for spec in read}
    right = others.reference.expectations(case, task.dtype, inputs)
    if not all(bool(each.expected.isfinite().all()) for each in right.values()):
        return False
    fault = run_cases(session, others, [case], lambda: None).fault
    return fault is not None and fault.verdict is Verdict.WRONG_ANSWER


def _is_large(task: Task, case: Case) -> bool:
    return footprint(task.problem.tensors_of(case, task.dtype)) > MOST_BYTES


def _how(verdict: Verdict) -> str:
    return "wrong" if verdict is Verdict.WRONG_ANSWER else f"a {verdict}"


def _harder(task: Task, case: Case) -> Iterator[tuple[str, Task, Case]]:
    problem = task.problem
    if not isinstance(problem, Foreign) or _is_large(task, case):
        return
    if not problem.measured:
        measured = replace(problem, measured=True)
        if not measured.unmeasured(case):  # that case alone: each takes several runs
            by_it = replace(task, problem=measured, reference=measured.reference())
            yield "within what float32 loses: --tolerance measured refuses it", by_it, case
    signed = problem.signed(case, task.seed)
    if signed is not None:
        yield f"with inputs of both signs (--case {signed.spec})", task, signed
