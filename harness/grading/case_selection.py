"""The random cases that a submission is checked with, within what the device can do."""

from collections.abc import Sequence
from dataclasses import replace

from harness.device.base import Device
from harness.errors import UsageError
from harness.grading.job import Options
from harness.judge.pace import ROW_WORK, WORK
from harness.judge.task import Task
from harness.problem.case import Case, CaseLimits
from harness.problem.gradable import Gradable
from harness.sandbox import leftovers

MOST_BYTES = 8 << 30
"""The most that checking a case takes by estimate: a seed then draws the same cases on every card
with 16 GiB free. A reference may take several times as much, since it is not in the estimate."""


def correctness_cases(task: Task, options: Options, *, interpreted: bool = False) -> Sequence[Case]:
    """The cases that a submission is checked with.

    If its kernels are ``interpreted``, sizes stay in their ranges: cases beyond them have a
    thousand blocks, which take an interpreter ten seconds.
    """
    if options.case:
        leftovers.settle()  # it may need all the memory that there is
        return [task.problem.parse_case(options.case)]
    room = _room(task.problem, task.device, interpreted=interpreted)
    return task.problem.draw_cases(task.seed, dtype=task.dtype, room=room)


def too_large(problem: Gradable, device: Device, dtype: str) -> str:
    """Why none of a foreign problem's cases goes on a device; empty if one does."""
    if not problem.format:
        return ""
    try:
        problem.draw_cases("", dtype=dtype, room=_room(problem, device))
    except UsageError as error:
        return str(error)
    return ""


def _room(problem: Gradable, device: Device, *, interpreted: bool = False) -> CaseLimits:
    room = CaseLimits(bytes=case_bytes(problem, device))
    if device.emulated:
        room = replace(room, work=WORK, row_work=ROW_WORK, in_range=interpreted)
    return room


def case_bytes(problem: Gradable, device: Device) -> int:
    """The most that checking a case may take of what is free of a device's memory."""
    free = device.free_bytes()
    if problem.format or free < 2 * MOST_BYTES:  # what is ending may hold some
        leftovers.settle()
        free = device.free_bytes()
    if problem.format and not device.emulated:  # sizes are given: all but what a call takes itself
        return free * 7 // 8
    # About half of what is free, rounded down to a power of two: so a seed draws the same cases
    # again although a little more or less is free.
    return min(MOST_BYTES, 1 << max(0, (free // 2).bit_length() - 1))
