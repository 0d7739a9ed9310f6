"""Find where a kernel accessed memory that is not its own: NVIDIA's compute-sanitizer, run once.

A GPU says that something was wrong, not what. After such a fault the case is run again in the same
confinement, with the runner started by the tool; libraries are built with line numbers. What the
tool prints is mixed with what the submission prints, so a submission can forge a report; it gains
no more than a wrong hint about itself.

The judge's buffers are one allocation, which the tool does not see into: an access is reported
when it leaves all of it, or is not aligned, as the fault itself does.

What the reports look like: “Compute Sanitizer User Manual”, Memcheck tool.
"""

import re
import time
from dataclasses import replace

from harness.judge.batch import Batch, lay_out
from harness.judge.cases import run_case
from harness.judge.task import Task
from harness.languages.build.toolchain import find_tool
from harness.problem.case import Case
from harness.problem.sampling.footprint import CALLS
from harness.session.programs import RunnerProgram
from harness.session.session import Session

TOOL = "compute-sanitizer"
FAULTS = frozenset({700, 714, 715, 716, 717, 718, 719})
"""CUDA's errors for a kernel that did something invalid with memory, or ran into a trap."""

_OPTIONS = ("--tool", "memcheck", "--target-processes", "all", "--print-limit", "1")
_SECONDS = 60.0
_REPORT_SECONDS = 5.0
_POLL_SECONDS = 0.1
_TEXT = 64 * 1024
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
    found = _INVALID.search(output[:_TEXT])
    if found is None:
        return None
    what, rest = found[1].strip(), found[2]
    place, thread = _PLACE.search(rest), _THREAD.search(rest)
    parts = [what]
    if place:
        parts.append(f"at solution.cu:{place[1]}")
    if thread:
        parts.append(f"by thread {thread[1]} in block {thread[2]}")
    return " ".join(parts)


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
        arena = task.device.arena(lay_out(task, case, CALLS).size)
        try:
            if session.map(arena) is not None:
                return None
            batch = Batch(task, case, arena, calls=CALLS, portable=True)
            if run_case(session, task, batch, [0]).fault is None:
                return None
            return _await_report(session)
        finally:
            arena.close()


def _await_report(session: Session) -> str | None:
    """The first complete report, waiting a little: the tool prints after the fault is known."""
    deadline = time.monotonic() + _REPORT_SECONDS
    while time.monotonic() < deadline:
        report = first_report(session.output())
        if report is not None and " by thread " in report:
            return report
        time.sleep(_POLL_SECONDS)
    return first_report(session.output())
