"""What the kernels of the ways move: by Nsight Compute, or in the data of an earlier run.

One run of the tool has all shapes of a way.
"""

import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.fusion.ways import Key, Way
from harness.errors import JudgeError
from harness.records.profile import KernelProfile, Profile

if TYPE_CHECKING:
    from harness.device.base import Device
    from harness.grading.grader import Grader
    from harness.problem.gradable import AnswerKey
    from harness.session.programs import RunnerProgram

Data = dict[str, Any]
Launches = list[Profile] | str
"""Those of one call for each timed shape; or why they are not known."""

_WORKERS = 6
"""Ways that are built side by side."""
_LEAST_S, _MOST_S = 10.0, 60.0
"""Seconds of a call under the tool: what is left, but no less and no more than these."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceilings:
    """What the card can do at most, as the judge measures it."""

    bandwidth: float
    """Bytes a second."""
    peaks: Mapping[str, float | None]
    """By problem: floating-point operations a second in its data type; None for integers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What was seen of the ways on a card."""

    ceilings: Ceilings | None
    calls: Mapping[Key, Launches]
    """The launches of one call for each timed shape; or why these are not known."""


def kept(some: Iterable[Way], data: Data, card: str) -> dict[Key, Launches]:
    """The launches in the ``data`` of an earlier run, where all is as it was then."""
    if not data or data["card"] != card:
        return {}
    rows = {
        (each["problem"], each["problem_hash"], each["dtype"]): each for each in data["problems"]
    }
    found: dict[Key, Launches] = {}
    for way in some:
        row = rows.get((way.problem.slug, way.problem.hash, way.dtype))
        if row is None or row["ways"][way.name]["hash"] != way.hash:
            continue
        shapes: list[Data] = row["ways"][way.name]["shapes"]
        if all(shape["kernels"] for shape in shapes):
            found[way.key] = [_profile(shape) for shape in shapes]
    return found


def _profile(shape: Data) -> Profile:
    kernels = (KernelProfile(grid="", block="", **kernel) for kernel in shape["kernels"])
    return Profile(spec=shape["spec"], kernels=tuple(kernels), one_call=True)


def ceilings_of(data: Data, card: str) -> Ceilings | None:
    """What the ``data`` of an earlier run say of this card."""
    if not data or data["card"] != card or data["bandwidth"] is None:
        return None
    peaks = {each["problem"]: each["peak"] for each in data["problems"]}
    return Ceilings(bandwidth=data["bandwidth"], peaks=peaks)


def profiled(
    some: Sequence[Way],
    known: Mapping[Key, Launches],
    ceilings: Ceilings | None,
    seconds: float,
) -> Seen:
    """What is ``known`` already, and of the other ways what the card here shows."""
    left = [way for way in some if way.key not in known]
    if not left and ceilings is not None and all(w.problem.slug in ceilings.peaks for w in some):
        return Seen(ceilings=ceilings, calls=known)
    from harness.device.present import gpu_present

    if not gpu_present():
        calls = {way.key: "not profiled yet" for way in left}
        return Seen(ceilings=ceilings, calls={**known, **calls})
    from harness.device.choose import open_device
    from harness.device.roofline import Roofline

    deadline = time.monotonic() + seconds
    device = open_device("cuda")
    with device.exclusive(lambda s: print(f"waiting for the GPU, {s:.0f} s", file=sys.stderr)):
        roofline = Roofline(device)
        peaks = {}
        for way in some:
            cost = way.problem.work(way.problem.timed_cases(emulated=False)[0], way.dtype)
            peaks[way.problem.slug] = roofline.peak(_element(way.dtype), tf32=cost.tf32)
        ceilings = Ceilings(bandwidth=roofline.bandwidth(), peaks=peaks)
        return Seen(ceilings=ceilings, calls={**known, **_on(device, left, deadline)})


def _element(dtype: str) -> Any:
    import torch

    return getattr(torch, dtype)


def _on(device: "Device", some: Sequence[Way], deadline: float) -> dict[Key, Launches]:
    """The launches of each way on the card ``device``, which is held."""
    import torch

    from harness.grading.grader import Grader
    from harness.judge.profile import REMEDY, find_profiler
    from harness.progress.progress import NoProgress

    tool = find_profiler()
    if tool is None:
        return {way.key: REMEDY for way in some}
    answers = {way.problem.slug: way.problem.reference() for way in some}
    found: dict[Key, Launches] = {}
    started = time.monotonic()
    # The driver's context is a thread's own: a tensor makes it that of a new one.
    own = partial(torch.empty, 1, device=device.torch_device)
    with Grader(device, NoProgress()) as grader:
        with ThreadPoolExecutor(_WORKERS, initializer=own) as pool:
            built = list(pool.map(partial(_built, grader), some))
        # One after the other: of two that are profiled at once, one waits for the other's end.
        for way, made in zip(some, built, strict=True):
            told: Launches
            try:
                told = _launches(device, way, answers[way.problem.slug], made, tool, deadline)
            except JudgeError as error:
                told = str(error)
            found[way.key] = told
            said = told if isinstance(told, str) else f"{[len(p.kernels) for p in told]} launches"
            spent = time.monotonic() - started
            print(f"{spent:6.1f} s {' '.join(way.key)}: {said[:300]}", file=sys.stderr, flush=True)
    return found


def _built(grader: "Grader", way: Way) -> "RunnerProgram | str":
    """What the runner is to load of a way; or why there is no such thing."""
    from harness.grading.job import Job, Options
    from harness.languages.read import read_solution
    from harness.session.programs import timed_program
    from harness.solution.model import BuildFailure

    if way.file is None:
        return "no such sample"
    solution = read_solution(way.file, problem=way.problem.slug, author=way.name)
    job = Job(path=str(way.file), solution=solution, problem=way.problem)
    try:
        built = grader.build(job, Options(dtype=way.dtype), ahead=True)
    except JudgeError as error:
        return str(error)
    return built.message if isinstance(built, BuildFailure) else timed_program(built)


def _launches(
    device: "Device",
    way: Way,
    answers: "AnswerKey",
    program: "RunnerProgram | str",
    tool: Path,
    deadline: float,
) -> Launches:
    """One call of each timed shape of a way, in one run of the profiler."""
    from harness.judge.profile import TRAFFIC, profile_each
    from harness.judge.task import Task

    if isinstance(program, str):
        return program
    if (left := deadline - time.monotonic()) < 0:
        return "no time was left for it"
    task = Task(way.problem, answers, way.dtype, device, seed="fusion")
    cases = way.problem.timed_cases(emulated=False)
    most_s = max(_LEAST_S, min(_MOST_S, left))
    return profile_each(task, cases, program, tool, metrics=TRAFFIC, seconds=most_s)
