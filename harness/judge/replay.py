"""Replay single cases just as ``--case`` does, in few runners; shrink a failing one that way.

Each case gets an arena of its own size, as it has when it is replayed by hand: what lies behind the
last buffer decides what an access out of bounds does. A runner that failed otherwise than by a
wrong answer is replaced by a fresh one.
"""

import math
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Literal, Self, TypeAlias

import torch

from harness.errors import MachineError, ProblemError
from harness.judge.batch import Batch
from harness.judge.cases import ORDERS, CaseOutcome, run_case
from harness.judge.layout import lay_out
from harness.judge.shrink import shrink
from harness.judge.task import Task
from harness.problem.case import Case
from harness.problem.sampling.footprint import calls_at_once
from harness.problem.terms import Limits
from harness.records.cases import CaseResult, Numbers, ShrunkCase, TensorValues
from harness.records.result import Verdict
from harness.session.fault import Fault
from harness.session.session import Session

_SHRINKABLE = (Verdict.WRONG_ANSWER, Verdict.RUNTIME_ERROR)
_MAX_ELEMENTS = 64
"""Tensors of no more elements than this are shown whole."""
_MAX_CONFIRMED = 3
_TRIAL_SECONDS = 2.0
_MAPPED_BYTES = 256 << 20

_Rows: TypeAlias = "float | list[_Rows]"


@dataclass(frozen=True, slots=True)
class FailingCase:
    """A case of a grade that failed; its ``number``, from 0, decides the order of threads."""

    case: Case
    number: int
    verdict: Verdict


def patient(limits: Limits) -> Limits:
    """The limits of a trial: shorter, since a case that hangs fails in another way."""
    return replace(limits, call_s=min(limits.call_s, _TRIAL_SECONDS))


def shrink_failure(
    task: Task,
    failure: FailingCase,
    start: Callable[[], Session | Fault],
    seconds: float,
    *,
    smaller: bool = True,
) -> ShrunkCase | None:
    """Find the smallest case within ``seconds`` that fails as ``failure`` does.

    ``start`` makes a session with the submission loaded. The case returned has failed as the first
    case of a fresh runner, as it will when it is replayed. Without ``smaller``, and where the
    problem's cases are not declared, no other is tried: the case is run again as it is. None where
    the verdict cannot be followed to a smaller case, or not even the case itself fails again.

    Raises:
        MachineError, ProblemError: as any grade.
    """
    if failure.verdict not in _SHRINKABLE or seconds <= 0:
        return None
    began = time.monotonic()
    with Replayer(task, start) as replayer:
        trials = _Trials(replayer, failure)
        tried = 0
        if smaller and (declared := task.problem.declared) is not None:
            deadline = began + seconds
            search = shrink(
                declared, failure.case, trials.fails, in_time=lambda: time.monotonic() < deadline
            )
            tried = search.trials
        confirmed = trials.confirm()
    if confirmed is None:
        return None
    result, tensors, spent_s = confirmed.result, confirmed.tensors, time.monotonic() - began
    return ShrunkCase(case=result, trials=tried, seconds=spent_s, tensors=tensors)


@dataclass(frozen=True, slots=True)
class Replay:
    """The outcome of one replayed case; ``verdict`` is None if it passed."""

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

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.restart()

    def restart(self) -> None:
        """Have the next case run in a fresh runner."""
        if self._session is not None:
            self._session.close()
            self._session = None

    def run(self, case: Case, orders: Sequence[int], *, show: bool = False) -> Replay:
        """Run ``case``, on the CPU in each of ``orders``; if it fails ``show`` small tensors."""
        task = self._task
        size = lay_out(task, case, calls_at_once(case)).size
        if self._mapped + size > _MAPPED_BYTES:  # a CPU runner keeps what it has mapped
            self.restart()
        if self._session is None:
            started = self._start()
            if isinstance(started, Fault):
                return _not_run(case, started)
            self._session, self._mapped = started, 0
        self._mapped += size
        with closing(task.device.arena(size)) as arena:
            fault = self._session.map(arena)
            if fault is not None:
                return _not_run(case, fault)
            batch = Batch(task, case, arena, calls=calls_at_once(case), portable=True)
            outcome = run_case(self._session, task, batch, orders)
            if outcome.fault is None:
                return Replay(outcome.result, None)
            if outcome.fault.verdict is not Verdict.WRONG_ANSWER:
                self.restart()
            tensors = _small_tensors(task, batch, outcome, outcome.fault) if show else ()
            return Replay(outcome.result, outcome.fault.verdict, tensors)


