"""Correctness: every case run once through the judge's protocol and checked to the last byte."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness.judge.batch import Batch, Problems, lay_out
from harness.judge.session import Fault, Plan, Session
from harness.judge.task import Task
from harness.problem.draws import Case
from harness.result import CaseResult, Verdict

_CPU_ORDERS = 3
_CALLS = 2
"""Each case is called so often in a row, with other inputs, so that remembered answers show."""


@dataclass(frozen=True, slots=True)
class CasesOutcome:
    """What became of the cases: all passed if ``fault`` is None."""

    cases: tuple[CaseResult, ...]
    fault: Fault | None


def run_cases(
    session: Session,
    task: Task,
    cases: Sequence[Case],
    advance: Callable[[], None],
) -> CasesOutcome:
    """Run the cases in order until one fails."""
    done: list[CaseResult] = []
    size = max(lay_out(task, case, _CALLS).size for case in cases)
    arena = task.device.arena(size)
    try:
        fault = session.map(arena)
        for number, case in enumerate(cases):
            if fault is not None:
                break
            batch = Batch(task, case, arena, calls=_CALLS, portable=True)
            result, fault = _run_case(session, task, batch, number)
            done.append(result)
            advance()
        return CasesOutcome(tuple(done), fault)
    finally:
        arena.close()


def _run_case(
    session: Session, task: Task, batch: Batch, number: int
) -> tuple[CaseResult, Fault | None]:
    """One case; on the CPU the order in which threads run differs from case to case."""
    spec = batch.case.spec
    warmups = 1 if task.device.kind == "cuda" else 0
    plan = Plan(warmups=warmups, order=number % _CPU_ORDERS, order_seed=number)
    if warmups:
        batch.fill(f"{task.seed}/warm-up")
    prepared = session.prepare(batch, plan)
    if isinstance(prepared, Fault):
        return CaseResult(spec=spec, passed=False, message=prepared.message), prepared
    seconds = session.run(batch, task.seed)
    if isinstance(seconds, Fault):
        return CaseResult(spec=spec, passed=False, message=seconds.message), seconds
    found = batch.check()
    if found is None:
        return CaseResult(spec=spec, passed=True, seconds=seconds), None
    return _wrong(spec, found, seconds)


def _wrong(spec: str, found: Problems, seconds: float) -> tuple[CaseResult, Fault]:
    result = CaseResult(
        spec=spec, passed=False, seconds=seconds, message=found.message, mismatch=found.mismatch
    )
    return result, Fault(Verdict.WRONG_ANSWER, found.message)
