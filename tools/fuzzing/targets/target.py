"""A target of fuzzing, and what the modules of targets share."""

import atexit
import functools
import io
import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from support.samples import failed, interval, measurement, mismatch, result

from harness.records.build import Build
from harness.records.cases import CaseResult, ShrunkCase, TensorValues
from harness.records.measurement import Conditions
from harness.records.result import Result, Verdict
from harness.report.terminal import render_result
from tools import ROOT

PROBLEMS = ROOT / "problems"
_SAMPLES = ROOT / "tests/tools/fuzzing/seeds"


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One reader: what to call, what to begin with, and words that its input is made of."""

    name: str
    run: Callable[[bytes], None]
    seeds: tuple[bytes, ...]
    words: tuple[str, ...] = ()
    most: int = 4096
    """Longest input, bytes."""


@functools.cache
def scratch() -> Path:
    """A folder of this process's own. Under libFuzzer, which ends without asking, its parent's."""
    if given := os.environ.get("FUZZING_SCRATCH"):
        return Path(given)
    folder = Path(tempfile.mkdtemp(prefix="fuzzing-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def decoded(data: bytes) -> str:
    """The bytes as text, with marks for what is no UTF-8."""
    return data.decode("utf-8", "replace")


def sample(name: str) -> bytes:
    """A file of the seeds' folder."""
    return (_SAMPLES / name).read_bytes()


def render(result: Result) -> None:
    """Show a result as the terminal does; it must not raise."""
    render_result(result, Console(file=io.StringIO(), width=80))


ACCEPTED = result(
    notes=("a note",),
    conditions=Conditions(
        clock_mhz=(1200, 1980),
        temperature_c=50,
        power_w=300.0,
        throttle=("power",),
        other_processes=1,
        readings=3,
    ),
    measurements=(measurement(kernels=1.0, isolated_s=interval(2e-5), sol_time_s=1e-5),),
)
_SMALL = CaseResult(spec="m=3,n=1", passed=False, message="c differs", mismatch=mismatch())
_VALUES = TensorValues(
    parameter="c", role="got", shape=(2, 2), values=((1, 2.5), (3, float("nan")))
)
WRONG = failed(
    output="printed\n",
    shrunk=ShrunkCase(case=_SMALL, trials=3, seconds=1.5, tensors=(_VALUES,)),
)
UNBUILT = failed(
    Verdict.COMPILE_ERROR,
    message="solution.cu:3:1: error: no",
    build=Build(seconds=1.0, cached=True, target="sm_90", log="solution.cu:3:1: error: no\n"),
)

HUGE = b"9" * 4000
"""More than a float holds, and just what the JSON parser still takes for an integer."""
JSON_WORDS = ('"type"', '"failed"', '"fault"', '"message"', "null", "true", "NaN", "-1e999", "[[[")