def _not_run(case: Case, fault: Fault) -> Replay:
    """A case that the runner did not get as far as; its fault says nothing of the case."""
    result = CaseResult(spec=case.spec, passed=False, message=fault.message)
    return Replay(result, Verdict.INTERNAL_ERROR)


class _Trials:
    """Tries case after case, and remembers those that fail as the first did."""

    def __init__(self, replayer: Replayer, failure: FailingCase) -> None:
        self._replayer = replayer
        self._failure = failure
        self._failing = [failure.case]

    def fails(self, case: Case) -> bool:
        """Whether ``case`` fails with the same verdict, with threads in the same order.

        One that the machine or the problem's reference cannot cope with counts as passed.
        """
        try:
            ran = self._replayer.run(case, [self._failure.number % ORDERS])
        except (MachineError, ProblemError):
            return False
        if ran.verdict is self._failure.verdict:
            self._failing.append(case)
        return ran.verdict is self._failure.verdict

    def confirm(self) -> Replay | None:
        """The smallest of the last few failing cases that fails again in a fresh runner."""
        for case in reversed(self._failing[-_MAX_CONFIRMED:]):
            self._replayer.restart()
            ran = self._replayer.run(case, range(ORDERS), show=True)
            if ran.verdict is self._failure.verdict:
                return ran
        return None


def _small_tensors(
    task: Task, batch: Batch, outcome: CaseOutcome, fault: Fault
) -> tuple[TensorValues, ...]:
    """Small inputs, expected outputs and, of wrong answers, outputs of the call that failed."""
    call = outcome.call
    got: dict[str, torch.Tensor] = {}
    if fault.verdict is Verdict.WRONG_ANSWER:
        got = batch.outputs(call)
    else:  # it may have ended before the inputs were written, or while they were
        batch.fill(task.seed)
    known = batch.expectations(call)
    expected = {  # of none that has no room to be had whole
        name: each.expected
        for name, each in known.items()
        if math.prod(each.shape) <= _MAX_ELEMENTS
    }
    seen_as = {slot.tensor.name: slot.tensor.seen_as for slot in batch.layout.slots}
    groups: dict[Literal["input", "expected", "got"], dict[str, torch.Tensor]] = {
        "input": batch.inputs(call),
        "expected": expected,
        "got": got,
    }
    return tuple(
        TensorValues(
            parameter=name,
            role=role,
            shape=tuple(x.shape),
            values=_nested(_as_seen(x, seen_as[name])),
        )
        for role, tensors in groups.items()
        for name, x in tensors.items()
        if x.numel() <= _MAX_ELEMENTS
    )


def _as_seen(tensor: torch.Tensor, narrow: str) -> torch.Tensor:
    """Bytes as the numbers that a submission sees; two in one byte stay as they are."""
    if not narrow.startswith("float8"):
        return tensor
    return tensor.view(getattr(torch, narrow)).to(torch.float32)


def _nested(tensor: torch.Tensor) -> Numbers:
    """The elements as rows of rows of numbers; of a complex tensor, of pairs."""
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor.resolve_conj())
    return _tuples(tensor.tolist())


def _tuples(rows: _Rows) -> Numbers:
    if isinstance(rows, list):
        return tuple(map(_tuples, rows))
    return rows if isinstance(rows, float) else int(rows)
