"""Profile the kernels of one call: NVIDIA's Nsight Compute (``ncu``), run once, apart from grading.

The runner is started by the tool, in the same confinement as ever. It makes one call to warm up and
one more; the tool runs each kernel of both by itself, several times where counters need that, with
caches emptied before and clocks as they are. So its durations are not ranked. Of several cases
(:func:`profile_each`) the tool looks at the second calls alone. What the tool prints
is mixed with what the submission prints, and counters are read inside its process: a profile is for
the author of an honest submission, and proves nothing.

What the tool prints: “Nsight Compute CLI”, *Output Pages* (``raw``: a line of names, a line of
units and a line for each launch, as comma-separated values).
"""

import contextlib
import csv
import math
import socket
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

from harness.errors import MachineError
from harness.judge.batch import Batch
from harness.judge.layout import lay_out
from harness.judge.task import Task
from harness.languages.build.toolchain import find_tool
from harness.problem.case import Case
from harness.records.profile import KernelProfile, Profile
from harness.records.result import Verdict
from harness.runner.driver import END_OF_CALLS
from harness.session.fault import Fault
from harness.session.programs import RunnerProgram
from harness.session.runs import RunOptions
from harness.session.session import Session

TOOL = "ncu"
REMEDY = (
    "--profile needs Nsight Compute: there is no ncu on PATH, in $CUDA_HOME/bin or beside nvcc. It "
    "comes with the CUDA toolkit (package nsight-compute)"
)

METRICS = {
    "gpu__time_duration.sum": "duration_s",
    "dram__bytes_read.sum": "read_bytes",
    "dram__bytes_write.sum": "written_bytes",
    "sm__throughput.avg.pct_of_peak_sustained_elapsed": "sm",
    "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed": "memory",
    "sm__warps_active.avg.pct_of_peak_sustained_active": "occupancy",
}
"""The tool's names, and those of :class:`harness.records.profile.KernelProfile`."""

TRAFFIC = ("gpu__time_duration.sum", "dram__bytes_read.sum", "dram__bytes_write.sum")
"""Those of them that one run of a kernel gives all at once."""

MAX_LAUNCHES = 100
"""Launches of a call, or of two, that are looked at."""

_OPTIONS = (
    "--csv", "--page", "raw", "--print-units", "base",
    "--target-processes", "all", "--clock-control", "none",
)  # fmt: skip
_WHEN_TOLD = ("--profile-from-start", "off")
_SECONDS, _END_SECONDS, _POLL_SECONDS = 120.0, 60.0, 0.05
_LINE, _NAME = 1 << 18, 300
"""Characters of a line (with hundreds of the card's attributes), and of a kernel's name."""

_UNITS = {
    "": 1.0, "%": 0.01,
    "byte": 1.0, "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9,
    "s": 1.0, "second": 1.0, "ms": 1e-3, "msecond": 1e-3,
    "us": 1e-6, "usecond": 1e-6, "ns": 1e-9, "nsecond": 1e-9,
}  # fmt: skip
_CUT, _NO_COUNTERS = "more bytes were printed]", "ERR_NVGPUCTRPERM"
_FORBIDDEN = (
    "this machine lets only administrators read the GPU's counters, and a submission never runs as "
    "one: load the driver with NVreg_RestrictProfilingToAdminUsers=0 "
    "(developer.nvidia.com/ERR_NVGPUCTRPERM)"
)


def find_profiler() -> Path | None:
    """``ncu`` on PATH, in $CUDA_HOME/bin or beside nvcc."""
    return find_tool(TOOL)


def profile(
    task: Task,
    case: Case,
    program: RunnerProgram,
    tool: Path,
    *,
    metrics: Iterable[str] = METRICS,
) -> Profile | str:
    """Profile the kernels of one call of ``case``; or say in words why that is not possible.

    ``metrics`` are those of :data:`METRICS` to ask for; the others stay None.

    Raises:
        MachineError: the device has no room.
    """
    with _session(task, _under(program, tool, metrics, MAX_LAUNCHES)) as session:
        fault = _load(session) or _call(session, task, case)
        if fault is None:
            _let_go(session)
        output = session.output()
    launches = _launches(output, fault, MAX_LAUNCHES)
    if isinstance(launches, str):
        return launches
    kernels, known = last_call(launches)
    whole = not output.endswith(_CUT)
    return Profile(spec=case.spec, kernels=kernels if whole else launches, one_call=known and whole)


def profile_each(
    task: Task,
    cases: Sequence[Case],
    program: RunnerProgram,
    tool: Path,
    *,
    metrics: Iterable[str] = METRICS,
    seconds: float = _SECONDS,
) -> list[Profile] | str:
    """Profile the kernels of one call of each case in one run of the tool; or say why not.

    The tool starts to look when the runner says so (``cuProfilerStart``), after calls of all cases
    that warm up: kernels compile and tune themselves as they would without it, and a compiler that
    it looks at may never end. Each call ends with a kernel of the runner's. ``metrics`` are as for
    :func:`profile`; a call has ``seconds`` at most.

    Raises:
        MachineError: the device has no room.
    """
    most = (MAX_LAUNCHES + 1) * len(cases)
    watched = _under(program, tool, metrics, most, *_WHEN_TOLD)
    with _session(task, watched, seconds) as session:
        warm_ups = (_call(session, task, case, run=False) for case in cases)
        calls = (_call(session, task, case, told=True) for case in cases)
        fault = _load(session) or next(filter(None, chain(warm_ups, calls)), None)
        if fault is None:
            _let_go(session)
        output = session.output()
    launches = _launches(output, fault, most)
    if isinstance(launches, str):
        return launches
    told = calls_of(launches)
    if len(told) != len(cases) or output.endswith(_CUT):
        said = f"{len(launches)} launches, in {len(told)} calls that ended, of {len(cases)}"
        return f"{TOOL} told of {said}"
    if not all(told):
        return "a call launches no kernel"
    pairs = zip(cases, told, strict=True)
    return [Profile(spec=case.spec, kernels=kernels, one_call=True) for case, kernels in pairs]


