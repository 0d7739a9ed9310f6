"""Honest and dishonest ways of computing the shipped GEMM problem, and how far off each is.

``python tests/support/error_model.py`` prints the tables of docs/data/error-model.txt: for each way
and each length k the greatest error over what is allowed. Up to 1 passes.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor

from harness.problem.case import Case
from harness.problem.format.load import load_problem
from harness.problem.package import Problem
from harness.problem.reference import Reference
from support.drawing import draw_tensor

PROBLEM = load_problem(Path(__file__).resolve().parents[2] / "problems" / "gemm-multiply-leakyrelu")

assert PROBLEM.tolerance is not None
CUT_PROBLEM = replace(PROBLEM, tolerance=replace(PROBLEM.tolerance, inputs={"float32": "tf32"}))
"""The same problem, but for float32 factors that may be cut to TF32."""

Product = Callable[[Tensor, Tensor], Tensor]


def cut(x: Tensor, bits: int) -> Tensor:
    """Round float64 ``x`` to ``bits`` significant bits, to nearest."""
    mantissa, exponent = torch.frexp(x)
    return torch.ldexp((mantissa * 2.0**bits).round() / 2.0**bits, exponent)


def chop(x: Tensor, bits: int) -> Tensor:
    """Cut float64 ``x`` off after ``bits`` significant bits, as tensor cores do when they read."""
    mantissa, exponent = torch.frexp(x)
    return torch.ldexp((mantissa * 2.0**bits).trunc() / 2.0**bits, exponent)


def sequential(kind: torch.dtype, steps: int = 1) -> Product:
    """Sum in ``kind``, in order, rounding after every ``steps`` products."""

    def product(a: Tensor, b: Tensor) -> Tensor:
        total = torch.zeros(a.shape[0], b.shape[1], dtype=kind)
        for start in range(0, a.shape[1], steps):
            stop = start + steps
            part = a[:, start:stop].double() @ b[start:stop].double()
            total = (total.double() + part).to(kind)
        return total

    return product


def tensor_core(a: Tensor, b: Tensor) -> Tensor:
    """Sixteen products at a time onto a float32 accumulator that is truncated, not rounded."""
    total = torch.zeros(a.shape[0], b.shape[1], dtype=torch.float64)
    for start in range(0, a.shape[1], 16):
        total += a[:, start : start + 16].double() @ b[start : start + 16].double()
        mantissa, exponent = torch.frexp(total)
        total = torch.ldexp((mantissa * 2.0**24).trunc() / 2.0**24, exponent)
    return total.float()


def split(kind: torch.dtype, parts: int) -> Product:
    """``parts`` partial sums in order, then added up."""

    def product(a: Tensor, b: Tensor) -> Tensor:
        step = -(-a.shape[1] // parts)
        total = torch.zeros(a.shape[0], b.shape[1], dtype=kind)
        for start in range(0, a.shape[1], step):
            total += sequential(kind)(a[:, start : start + step], b[start : start + step])
        return total

    return product


def tree(a: Tensor, b: Tensor) -> Tensor:
    """Pairwise summation in float32."""
    terms = a.float().T[:, :, None] * b.float()[:, None, :]
    while terms.shape[0] > 1:
        half = terms.shape[0] // 2
        rest = terms[2 * half :]
        terms = torch.cat([terms[:half] + terms[half : 2 * half], rest])
    return terms[0]


def exact(bits: int) -> Product:
    """Inputs cut to ``bits`` significant bits, everything else exact."""
    return lambda a, b: cut(a.double(), bits) @ cut(b.double(), bits)


def on_tensor_cores(shorten: Callable[[Tensor, int], Tensor], bits: int) -> Product:
    """Inputs shortened to ``bits`` significant bits, sums in truncated float32."""
    return lambda a, b: tensor_core(shorten(a.double(), bits), shorten(b.double(), bits))


def library(a: Tensor, b: Tensor) -> Tensor:
    return a.float() @ b.float()


def _activate(x: Tensor, alpha: float) -> Tensor:
    return torch.where(x >= 0, x, x * alpha)


def fused(product: Product) -> Callable[..., Tensor]:
    """One rounding to the storage type, at the end."""

    def run(a: Tensor, b: Tensor, c: Tensor, alpha: float) -> Tensor:
        p = product(a, b)
        return _activate(p * c.to(p.dtype), alpha).to(a.dtype)

    return run


def unfused(product: Product) -> Callable[..., Tensor]:
    """Every one of the three steps rounds to the storage type."""

    def run(a: Tensor, b: Tensor, c: Tensor, alpha: float) -> Tensor:
        g = product(a, b).to(a.dtype)
        return torch.nn.functional.leaky_relu(g * c, alpha)

    return run


def _off_by_one(a: Tensor, b: Tensor, c: Tensor, alpha: float) -> Tensor:
    g = a[:, :-1].double() @ b[:-1].double()
    return _activate(g * c, alpha).to(a.dtype)


def _no_alpha(a: Tensor, b: Tensor, c: Tensor, alpha: float) -> Tensor:
    return _activate((a.double() @ b.double()) * c, 0.01).to(a.dtype)


HONEST: dict[str, dict[str, Callable[..., Tensor]]] = {
    "float32": {
        "sequential": fused(sequential(torch.float32)),
        "pairwise": fused(tree),
        "split-K by 8": fused(split(torch.float32, 8)),
        "library": fused(library),
        "float64 inside": fused(exact(53)),
        "3×TF32 (hi+lo)": fused(exact(22)),
    },
    "float16": {
        "fused, sequential": fused(sequential(torch.float32)),
        "fused, truncating": fused(tensor_core),
        "unfused": unfused(sequential(torch.float32)),
        "unfused, truncating": unfused(tensor_core),
        "float64 inside": fused(exact(53)),
    },
}
HONEST["bfloat16"] = HONEST["float16"]

HONEST["float64"] = {
    "sequential": fused(sequential(torch.float64)),
    "split-K by 8": fused(split(torch.float64, 8)),
    "library": fused(lambda a, b: a @ b),
}
HONEST_CUT: dict[str, Callable[..., Tensor]] = {
    "TF32, rounded": fused(on_tensor_cores(cut, 11)),
    "TF32, truncated": fused(on_tensor_cores(chop, 11)),
    "float32": fused(library),
}
IMPOSTORS_CUT: dict[str, Callable[..., Tensor]] = {
    "bfloat16, rounded": fused(on_tensor_cores(cut, 8)),
    "bfloat16, truncated": fused(on_tensor_cores(chop, 8)),
    "last k missed": _off_by_one,
    "alpha ignored": _no_alpha,
}

IMPOSTORS: dict[str, dict[str, Callable[..., Tensor]]] = {
    "float32": {
        "TF32 inputs": fused(exact(11)),
        "bfloat16 inputs": fused(exact(8)),
        "two bfloat16 (16 bits)": fused(exact(16)),
        "last k missed": _off_by_one,
        "alpha ignored": _no_alpha,
    },
    "float64": {
        "float32 sums": fused(sequential(torch.float32)),
        "float32 inputs": fused(exact(24)),
        "last k missed": _off_by_one,
        "alpha ignored": _no_alpha,
    },
    "float16": {
        "float16 sums": fused(sequential(torch.float16)),
        "float16 sums of 16": fused(sequential(torch.float16, 16)),
        "fp8 inputs": fused(exact(4)),
        "last k missed": _off_by_one,
        "alpha ignored": _no_alpha,
    },
    "bfloat16": {
        "bfloat16 sums": fused(sequential(torch.bfloat16)),
        "bfloat16 sums of 16": fused(sequential(torch.bfloat16, 16)),
        "float16 sums of 16": fused(sequential(torch.float16, 16)),
        "fp8 inputs": fused(exact(4)),
        "last k missed": _off_by_one,
        "alpha ignored": _no_alpha,
    },
}


def ratios(
    ways: dict[str, Callable[..., Tensor]],
    dtype: str,
    k: int,
    *,
    family: str = "declared",
    m: int = 32,
    n: int = 64,
    alpha: float = -0.5,
    shift: float = 0.0,
    seed: str = "00",
    problem: Problem = PROBLEM,
) -> dict[str, tuple[float, float]]:
    """For each way the greatest error over what is allowed, and the share of wrong elements.

    ``shift`` is added to A and B, so that sums have a mean.
    """
    case = Case(sizes={"m": m, "n": n, "k": k}, scalars={"alpha": alpha}, family=family)
    tensors = {
        p.name: draw_tensor(problem, p, case, dtype, seed)
        for p in problem.tensors
        if p.direction == "in"
    }
    for name in ("matrix_a", "matrix_b"):
        tensors[name] = (tensors[name] + shift).to(tensors[name].dtype)
    want = Reference(problem).expectations(case, dtype, tensors)["output_matrix"]
    found = {}
    for name, way in ways.items():
        ratio = (way(*tensors.values(), alpha).double() - want.expected).abs() / want.allowed
        found[name] = (float(ratio.max()), float((~(ratio <= 1)).double().mean()))
    return found


LENGTHS = (1, 4, 16, 64, 300, 1024, 4096, 16384)


def table(
    title: str, ways: dict[str, Callable[..., Tensor]], dtype: str, problem: Problem = PROBLEM
) -> None:
    """Print one table: a row for each way, a column for each length."""
    rows = [ratios(ways, dtype, k, problem=problem) for k in LENGTHS]
    print(f"\n| {title} | " + " | ".join(f"k={k}" for k in LENGTHS) + " |")
    print("|---" * (len(LENGTHS) + 1) + "|")
    for way in ways:
        print(f"| {way} | " + " | ".join(f"{row[way][0]:.3g}" for row in rows) + " |")


def main() -> None:
    """Print the tables."""
    for dtype in (*PROBLEM.dtypes, "float64"):
        table(f"{dtype}, honest", HONEST[dtype], dtype)
        table(f"{dtype}, impostors", IMPOSTORS[dtype], dtype)
    table("float32 with TF32 allowed, honest", HONEST_CUT, "float32", CUT_PROBLEM)
    table("float32 with TF32 allowed, impostors", IMPOSTORS_CUT, "float32", CUT_PROBLEM)


if __name__ == "__main__":
    main()
