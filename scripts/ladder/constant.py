"""What batches of spins read beyond the spins: it should be the launches alone, at any length."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.device.exclusive import exclusive_timing
from harness.device.base import Device
from harness.errors import MachineError
from harness.grading.grader import Grader
from harness.judge.task import Task
from harness.problem.case import benchmark_case
from harness.problem.format.load import load_problem
from harness.problem.reference import Reference
from harness.session.fault import Fault
from harness.session.programs import timed_program
from harness.session.session import Session
from harness.timing.statistics import lower_quartile
from harness.timing.timed_program import TimedProgram
from ladder.judge import built
from ladder.rungs import COPY, wait_source

LENGTHS = ((2, 1), (1000, 1), (5000, 1), (25000, 1), (1000, 25), (50, 480), (20, 1000), (2, 1000))
"""Microseconds of a spin, and how many of them a batch has."""

_BLOCKS, _UNCOUNTED = 18, 2

Row = dict[str, Any]


def constant(grader: Grader, device: Device, folder: Path) -> Iterator[Row]:
    """A row for each of :data:`LENGTHS`, as it is measured.

    Raises:
        MachineError: the kernel does not build or run here.
    """
    blank = grader._timing.trusted.blank()
    if blank is None:
        raise MachineError("there are no blank batches without a GPU")
    problem = load_problem(COPY)
    task = Task(problem, Reference(problem), "float32", device, "constant")
    case = benchmark_case(problem, {"n": 4096})
    for us, calls in LENGTHS:
        file = folder / f"spin_{us}us.cu"
        file.write_text(wait_source(us * 1000))
        spins_s = us * calls * 1e-6
        batches, blanks = [], []
        program = timed_program(built(grader, file, task))
        with (
            Session(program, device, problem.limits) as session,
            exclusive_timing(device, lambda _: None),
        ):
            fault = session.load()
            contender = TimedProgram(session, task, trusted=False, capture=True, usual=blank.usual)
            fault = fault or contender.setup(case, calls)
            for block in range(_BLOCKS):
                if fault is not None:
                    raise MachineError(fault.message)
                blank.settle(f"{block}")
                blanks.append(blank.time(contender.batch, f"{block}/blank", spins_s))
                seconds = contender.time(f"{block}", idle_after_s=blank.after_s)
                if isinstance(seconds, Fault):
                    raise MachineError(seconds.message)
                batches.append(seconds)
            contender.release()
        batch_s, null_batch_s = (lower_quartile(each[_UNCOUNTED:]) for each in (batches, blanks))
        yield {
            "spin_us": us,
            "calls": calls,
            "batch_s": batch_s,
            "null_batch_s": null_batch_s,
            "beyond_s": batch_s - null_batch_s - spins_s,
        }


def line(row: Row) -> str:
    """The row in words."""
    batch, blank, beyond = (row[f"{name}_s"] * 1e6 for name in ("batch", "blank", "beyond"))
    return (
        f"{row['calls']} x {row['spin_us']} µs: batch {batch:.0f} µs, blank {blank:.0f}, beyond "
        f"both {beyond:+.0f}, a call {beyond / row['calls']:+.2f}"
    )
