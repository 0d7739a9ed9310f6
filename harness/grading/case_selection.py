"""Which cases a submission is checked with: the random ones, within what the device can do."""

from collections.abc import Sequence

from harness.grading.job import Options
from harness.judge.task import Task
from harness.problem.case import Case
from harness.problem.sampling.cases import CaseLimits

_CPU_WORK = 2e6
"""Operations of one correctness case on the CPU path: a fraction of a second of emulation."""

_CPU_ROW_WORK = 1000.0
"""What a row costs there at least: 256 emulated threads that wait for each other, or one program of
Triton's interpreter, take some milliseconds."""


def correctness_cases(task: Task, options: Options, *, interpreted: bool = False) -> Sequence[Case]:
    """The cases that a submission is checked with, within what the device can do and hold.

    One whose kernels are ``interpreted`` is not tried with sizes beyond their ranges: a thousand
    blocks, as are tried there, take an interpreter ten seconds.
    """
    if options.case:
        return [task.problem.parse_case(options.case)]
    memory = _case_bytes(task.device.free_bytes())
    if task.device.emulated:
        room = CaseLimits(
            work=_CPU_WORK, row_work=_CPU_ROW_WORK, bytes=memory, in_range=interpreted
        )
    else:
        room = CaseLimits(bytes=memory)
    return task.problem.draw_cases(task.seed, dtype=task.dtype, room=room)


def _case_bytes(free: int) -> int:
    """Memory for one case: about half of what is free, rounded down to a power of two.

    Rounded, so that a seed draws the same cases again although a little more or less is free.
    """
    return 1 << max(0, (free // 2).bit_length() - 1)
