"""The random cases that a submission is checked with, within what the device can do."""

from collections.abc import Sequence
from dataclasses import replace

from harness.grading.job import Options
from harness.judge.pace import ROW_WORK, WORK
from harness.judge.task import Task
from harness.problem.case import Case, CaseLimits


def correctness_cases(task: Task, options: Options, *, interpreted: bool = False) -> Sequence[Case]:
    """The cases that a submission is checked with.

    If its kernels are ``interpreted``, sizes stay in their ranges: cases beyond them have a
    thousand blocks, which take an interpreter ten seconds.
    """
    if options.case:
        return [task.problem.parse_case(options.case)]
    room = CaseLimits(bytes=_case_bytes(task.device.free_bytes()))
    if task.device.emulated:
        room = replace(room, work=WORK, row_work=ROW_WORK, in_range=interpreted)
    return task.problem.draw_cases(task.seed, dtype=task.dtype, room=room)


def _case_bytes(free: int) -> int:
    # About half of what is free, rounded down to a power of two: so a seed draws the same cases
    # again although a little more or less is free.
    return 1 << max(0, (free // 2).bit_length() - 1)
