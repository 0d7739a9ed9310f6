"""What is on the ladder."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks import ROOT

COPY = Path(__file__).with_name("copy")

SPINS_US = (2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000)
COPIES_MIB = (1, 4, 16, 64, 256)
ELEMENTS = (1 << 14, 1 << 20, 1 << 24)
GEMMS = {"naive": (512,), "tiled": (256, 512, 1024), "register_blocked": (2048, 4096)}
LIBRARY_GEMMS = (512, 1024, 2048, 4096)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rung:
    """A kernel at one size: the file, the folder of its problem, its sizes and scalars."""

    kind: str
    name: str
    file: Path
    problem: Path
    values: Mapping[str, float]


def spin_source(cycles: int) -> str:
    """A kernel that takes about ``cycles`` of the SM's clock, whatever that is just then."""
    return (COPY / "spin.cu").read_text().replace("CYCLES", str(cycles))


def wait_source(nanoseconds: int) -> str:
    """A kernel that spins so long, and up to a tick of the device's timer more, at any clock."""
    return (COPY / "wait.cu").read_text().replace("NANOSECONDS", str(nanoseconds))


def rungs(folder: Path) -> Iterator[Rung]:
    """All rungs, the shortest kind first; what has to be written is written to ``folder``."""
    values: dict[str, float]
    for us in SPINS_US:
        file = folder / f"spin_{us}us.cu"
        file.write_text(wait_source(us * 1000))
        values = {"n": 4096}
        yield Rung(kind="spin", name=f"spin {us} µs", file=file, problem=COPY, values=values)
    for mib in COPIES_MIB:
        yield Rung(
            kind="copy", name=f"copy {mib} MiB", file=COPY / "copy.cu", problem=COPY,
            values={"n": mib << 18},
        )  # fmt: skip
    for n in ELEMENTS:
        yield _shipped("elementwise", "vector-add", "vectorized.cu", f"sum of {n}", {"n": n})
    for kernel, sides in GEMMS.items():
        for side in sides:
            values = {"m": side, "n": side, "k": side, "alpha": 0.01}
            name = f"{kernel} GEMM {side}"
            yield _shipped("gemm", "gemm-multiply-leakyrelu", f"{kernel}.cu", name, values)
    for side in LIBRARY_GEMMS:
        values = {"m": side, "n": side, "k": side}
        yield _baseline("library", "matmul-large-k", f"cuBLAS {side}", values)
    for side in (1024, 4096):
        values = {"m": side, "n": side, "k": side, "alpha": 0.01}
        yield _baseline("chain", "gemm-multiply-leakyrelu", f"three kernels {side}", values)
    for m in (1024, 16384):
        values = {"m": m, "n": 4096}
        yield _shipped("triton", "softmax", "triton.py", f"Triton softmax {m}×4096", values)


def _shipped(kind: str, slug: str, file: str, name: str, values: Mapping[str, float]) -> Rung:
    path = ROOT / "solutions" / slug / "samples" / file
    return Rung(kind=kind, name=name, file=path, problem=ROOT / "problems" / slug, values=values)


def _baseline(kind: str, slug: str, name: str, values: Mapping[str, float]) -> Rung:
    problem = ROOT / "problems" / slug
    path = problem / "baselines" / "pytorch.py"
    return Rung(kind=kind, name=name, file=path, problem=problem, values=values)
