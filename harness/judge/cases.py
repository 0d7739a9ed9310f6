"""Run correctness cases, one after the other, and check each to the last byte."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from hashlib import sha256

from harness.device.base import Arena
from harness.judge.batch import Batch
from harness.judge.drawn_ahead import inputs_of
from harness.judge.layout import Layout, lay_out
from harness.judge.own_copy import FEW
from harness.judge.pace import Pace
from harness.judge.task import Task
from harness.problem.case import Case
from harness.problem.gradable import InputSource
from harness.problem.sampling.footprint import CALLS, calls_at_once
from harness.records.cases import CaseResult
from harness.records.result import Verdict
from harness.session.allowance import Allowance
from harness.session.fault import Fault
from harness.session.runs import RunOptions
from harness.session.session import Session

ORDERS = 3
"""Ways in which the CPU path orders threads: forwards, backwards, shuffled."""

_AHEAD = 8
"""Cases whose inputs are drawn before their turn, at most: a first call may take long."""

_MAX_TRIES = 3
"""Smaller cases that are tried where one ran out of time, in all cases together."""


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
    drawn: tuple[Case, ...] = ()
    """The cases in the order in which they were to be run, as small as they became."""
    session: Session | None = None
    """The session that ran the last case; None if none did."""


def run_cases(
    session: Session,
    task: Task,
    cases: Sequence[Case],
    advance: Callable[[], None],
    again: Callable[[], Session | Fault] | None = None,
) -> CasesOutcome:
    """Run the cases in order until one fails; at least one case.

    On the CPU the order in which threads run differs from case to case, and several cases are run
    in the order of their work; one that would take the emulator too long is made smaller. One that
    runs out of time nevertheless is tried smaller in a session made by ``again``, and only a
    submission that hangs, or has no smaller case, fails. ``advance`` is called after each case.
    Together they have ``cases_s`` and ``idle_s`` of the problem's limits.

    Raises:
        ProblemError: the reference is wrong.
        MachineError: the device has not enough memory.
    """
    pace = _pace(task, cases)
    todo = list(cases) if pace is None else pace.in_order(cases)
    limits = task.problem.limits
    allowance = Allowance(limits.cases_s, limits.idle_s)
    size = max(lay_out(task, case, calls_at_once(case)).size for case in cases)
    with closing(task.device.arena(size)) as arena, inputs_of(task, todo) as inputs:
        run = _Run(task, inputs, session, pace, again)
        fault = run.begin(session, arena, allowance)
        for number, case in enumerate(todo):
            if fault is not None:
                break
            allowance.what = f"its cases 1 to {number + 1} of {len(cases)}"
            if pace is not None:
                todo[number] = case = pace.fitting(case, allowance.left_s, len(todo) - number)
            # A single case is a replay: in whatever order it failed, it must fail again.
            orders = range(ORDERS) if len(cases) == 1 else [number]
            todo[number], fault = run.case(case, orders, todo[number + 1 : number + 1 + _AHEAD])
            advance()
    run.session.allowance = None
    return CasesOutcome(tuple(run.done), fault, tuple(todo), run.session)


def _pace(task: Task, cases: Sequence[Case]) -> Pace | None:
    """What sizes the cases of an emulated submission; a case by itself is run as it is."""
    declared = task.problem.declared
    return Pace(task, declared) if task.device.emulated and declared and len(cases) > 1 else None


class _Run:
    """The cases of a submission that were run, and the session in which the next is."""

    def __init__(
        self,
        task: Task,
        inputs: InputSource,
        session: Session,
        pace: Pace | None,
        again: Callable[[], Session | Fault] | None,
    ) -> None:
        self._task = task
        self._inputs = inputs
        self._pace = pace
        self._again = again
        self._tries = _MAX_TRIES
        self.session = session
        self._left: Layout | None = None
        """How inputs of an earlier case lie in the arena, of which drawing takes seconds."""
        self._drawn: dict[str, Batch] = {}
        """Those of cases whose turns are next, drawn already, by spec."""
        self.done: list[CaseResult] = []

    def begin(self, session: Session, arena: Arena, allowance: Allowance) -> Fault | None:
        """Go on in ``session``, in this arena."""
        self.session, self._arena, self._allowance = session, arena, allowance
        session.allowance = allowance
        return session.map(arena)

    def case(
        self, case: Case, orders: Sequence[int], then: Sequence[Case] = ()
    ) -> tuple[Case, Fault | None]:
        """Run a case, or smaller ones if it runs out of time; the last of them, and its fault.

        Of those ``then``, whose turns are next, inputs are drawn meanwhile if they are small.
        """
        outcome = self._once(case, orders, then)
        if outcome.fault is not None and outcome.fault.verdict is Verdict.TIME_LIMIT:
            less, tried = self._smaller(case, orders)
            if tried is not None:
                case, outcome = less, tried
        self.done.append(outcome.result)
        return case, outcome.fault

    def _once(self, case: Case, orders: Sequence[int], then: Sequence[Case] = ()) -> CaseOutcome:
        batch = self._drawn.pop(case.spec, None) or self._batch(case)
        filled = case.singly and batch.layout == self._left
        meanwhile = self._look_ahead(batch, then)
        outcome = run_case(
            self.session, self._task, batch, orders, filled=filled, meanwhile=meanwhile
        )
        self._left = batch.layout if case.singly else None
        if self._pace is not None and outcome.fault is None:
            self._pace.note(case, self.session.took_s)
        return outcome

    def _batch(self, case: Case) -> Batch:
        calls = calls_at_once(case)
        return Batch(self._task, case, self._arena, calls, portable=True, inputs=self._inputs)

    def _look_ahead(self, batch: Batch, then: Sequence[Case]) -> Iterator[None]:
        """Do for ``batch`` and the next cases what needs no runner, while one is at work on a GPU.

        For small ones alone: launching and drawing take longer than their calls. A step for each.
        """
        task = self._task
        if task.device.emulated or task.problem.format:
            return
        if _small(batch.layout):
            batch.expect(task.seed)
            yield
        for case in then:
            if case.spec in self._drawn:
                continue
            if _small(lay_out(task, case, calls_at_once(case))):
                drawn = self._drawn[case.spec] = self._batch(case)
                drawn.draw(task.seed)
                yield

    def _smaller(self, case: Case, orders: Sequence[int]) -> tuple[Case, CaseOutcome | None]:
        """The first smaller case that does not run out of time; None if that tells of a hang."""
        first, spent_s, less = self.session, self.session.took_s, case
        while self._pace is not None and self._again is not None and self._tries:
            self._tries -= 1
            tried = self._pace.smaller(less)
            if tried is None or not self._allowance.left_s:
                break
            less = tried
            self.session.close()  # what hangs takes time from the next one
            fresh = self._again()
            if isinstance(fresh, Fault) or self.begin(fresh, self._arena, self._allowance):
                break
            outcome = self._once(less, orders)
            if outcome.fault is None and self._pace.hung(case, spent_s, less, fresh.took_s):
                break
            if outcome.fault is None or outcome.fault.verdict is not Verdict.TIME_LIMIT:
                return less, outcome
        self.session = first  # which has its output
        return less, None


def _small(layout: Layout) -> bool:
    return layout.size <= FEW


def run_case(
    session: Session,
    task: Task,
    batch: Batch,
    orders: Sequence[int],
    *,
    filled: bool = False,
    meanwhile: Iterable[None] = (),
) -> CaseOutcome:
    """Run one case, laid out in the arena that the session has mapped.

    It is warmed up on throw-away inputs: if it is ``filled``, on those that lie there; and steps of
    ``meanwhile`` are taken while it is.

    Of a case whose calls are made one at a time, the batch is filled again for the second. On the
    CPU it is run with the threads in each of ``orders`` (modulo :data:`ORDERS`; at least
    one) until it fails. Seed, spec and order decide all that is run.
    """
    emulated = task.device.emulated
    # Hashed, so that a runner does not learn the seed of the inputs.
    order_seed = sha256(f"order|{task.seed}|{batch.case.spec}".encode()).digest()[:4]
    plan = RunOptions(
        warmups=0 if emulated else 1,
        order_seed=int.from_bytes(order_seed, "big"),
        tidy=batch.case.singly,  # the card is full
    )
    for order in orders if emulated else orders[:1]:
        options = replace(plan, order=order % ORDERS)
        outcome = _run_once(session, task, batch, options, filled=filled, meanwhile=meanwhile)
        if outcome.fault is not None:
            break
    return outcome


def _run_once(
    session: Session,
    task: Task,
    batch: Batch,
    plan: RunOptions,
    *,
    filled: bool,
    meanwhile: Iterable[None],
) -> CaseOutcome:
    spec = batch.case.spec
    if plan.warmups and not filled:
        batch.fill_for_warm_up(f"{task.seed}/warm-up", task.seed)
        task.device.synchronize()  # no call may come before its inputs
    prepared = session.prepare(batch, plan, meanwhile)
    if isinstance(prepared, Fault):
        return CaseOutcome(CaseResult(spec=spec, passed=False, message=prepared.message), prepared)
    took = 0.0
    for first in range(0, CALLS, batch.layout.calls):
        seed = f"{task.seed}/{first}" if first else task.seed
        # Whoever is awake while inputs are written may change them, which shows in what is kept.
        stop = task.device.emulated or not batch.kept
        seconds = session.run(batch, seed, stop=stop, probed=False)
        if isinstance(seconds, Fault):
            result = CaseResult(spec=spec, passed=False, message=seconds.message)
            return CaseOutcome(result, seconds)
        took += seconds
        found = batch.check(returned=session.returned)
        if found is not None:
            wrong, message = found.mismatch, found.message
            result = CaseResult(
                spec=spec, passed=False, seconds=took, message=message, mismatch=wrong
            )
            return CaseOutcome(result, Fault(Verdict.WRONG_ANSWER, message), found.call)
    return CaseOutcome(CaseResult(spec=spec, passed=True, seconds=took))
