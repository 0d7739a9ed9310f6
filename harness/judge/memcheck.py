"""Find where a kernel accessed memory that is not its own: NVIDIA's compute-sanitizer, run once.

After a fault that names no place the case is run again in the same confinement, with the runner
started by the tool; libraries are built with line numbers. The submission can forge a report, since
both print to one pipe, and gains no more than a wrong hint about itself. The judge's buffers are
one allocation: an access is reported when it leaves all of it, or is not aligned.

What the reports look like: “Compute Sanitizer User Manual”, Memcheck tool.
"""

import re
import time
from contextlib import closing
from dataclasses import replace

from harness.judge.batch import Batch
from harness.judge.cases import run_case
from harness.judge.layout import lay_out
from harness.judge.task import Task
from harness.languages.build.toolchain import find_tool
from harness.problem.case import Case
from harness.problem.sampling.footprint import calls_at_once
from harness.session.programs import RunnerProgram
from harness.session.session import Session

TOOL = "compute-sanitizer"
FAULTS = frozenset({700, 714, 715, 716, 717, 718, 719})
"""CUDA's errors for a kernel that did something invalid with memory, or ran into a trap."""

_OPTIONS = ("--tool", "memcheck", "--target-processes", "all", "--print-limit", "1")
_SECONDS, _REPORT_SECONDS, _POLL_SECONDS = 60.0, 5.0, 0.1
_CODE = re.compile(r"CUDA error (\d{1,5})\b")
_INVALID = re.compile(
    r"^=+ ((?:Invalid|Misaligned|Out-of-range|Illegal|Stack overflow)[^\n]{0,200})\n"
    r"((?:=+ [^\n]{0,500}\n?){0,12})",
    re.MULTILINE | re.IGNORECASE,
)
_PLACE = re.compile(r"\bsolution\.cu:(\d{1,7})\b")
_THREAD = re.compile(r"by thread (\(\d+,\d+,\d+\)) in block (\(\d+,\d+,\d+\))")


def is_memory_fault(message: str) -> bool:
    """Whether a fault's message is about an access that the GPU refused."""
    return any(int(code) in FAULTS for code in _CODE.findall(message[:4000]))


def first_report(output: str) -> str | None:
    """The first complaint of the tool in one line, or None: untrusted text, capped.

    “Invalid __global__ read of size 4 bytes at solution.cu:17 by thread (0,1,0) in block (2,0,0)”
    """
    found = _INVALID.search(output[: 64 * 1024])
    if found is None:
        return None
    place, thread = _PLACE.search(found[2]), _THREAD.search(found[2])
    where = f" at solution.cu:{place[1]}" if place else ""
    by = f" by thread {thread[1]} in block {thread[2]}" if thread else ""
    return found[1].strip() + where + by


def locate(task: Task, case: Case, program: RunnerProgram) -> str | None:
    """The tool's first report on ``case``; None where there is no tool, or it reports nothing.

    Raises:
        MachineError: the sandbox does not start, the device has no room.
    """
    tool = find_tool(TOOL)
    if tool is None or program.kind != "library" or task.device.emulated:
        return None
    watched = replace(program, wrapper=(str(tool), *_OPTIONS))
    limits = replace(task.problem.limits, call_s=_SECONDS, prepare_s=_SECONDS)
    with Session(watched, task.device, limits) as session:
        if session.load() is not None:
            return None
        with closing(task.device.arena(lay_out(task, case, calls_at_once(case)).size)) as arena:
            if session.map(arena) is not None:
                return None
            batch = Batch(task, case, arena, calls=calls_at_once(case), portable=True)
            failed = run_case(session, task, batch, [0]).fault is not None
            return _await_report(session) if failed else None


def _await_report(session: Session) -> str | None:
    """The first complete report, waiting a little: the tool prints after the fault is known."""
    deadline = time.monotonic() + _REPORT_SECONDS
    while True:
        report = first_report(session.output())
        if (report and " by thread " in report) or time.monotonic() >= deadline:
            return report
        time.sleep(_POLL_SECONDS)
