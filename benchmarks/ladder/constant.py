"""What batches of spins read beyond the spins: it should be the launches alone, at any length."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.ladder.judge import built
from benchmarks.ladder.rungs import COPY, wait_source
from harness.device.base import Device
from harness.device.choose import open_device
from harness.errors import MachineError
from harness.grading.grader import Grader
from harness.judge.task import Task
from harness.problem.case import whole_case
from harness.problem.format.load import load_problem
from harness.problem.reference import Reference
from harness.progress.progress import NoProgress
from harness.session.fault import Fault
from harness.session.programs import timed_program
from harness.session.session import Session
from harness.timing.statistics import lower_quartile
from harness.timing.timed_program import TimedProgram

LENGTHS = (
    (2, 1), (1000, 1), (5000, 1), (20100, 1), (25000, 1), (41100, 1), (1000, 25), (50, 480),
    (20, 1000), (2, 1000),
)  # fmt: skip
"""Microseconds of a spin, and how many of them a batch has. A judge that looked at runners every 20
ms would do so while those of 20.1 and 41.1 ms end."""

_BLOCKS, _UNCOUNTED = 18, 2

Row = dict[str, Any]


def constant(grader: Grader, device: Device, folder: Path) -> Iterator[Row]:
    """A row for each of :data:`LENGTHS`, as it is measured.

    Raises:
        MachineError: the kernel does not build or run here.
    """
    overhead = grader.benchmark.trusted.overhead(None)
    if overhead is None:
        raise MachineError("launch overhead is not measured without a GPU")
    problem = load_problem(COPY)
    task = Task(problem, Reference(problem), "float32", device, "constant")
    case = whole_case(problem, {"n": 4096})
    for us, calls in LENGTHS:
        file = folder / f"spin_{us}us.cu"
        file.write_text(wait_source(us * 1000))
        spins_s = us * calls * 1e-6
        batches, nulls = [], []
        program = timed_program(built(grader, file, problem, task.dtype))
        with (
            Session(program, device, problem.limits) as session,
            device.exclusive(lambda _: None) as held,
        ):
            fault = session.load()
            cpu = held.runner_cpu
            timed = TimedProgram(
                session, task, name="spin", trusted=False, capture=True, cpu=cpu, idle=overhead.idle
            )
            fault = fault or timed.setup(case, calls)
            timed.estimated_call_s = us * 1e-6
            for block in range(_BLOCKS):
                if fault is not None:
                    raise MachineError(fault.message)
                overhead.warm_up(f"{block}", cpu)
                nulls.append(overhead.time(timed.batch, f"{block}/blank", cpu, spins_s))
                seconds = timed.time(f"{block}", idle_after_s=overhead.after_s)
                if isinstance(seconds, Fault):
                    raise MachineError(seconds.message)
                batches.append(seconds)
            timed.release()
        batch_s, blank_s = (lower_quartile(each[_UNCOUNTED:]) for each in (batches, nulls))
        yield {
            "spin_us": us,
            "calls": calls,
            "batch_s": batch_s,
            "blank_s": blank_s,
            "beyond_s": batch_s - blank_s - spins_s,
        }


def line(row: Row) -> str:
    """The row in words."""
    batch, blank, beyond = (row[f"{name}_s"] * 1e6 for name in ("batch", "blank", "beyond"))
    return (
        f"{row['calls']} x {row['spin_us']} µs: batch {batch:.0f} µs, blank {blank:.0f}, beyond "
        f"both {beyond:+.0f}, a call {beyond / row['calls']:+.2f}"
    )


def constants() -> dict[str, Any]:
    """Print the rows, on the card."""
    rows = []
    device = open_device("cuda")
    with Grader(device, NoProgress()) as grader, tempfile.TemporaryDirectory() as folder:
        for row in constant(grader, device, Path(folder)):
            print(line(row), flush=True)
            rows.append(row)
    return {"rows": rows}
