"""Measure on the card what docs/explanation/tolerance.md says of matrix units and benchmark shapes.

``python tests/support/gpu_error_model.py`` prints the greatest error over what is allowed at every
benchmark shape, for honest and dishonest ways that PyTorch has of computing the shipped problem,
and their worst over a grade's drawn cases.
"""

import importlib.util
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType

import torch
from torch import Tensor

from harness.judge.compare import compare
from harness.problem.case import Case, whole_case
from harness.problem.reference import Reference
from harness.problem.sampling.cases import draw_cases
from harness.problem.sampling.distributions import fill
from support.error_model import PROBLEM

MATMUL = torch.backends.cuda.matmul
REDUCED = (
    "allow_fp16_reduced_precision_reduction",
    "allow_bf16_reduced_precision_reduction",
)
Way = Callable[[Tensor, Tensor, Tensor, float, Tensor], None]


def load_baseline() -> ModuleType:
    """The package's PyTorch baseline, as a module."""
    spec = importlib.util.spec_from_file_location("baseline", PROBLEM.baselines["pytorch"])
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


BASELINE = load_baseline()


@contextmanager
def switched_on(*flags: str) -> Iterator[None]:
    """PyTorch's matrix product with ``flags`` on."""
    for flag in flags:
        setattr(MATMUL, flag, True)
    yield
    for flag in flags:
        setattr(MATMUL, flag, False)


def unfused(a: Tensor, b: Tensor, c: Tensor, alpha: float, out: Tensor) -> None:
    BASELINE.solution(a, b, c, alpha, out, *out.shape, a.shape[1])


def tf32(a: Tensor, b: Tensor, c: Tensor, alpha: float, out: Tensor) -> None:
    with switched_on("allow_tf32"):
        unfused(a, b, c, alpha, out)


def reduced(a: Tensor, b: Tensor, c: Tensor, alpha: float, out: Tensor) -> None:
    with switched_on(*REDUCED):
        unfused(a, b, c, alpha, out)


def fused(a: Tensor, b: Tensor, c: Tensor, alpha: float, out: Tensor) -> None:
    g = torch.mm(a, b, out_dtype=torch.float32) * c.float()
    out.copy_(torch.where(g >= 0, g, g * alpha))


def ways(dtype: str) -> dict[str, Way]:
    if dtype == "float32":
        return {"baseline": unfused, "TF32": tf32}
    return {"baseline": unfused, "fused, float32 sums": fused, "reduced split-K": reduced}


def drawn(case: Case, dtype: str) -> dict[str, Tensor]:
    """The inputs of ``case``, filled on the card."""
    generator = torch.Generator("cuda").manual_seed(1)
    tensors = {}
    for p in PROBLEM.tensors:
        if p.direction == "in":
            shape = p.dimensions(case.values)
            tensors[p.name] = torch.empty(shape, dtype=getattr(torch, dtype), device="cuda")
            fill(tensors[p.name], p, generator=generator, family=case.family)
    return tensors


def timed(work: Callable[[], object]) -> tuple[object, float]:
    """What ``work`` returns, and milliseconds until the card has done it."""
    torch.cuda.synchronize()
    start = time.perf_counter()
    result = work()
    torch.cuda.synchronize()
    return result, (time.perf_counter() - start) * 1e3


def measure(reference: Reference, case: Case, dtype: str, verbose: bool) -> dict[str, float]:
    """For each way its greatest error over what is allowed; with ``verbose`` print it."""
    tensors = drawn(case, dtype)
    a, b, c = tensors.values()
    want, judged = timed(lambda: reference.expectations(case, dtype, tensors))
    want = want["output_matrix"]
    found = {}
    for name, way in ways(dtype).items():
        out = torch.full_like(c, float("nan"))
        way(a, b, c, case.scalars["alpha"], out)
        wrong, compared = timed(lambda out=out: compare("o", out, want.expected, want.allowed))
        ratio = float(((out.double() - want.expected).abs() / want.allowed).max())
        assert (wrong is None) == (ratio <= 1)
        found[name] = ratio
        if verbose:
            share = wrong.differing / wrong.total if wrong else 0.0
            print(
                f"{dtype:9} {name:20} {case.spec:45} ratio {ratio:9.3g}  wrong {share:7.1e}", end=""
            )
            print(f"  reference {judged:4.1f} ms, compare {compared:4.1f} ms")
    if dtype != "float32" and verbose:
        error = (torch.mm(a, b, out_dtype=torch.float32).double() - a.double() @ b.double()).abs()
        gauge = a.double().abs() @ b.double().abs()
        print(f"{'':9} the product is off by {float((error / gauge).max()) * 2**24:.3g} u |A||B|")
    return found


def main() -> None:
    """Print one line per data type, shape and way of computing."""
    print(torch.cuda.get_device_name(), torch.__version__)
    reference = Reference(PROBLEM)
    for dtype in PROBLEM.dtypes:
        for benchmark in PROBLEM.benchmarks:
            measure(reference, whole_case(PROBLEM, benchmark), dtype, verbose=True)
        cases = [c for s in range(5) for c in draw_cases(PROBLEM, f"{s}", dtype=dtype)]
        rows = [measure(reference, case, dtype, verbose=False) for case in cases]
        for name in ways(dtype):
            worst = max(row[name] for row in rows)
            wrong = sum(not row[name] <= 1 for row in rows)
            print(f"{dtype:9} {name:20} {len(rows)} drawn cases: worst {worst:.3g}, wrong {wrong}")
    print(f"peak {torch.cuda.max_memory_allocated() / 2**30:.2f} GiB")


if __name__ == "__main__":
    main()
