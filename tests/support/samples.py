"""Results to test with: `result(...)` makes an accepted one, and says what to change."""

import itertools
import math
from datetime import UTC, datetime, timedelta
from typing import Any

from harness.records.build import Build, KernelResources, UsedLibrary
from harness.records.cases import CaseResult, Element, Mismatch
from harness.records.measurement import Interval, Measurement, Score
from harness.records.refs import DeviceRef, Environment, ProblemRef, SolutionRef
from harness.records.result import Result, Verdict

START = datetime(2026, 3, 1, 12, 0, 0, 5, tzinfo=UTC)
_count = itertools.count()


def interval(value: float, relative: float = 0.002) -> Interval:
    """An interval that is symmetric in the log domain; ``relative`` is its half-width."""
    return Interval(value=value, low=value * math.exp(-relative), high=value * math.exp(relative))


def measurement(time_s: float = 12.3e-6, speedup: float = 1.31, **changes: Any) -> Measurement:
    fields: dict[str, Any] = {
        "spec": "m=4096,n=4096,k=4096,alpha=0.01",
        "time_s": interval(time_s),
        "baseline_s": interval(time_s * speedup),
        "speedup": interval(speedup, 0.004),
        "calls_per_batch": 64,
        "captured": True,
        "launch_overhead_s": 1.5e-4,
        "samples_s": (time_s, time_s * 1.001),
        "baseline_samples_s": (time_s * speedup,) * 2,
        "flops": 2.0 * 4096**3,
        "bytes": 3.0 * 4096**2 * 4,
    }
    return Measurement(**fields | changes)


def score(speedup: float = 1.31, relative: float = 0.002, **changes: Any) -> Score:
    fields: dict[str, Any] = {
        "baseline": "PyTorch eager",
        "speedup": interval(speedup, relative),
        "time_s": 12.3e-6,
        "ranked": True,
    }
    return Score(**fields | changes)


def mismatch() -> Mismatch:
    return Mismatch(
        parameter="c",
        differing=12,
        total=33,
        first=Element(index=(0, 3), expected=1.25, got=1.5, allowed=1e-5),
        worst=Element(index=(4, 0), expected=-2.0, got=float("nan"), allowed=2e-5),
    )


def build_with(*libraries: tuple[str, str]) -> Build:
    """A build with libraries, each its name and version."""
    used = tuple(UsedLibrary(name=name, version=version) for name, version in libraries)
    return Build(seconds=1.1, cached=False, target="sm_90", libraries=used)


def result(
    *,
    author: str = "alice",
    name: str = "tiled.cu",
    language: str = "cuda",
    solution_hash: str | None = None,
    problem: str = "gemm",
    problem_hash: str = "p1",
    device: DeviceRef | None = None,
    minutes: float = 0.0,
    harness: str = "0.1.0",
    speedup: float = 1.31,
    relative: float = 0.002,
    **changes: Any,
) -> Result:
    """An accepted, ranked result, ``minutes`` after START."""
    number = next(_count)
    fields: dict[str, Any] = {
        "id": f"r{number:06}",
        "created": START + timedelta(minutes=minutes),
        "problem": ProblemRef(slug=problem, title="Matrix product", hash=problem_hash),
        "solution": SolutionRef(
            author=author,
            name=name,
            language=language,
            hash=f"s{number}" if solution_hash is None else solution_hash,
            path=f"solutions/{problem}/{author}/{name}",
        ),
        "language": language,
        "dtype": "float32",
        "device": device or DeviceRef(kind="cuda", name="NVIDIA H100 80GB HBM3"),
        "verdict": Verdict.ACCEPTED,
        "seed": "123456789",
        "reproduce": "harness submit tiled.cu --seed 123456789",
        "cases": (CaseResult(spec="m=1,n=1,k=1,alpha=0.0", passed=True, seconds=0.001),),
        "build": Build(
            seconds=1.1,
            cached=False,
            target="sm_90",
            kernels=(KernelResources(name="tiled", registers=64, shared_bytes=8192),),
        ),
        "measurements": (measurement(speedup=speedup),),
        "score": score(speedup, relative),
        "environment": Environment(harness=harness, python="3.11.9", platform="Linux"),
    }
    return Result(**fields | changes)


def failed(
    verdict: Verdict = Verdict.WRONG_ANSWER, *, message: str = "wrong", **changes: Any
) -> Result:
    """A result that is not accepted; a wrong answer shows its case."""
    wrong = CaseResult(
        spec="m=33,n=1,k=7,alpha=-0.5", passed=False, message="c differs", mismatch=mismatch()
    )
    fields: dict[str, Any] = {
        "verdict": verdict,
        "message": message,
        "measurements": (),
        "score": None,
        "cases": (wrong,) if verdict is Verdict.WRONG_ANSWER else (),
    }
    return result(**fields | changes)


def unranked(reason: str = "noisy", **changes: Any) -> Result:
    """Accepted, but the judge does not rank it."""
    speedup = changes.get("speedup", 1.31)
    return result(**{"score": score(speedup, ranked=False, unranked_reason=reason)} | changes)
