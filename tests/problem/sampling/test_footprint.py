"""What checking a case takes."""

from harness.problem.case import Case, parse_case
from harness.problem.sampling.footprint import footprint


def test_the_parts(gemm) -> None:
    """Worked out by hand for a square case."""
    case = Case(sizes={"m": 64, "n": 64, "k": 64}, scalars={"alpha": 0.5})
    elements, guards = 64 * 64, 8192
    arena = 2 * 4 * (elements * 4 + guards)
    wide = 3 * 2 * 8 * elements + (5 + 4) * 8 * elements
    assert footprint(gemm.tensors_of(case, "float32")) == 2 * arena + 2 * 4 * elements + wide
    assert footprint(gemm.tensors_of(case, "float16")) < footprint(gemm.tensors_of(case, "float32"))


def test_gaps_and_complex_numbers_count(block) -> None:
    near = parse_case(block, "ld=80,m=40,n=80,s=0,t=0")
    far = parse_case(block, "ld=96,m=40,n=80,s=0,t=0")
    needed = {
        (case.spec, dtype): footprint(block.tensors_of(case, dtype))
        for case in (near, far)
        for dtype in ("float32", "complex64")
    }
    two_tensors = 2 * 2 * 2
    assert needed[far.spec, "float32"] - needed[near.spec, "float32"] == two_tensors * 39 * 16 * 4
    assert needed[near.spec, "complex64"] > 1.5 * needed[near.spec, "float32"]
