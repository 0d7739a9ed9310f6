"""Runs single cases just as ``--case`` does, in as few runners as can be; and shrinks one so.

Each case gets an arena of its own size, as it has when it is replayed by hand: what lies behind the
last buffer decides what an access out of bounds does. A runner that failed otherwise than by a
wrong answer is replaced by a fresh one.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from harness.errors import MachineError, ProblemError
from harness.judge.batch import Batch, lay_out
from harness.judge.cases import CALLS, ORDERS, CaseOutcome, run_case
from harness.judge.shrink import shrink
from harness.judge.task import Task
from harness.problem.case import Case
from harness.problem.model import Limits
from harness.records.cases import CaseResult, Numbers, ShrunkCase, TensorValues
from harness.records.result import Verdict
from harness.session.fault import Fault
from harness.session.session import Session

SHRINKABLE = (Verdict.WRONG_ANSWER, Verdict.RUNTIME_ERROR)
MAX_ELEMENTS = 64
"""Tensors of no more elements than this are shown whole."""

_MAX_CONFIRMED = 3
_TRIAL_SECONDS = 2.0
_MAPPED_BYTES = 256 << 20


@dataclass(frozen=True, slots=True)
class FailingCase:
    """A case of a grade that failed: which, the how-manieth it was, and with what verdict."""

    case: Case
    number: int
    verdict: Verdict


def patient(limits: Limits) -> Limits:
    """The limits of a trial: what takes long does not fail in the way that is looked for."""
    return replace(limits, call_s=min(limits.call_s, _TRIAL_SECONDS))


def shrink_failure(
    task: Task, failure: FailingCase, start: Callable[[], Session | Fault], seconds: float
) -> ShrunkCase | None:
    """The smallest case found within ``seconds`` that fails as ``failure`` does.

    ``start`` makes a session with the submission loaded. What is returned has failed in a fresh
    runner, as the first case it was given: so it does when it is replayed. A problem whose cases
    are not declared has no smaller ones: its case is run again as it is. None where the verdict
    is none that can be followed to a smaller case, or nothing, not the case itself either, fails
    again.

    Raises:
        MachineError, ProblemError: as any grade.
    """
    if failure.verdict not in SHRINKABLE or seconds <= 0:
        return None
    began = time.monotonic()
    with Replayer(task, start) as replayer:
        trials = _Trials(replayer, failure)
        tried = 0
        if (declared := task.problem.declared) is not None:
            tried = shrink(
                declared,
                failure.case,
                trials.fails,
                in_time=lambda: time.monotonic() - began < seconds,
            ).trials
        confirmed = trials.confirm()
    if confirmed is None:
        return None
    return ShrunkCase(
        case=confirmed.result,
        trials=tried,
        seconds=time.monotonic() - began,
        tensors=confirmed.tensors,
    )


@dataclass(frozen=True, slots=True)
class Ran:
    """How one case went; ``verdict`` is None if it passed."""

    result: CaseResult
    verdict: Verdict | None
    tensors: tuple[TensorValues, ...] = ()


class Replayer:
    """Runs cases of one submission. Use as a context manager."""

    def __init__(self, task: Task, start: Callable[[], Session | Fault]) -> None:
        self._task = task
        self._start = start
        self._session: Session | None = None
        self._mapped = 0

    def __enter__(self) -> "Replayer":
        return self

    def __exit__(self, *_: object) -> None:
        self.restart()

    def restart(self) -> None:
        """Have the next case run in a fresh runner."""
        if self._session is not None:
            self._session.close()
            self._session = None

    def run(self, case: Case, orders: Sequence[int], *, show: bool = False) -> Ran:
        """Run ``case``, on the CPU in ``orders``; ``show``: with its small tensors if it fails."""
        task = self._task
        size = lay_out(task, case, CALLS).size
        if self._mapped + size > _MAPPED_BYTES:  # a CPU runner keeps what it has mapped
            self.restart()
        if self._session is None:
            started = self._start()
            if isinstance(started, Fault):
                return _not_run(case, started)
            self._session, self._mapped = started, 0
        self._mapped += size
        arena = task.device.arena(size)
        try:
            fault = self._session.map(arena)
            if fault is not None:
                return _not_run(case, fault)
            batch = Batch(task, case, arena, calls=CALLS, portable=True)
            outcome = run_case(self._session, task, batch, orders)
            if outcome.fault is None:
                return Ran(outcome.result, None)
            if outcome.fault.verdict is not Verdict.WRONG_ANSWER:
                self.restart()
            tensors = _shown(task, batch, outcome) if show else ()
            return Ran(outcome.result, outcome.fault.verdict, tensors)
        finally:
            arena.close()


def _not_run(case: Case, fault: Fault) -> Ran:
    """The runner did not get as far as the case: whatever the fault, it says nothing of it."""
    result = CaseResult(spec=case.spec, passed=False, message=fault.message)
    return Ran(result, Verdict.INTERNAL_ERROR)


class _Trials:
    """Asks of case after case whether it fails as the first did."""

    def __init__(self, replayer: Replayer, failure: FailingCase) -> None:
        self._replayer = replayer
        self._failure = failure
        self._failing = [failure.case]

    def fails(self, case: Case) -> bool:
        """Whether ``case`` fails with the same verdict, with threads in the same order.

        A case that the machine or the problem's reference cannot cope with is none to report.
        """
        try:
            ran = self._replayer.run(case, [self._failure.number % ORDERS])
        except (MachineError, ProblemError):
            return False
        if ran.verdict is self._failure.verdict:
            self._failing.append(case)
        return ran.verdict is self._failure.verdict

    def confirm(self) -> Ran | None:
        """The smallest that fails again in a fresh runner; of those found last."""
        for case in reversed(self._failing[-_MAX_CONFIRMED:]):
            self._replayer.restart()
            ran = self._replayer.run(case, range(ORDERS), show=True)
            if ran.verdict is self._failure.verdict:
                return ran
        return None


def _shown(task: Task, batch: Batch, outcome: CaseOutcome) -> tuple[TensorValues, ...]:
    """Those tensors of the call that failed that are small enough."""
    assert outcome.fault is not None
    wrong = outcome.fault.verdict is Verdict.WRONG_ANSWER
    got = {name: t.clone() for name, t in batch.outputs(outcome.call).items()} if wrong else {}
    if not wrong:  # it may have ended before the inputs were written, or while they were
        batch.fill(task.seed)
    expected = {k: e.expected for k, e in batch.expectations(outcome.call).items()}
    shown: list[TensorValues] = []
    for role, tensors in (
        ("input", batch.inputs(outcome.call)),
        ("expected", expected),
        ("got", got),
    ):
        for name, tensor in tensors.items():
            if tensor.numel() <= MAX_ELEMENTS:
                shown.append(
                    TensorValues(
                        parameter=name,
                        role=role,  # type: ignore[arg-type]  # one of three literals
                        shape=tuple(tensor.shape),
                        values=_nested(tensor),
                    )
                )
    return tuple(shown)


def _nested(tensor: torch.Tensor) -> Numbers:
    """The elements as rows of rows of numbers; of a complex tensor, of pairs."""
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor.resolve_conj())
    return _tuples(tensor.tolist())


def _tuples(rows: Any) -> Numbers:
    if isinstance(rows, list):
        return tuple(map(_tuples, rows))
    return rows if isinstance(rows, float) else int(rows)
