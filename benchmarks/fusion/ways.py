"""The files that are held against each other: edit :data:`FUSED` when there are faster ones."""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from benchmarks import ROOT
from harness.problem.format.load import load_problem
from harness.problem.package import Problem

FUSED: Mapping[str, tuple[str | None, str | None]] = {
    "gemm-bias": ("addmm.py", "tma.py"),
    "gemm-bias-relu": ("addmm.py", "tma.py"),
    "gemm-bias-gelu": ("mm_then_one_pass.py", "tma.py"),
    "gemm-multiply-leakyrelu": ("mm_then_one_pass.py", "tma.py"),
    "linear": ("addmm.py", "tma.py"),
    "linear-scale-leakyrelu": ("addmm_then_one_pass.py", "tma.py"),
    "gemm-alpha-beta": (None, "tma.py"),
    "matmul-bias-relu": ("mm_then_one_pass.py", "triton.py"),
    "softmax": (None, "one_pass.cu"),
    "layer-norm": (None, "one_pass.cu"),
    "fft-filter": ("nvmath.py", "fused.cu"),
}
"""By problem the samples that fuse: as much as a library does, and the fastest one by hand.

None where there is no such file.
"""

UNFUSED, LIBRARY, HAND = WAYS = ("unfused", "library", "hand")
_BASELINE = "pytorch"
_PREFERRED = "float16"

Key = tuple[str, str]
"""Slug of a problem, and a way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One file that solves a problem in a data type."""

    name: str
    """One of :data:`WAYS`."""
    problem: Problem
    dtype: str
    file: Path | None
    """None where there is no such file."""

    @property
    def key(self) -> Key:
        """What it is found by."""
        return self.problem.slug, self.name

    @property
    def hash(self) -> str:
        """SHA-256 of the file, as results have it; empty without one."""
        return "" if self.file is None else sha256(self.file.read_bytes()).hexdigest()

    @property
    def shown(self) -> str | None:
        """The file's path in the repository."""
        if self.file is None:
            return None
        inside = self.file.is_relative_to(ROOT)
        return str(self.file.relative_to(ROOT)) if inside else self.file.name


def ways(slug: str, dtype: str | None = None) -> list[Way]:
    """The ways of a problem, in ``dtype`` or in what is chosen for it.

    Raises:
        SystemExit: it is none of :data:`FUSED`, or has not that data type.
    """
    if slug not in FUSED:
        raise SystemExit(f"{slug}: the problems are {', '.join(FUSED)}")
    problem = load_problem(ROOT / "problems" / slug)
    chosen = dtype or (_PREFERRED if _PREFERRED in problem.dtypes else problem.dtypes[0])
    if chosen not in problem.dtypes:
        raise SystemExit(f"--dtype {chosen}: {slug} has {', '.join(problem.dtypes)}")
    samples = (name and ROOT / "solutions" / slug / "samples" / name for name in FUSED[slug])
    files = (problem.baselines[_BASELINE], *samples)
    return [
        Way(name=name, problem=problem, dtype=chosen, file=file if file and file.exists() else None)
        for name, file in zip(WAYS, files, strict=True)
    ]