def _under(
    program: RunnerProgram, tool: Path, metrics: Iterable[str], launches: int, *more: str
) -> RunnerProgram:
    """``program``, started by the tool."""
    wanted = ("--metrics", ",".join(metrics), "--launch-count", str(launches))
    return replace(program, wrapper=(str(tool), *_OPTIONS, *wanted, *more))


def _session(task: Task, program: RunnerProgram, seconds: float = _SECONDS) -> Session:
    limits = replace(task.problem.limits, call_s=seconds, prepare_s=seconds)
    return Session(program, task.device, limits)


def _load(session: Session) -> Fault | None:
    try:
        session.start()
    except MachineError as error:  # it is the tool that starts the runner
        return Fault(Verdict.INTERNAL_ERROR, str(error))
    return session.load()


def _call(
    session: Session, task: Task, case: Case, *, run: bool = True, told: bool = False
) -> Fault | None:
    """The fault of one call to warm up and, if it is to ``run``, one more; None if both went well.

    ``told``: the tool is told of the second.
    """
    with contextlib.closing(task.device.arena(lay_out(task, case, 1).size)) as arena:
        if (fault := session.map(arena)) is not None:
            return fault
        batch = Batch(task, case, arena, calls=1, alike=True)
        batch.fill(f"{task.seed}/warm-up")
        task.device.synchronize()
        prepared = session.prepare(batch, RunOptions(warmups=1))
        if isinstance(prepared, Fault):
            return prepared
        if not run:
            return session.unmap()
        seconds = session.run(batch, f"{task.seed}/profile", profiled=told)
        return seconds if isinstance(seconds, Fault) else session.unmap()


def _launches(output: str, fault: Fault | None, most: int) -> tuple[KernelProfile, ...] | str:
    """The launches that the tool's ``output`` tells of; or why there are none."""
    if _NO_COUNTERS in output:
        return _FORBIDDEN
    if fault is not None:
        return f"under {TOOL} it failed: {fault.message}"
    printed = output[-2000:].strip() or "nothing"
    return read_launches(output, most) or f"{TOOL} told of no kernel; it printed\n{printed}"


def _let_go(session: Session) -> None:
    """Let the runner end by itself, and the tool with it, which prints its table then."""
    sandbox = session._sandbox
    sandbox.resume()
    with contextlib.suppress(OSError):
        sandbox.channel.shutdown(socket.SHUT_RDWR)
    deadline = time.monotonic() + _END_SECONDS
    while sandbox.ended() is None and time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)


def read_launches(output: str, most: int = MAX_LAUNCHES) -> tuple[KernelProfile, ...]:
    """The first launches in the tool's table, in order; lines that are not of it are left out."""
    names: list[str] = []
    units: list[str] = []
    found: list[KernelProfile] = []
    for line in output.splitlines():
        cells = _cells(line)
        if not names:
            names = cells if line.startswith('"ID"') and "Kernel Name" in cells else []
        elif len(cells) != len(names):
            continue
        elif not units and not cells[0]:
            units = cells
        elif cells[0].isdecimal() and len(found) < most:
            pairs = zip(cells, units or cells, strict=True)
            found.append(_launch(dict(zip(names, pairs, strict=True))))
    return tuple(found)


def _launch(row: dict[str, tuple[str, str]]) -> KernelProfile:
    numbers = {key: _number(*row.get(metric, ("", ""))) for metric, key in METRICS.items()}
    texts = [row.get(name, ("", ""))[0] for name in ("Kernel Name", "Grid Size", "Block Size")]
    name, grid, block = (text[:_NAME] for text in texts)
    return KernelProfile(name=name, grid=grid, block=block, **numbers)


def _cells(line: str) -> list[str]:
    try:
        return next(csv.reader([line[:_LINE]], strict=True), [])
    except csv.Error:
        return []


def _number(text: str, unit: str) -> float | None:
    """A number in SI units, percentages as parts of 1; None if it is none, or negative."""
    try:
        value = float(text.replace(",", "")) * _UNITS[unit]
    except (KeyError, ValueError):
        return None
    return value if math.isfinite(value) and value >= 0 else None


def last_call(launches: Sequence[KernelProfile]) -> tuple[tuple[KernelProfile, ...], bool]:
    """The launches of the second of two calls, and whether these are known.

    Else (the first call tuned itself, or the table has no room for all) these are all launches.
    """
    half = len(launches) // 2
    names = [kernel.name for kernel in launches]
    known = names[:half] == names[half:] and len(launches) < MAX_LAUNCHES
    return tuple(launches[half:] if known else launches), known


def calls_of(launches: Sequence[KernelProfile]) -> list[tuple[KernelProfile, ...]]:
    """The launches of each call that ended, which the runner's own kernel says."""
    calls: list[tuple[KernelProfile, ...]] = []
    since = 0
    for number, kernel in enumerate(launches):
        if kernel.name.partition("(")[0] == END_OF_CALLS:
            calls.append(tuple(launches[since:number]))
            since = number + 1
    return calls
