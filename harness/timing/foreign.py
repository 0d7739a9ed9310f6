"""Times of problems in other formats: relative to their reference, which is its author's code.

So it has a process of its own, confined as a submission's and ended with the measurement, and none
of the judge's runners ever loads it. Its outputs are not checked, and the clock is the judge's: an
author can make the times of his own problem wrong, and no other's. Inputs are drawn and answers
computed in the problem's process, call by call, which takes longer than a call: batches are
shorter, and where one call takes too long no times are taken.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from harness.errors import MachineError
from harness.formats.problem import Foreign
from harness.judge.task import Task
from harness.problem.case import Case
from harness.problem.terms import Direction
from harness.session.programs import RunnerProgram
from harness.session.session import Session
from harness.solution.contract import contract, entry_named
from harness.timing.budget import TimingBudget

PREPARE_S = 120.0
"""Seconds for a reference, whose first call may compile."""
MOST_CALL_S = 4.0
"""Drawing and checking a call may take so long where times are ranked."""
BLOCK_S = 1.0
"""Drawing, running and checking a batch takes no longer, with one call at least."""


class CannotBeTimed(MachineError):
    """Why no time can be taken of a submission to a problem in another format, in words."""


def foreign_budget(budget: TimingBudget) -> TimingBudget:
    """``budget`` with batches that drawing and checking decide the length of."""
    return replace(budget, min_batch_s=0.0, max_block_s=max(budget.max_block_s, BLOCK_S))


def reference_program(problem: Foreign, *, emulated: bool) -> RunnerProgram:
    """The problem's reference as a program; ``emulated`` as submissions are without a GPU."""
    entry, text = problem.program()
    problem = replace(problem, weights=())  # what a call has of weights it is told with the call
    return RunnerProgram(
        kind="python",
        source=text,
        interpret=emulated,
        contract=contract(entry_named(entry), problem),
    )


@contextmanager
def reference_session(task: Task, cases: Sequence[Case]) -> Iterator[Session]:
    """A session of its own with the reference of a problem in another format, loaded.

    Raises:
        CannotBeTimed: it does not load, or drawing and checking a call takes too long.
        ProblemError: its inputs cannot be drawn, or its answers not be computed.
    """
    problem, device = task.problem, task.device
    assert isinstance(problem, Foreign)
    if device.rankable:
        require_quick(task, cases, MOST_CALL_S)
    program = reference_program(problem, emulated=device.emulated)
    limits = replace(problem.limits, prepare_s=PREPARE_S, call_s=PREPARE_S)
    with Session(program, device, limits) as session:
        if (fault := session.load()) is not None:
            raise CannotBeTimed(f"its reference does not run as a program: {fault.message}")
        yield session


def require_quick(task: Task, cases: Sequence[Case], most_s: float) -> None:
    """Check that a call of each case can be drawn and checked in ``most_s``.

    Raises:
        CannotBeTimed: one cannot.
    """
    problem, source = task.problem, task.problem.inputs()
    for case in cases:
        began = time.perf_counter()
        read = [t for t in problem.tensors_of(case, task.dtype) if t.direction is not Direction.OUT]
        seed = f"{task.seed}/how long"
        inputs = {t.name: source.draw(t, case, seed).to(task.device.torch_device) for t in read}
        for each in task.reference.expectations(case, task.dtype, inputs).values():
            for _ in each.stretches():  # some come piece by piece
                pass
        if (took := time.perf_counter() - began) > most_s:
            raise CannotBeTimed(
                f"drawing and checking one call of {case.spec} takes {took:.0f} s, and a time "
                f"takes dozens of calls (at most {most_s:g} s each)"
            )
