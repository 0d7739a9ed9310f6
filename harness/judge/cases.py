"""Run correctness cases, one after the other, and check each to the last byte."""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from hashlib import sha256

from harness.judge.batch import Batch
from harness.judge.layout import lay_out
from harness.judge.task import Task
from harness.problem.case import Case
from harness.problem.sampling.footprint import CALLS
from harness.records.cases import CaseResult
from harness.records.result import Verdict
from harness.session.allowance import Allowance
from harness.session.fault import Fault
from harness.session.session import RunOptions, Session

ORDERS = 3
"""Ways in which the CPU path orders threads: forwards, backwards, shuffled."""


@dataclass(frozen=True, slots=True)
class CaseOutcome:
    """Result of one case: passed if ``fault`` is None, else its call ``call`` (from 0) failed."""

    result: CaseResult
    fault: Fault | None = None
    call: int = 0


@dataclass(frozen=True, slots=True)
class CasesOutcome:
    """Results of the cases that were run; the last one failed unless ``fault`` is None."""

    cases: tuple[CaseResult, ...]
    fault: Fault | None


def run_cases(
    session: Session, task: Task, cases: Sequence[Case], advance: Callable[[], None]
) -> CasesOutcome:
    """Run the cases in order until one fails; at least one case.

    On the CPU the order in which threads run differs from case to case. ``advance`` is called
    after each case. Together they have ``cases_s`` and ``idle_s`` of the problem's limits.

    Raises:
        ProblemError: the reference is wrong.
        MachineError: the device has not enough memory.
    """
    done: list[CaseResult] = []
    limits = task.problem.limits
    session.allowance = allowance = Allowance(limits.cases_s, limits.idle_s)
    size = max(lay_out(task, case, CALLS).size for case in cases)
    with closing(task.device.arena(size)) as arena:
        fault = session.map(arena)
        for number, case in enumerate(cases):
            if fault is not None:
                break
            allowance.what = f"its cases 1 to {number + 1} of {len(cases)}"
            batch = Batch(task, case, arena, calls=CALLS, portable=True)
            # A single case is a replay: in whatever order it failed, it must fail again.
            orders = range(ORDERS) if len(cases) == 1 else [number]
            outcome = run_case(session, task, batch, orders)
            done.append(outcome.result)
            fault = outcome.fault
            advance()
    session.allowance = None
    return CasesOutcome(tuple(done), fault)


def run_case(session: Session, task: Task, batch: Batch, orders: Sequence[int]) -> CaseOutcome:
    """Run one case, laid out in the arena that the session has mapped.

    On the CPU it is run with the threads in each of ``orders`` (modulo :data:`ORDERS`; at least
    one) until it fails. Seed, spec and order decide all that is run.
    """
    emulated = task.device.emulated
    # Hashed, so that a runner does not learn the seed of the inputs.
    order_seed = sha256(f"order|{task.seed}|{batch.case.spec}".encode()).digest()[:4]
    plan = RunOptions(warmups=0 if emulated else 1, order_seed=int.from_bytes(order_seed, "big"))
    for order in orders if emulated else orders[:1]:
        outcome = _run_once(session, task, batch, replace(plan, order=order % ORDERS))
        if outcome.fault is not None:
            break
    return outcome


def _run_once(session: Session, task: Task, batch: Batch, plan: RunOptions) -> CaseOutcome:
    spec = batch.case.spec
    if plan.warmups:
        batch.fill_for_warm_up(f"{task.seed}/warm-up")
    prepared = session.prepare(batch, plan)
    seconds = prepared if isinstance(prepared, Fault) else session.run(batch, task.seed)
    if isinstance(seconds, Fault):
        result = CaseResult(spec=spec, passed=False, message=seconds.message)
        return CaseOutcome(result, seconds)
    found = batch.check()
    if found is None:
        return CaseOutcome(CaseResult(spec=spec, passed=True, seconds=seconds))
    result = CaseResult(
        spec=spec, passed=False, seconds=seconds, message=found.message, mismatch=found.mismatch
    )
    return CaseOutcome(result, Fault(Verdict.WRONG_ANSWER, found.message), found.call)
