"""A tolerance refuses no answer that is right and rounded to its type, whatever the type."""

import math
from pathlib import Path

import pytest
import torch
from formats.gpumode_problems import HEAD as TASK
from formats.gpumode_problems import checkout
from support.foreign import foreign, graded, written

from harness.formats.rounding import with_rounding
from harness.grading.grader import Grader
from harness.records.result import Verdict

FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


def neighbours(number: float, dtype: torch.dtype) -> tuple[float, float]:
    """The next numbers of a type below and above one of its own."""
    if dtype is torch.float64:
        return math.nextafter(number, -math.inf), math.nextafter(number, math.inf)
    this = torch.tensor(number, dtype=dtype)
    down, up = (torch.nextafter(this, torch.full_like(this, far)) for far in (-math.inf, math.inf))
    return float(down), float(up)


def allowed(right: float, off: float, dtype: torch.dtype, *, rounded: bool = False) -> float:
    expected, bound = (torch.tensor([x], dtype=torch.float64) for x in (right, off))
    return float(with_rounding(expected, bound, dtype, rounded=rounded))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("size", ["one", "odd", "subnormal", "smallest", "large"])
@pytest.mark.parametrize("sign", [1, -1])
def test_numbers_beside_what_is_right_are_right(dtype: torch.dtype, size: str, sign: int) -> None:
    kind = torch.finfo(dtype)
    smallest = kind.tiny * kind.eps
    here = {"one": 1.0, "odd": 1.375, "subnormal": 5 * smallest, "smallest": smallest}
    here["large"] = kind.max / 2
    number = sign * here[size]
    down, up = neighbours(number, dtype)
    assert allowed(number, 0, dtype) == 0
    bound = allowed(number, 0, dtype, rounded=True)
    assert bound == max(number - down, up - number)
    if dtype is torch.float64:
        return
    middle = (number + up) / 2
    nearly = number + (up - number) * 0.49
    assert allowed(middle, 0, dtype) == up - middle == middle - number
    assert number - nearly <= allowed(nearly, 0, dtype) < up - nearly
    # What rounds to the other neighbour after an error within the tolerance is right, too.
    assert up - nearly <= allowed(nearly, (up - number) * 0.02, dtype) < nearly - down


def test_a_tolerance_above_rounding_hardly_grows() -> None:
    right = torch.randn(1000, dtype=torch.float64)
    for dtype in FLOATS[:3]:
        off = right.abs() * 0.1 + 0.1
        wider = with_rounding(right, off.clone(), dtype)
        assert bool((wider >= off).all())
        assert bool((wider <= off + (right.abs() + off) * torch.finfo(dtype).eps).all())
        assert with_rounding(right.to(dtype).double(), off.clone(), dtype, rounded=True).equal(off)


def test_what_is_not_in_the_type_brings_no_room() -> None:
    right = torch.tensor([1e6, -math.inf, math.nan, 65519.0], dtype=torch.float64)
    found = with_rounding(right, torch.full_like(right, 0.5), torch.float16)
    assert found[:3].tolist() == [0.5] * 3
    assert float(found[3]) == 15
    assert with_rounding(right, torch.ones(4).double(), torch.float16, rounded=True)[1:3].equal(
        torch.ones(2).double()
    )


def test_complex_numbers_are_rounded_part_by_part() -> None:
    right = torch.tensor([complex(1 / 3, 1 / 7), complex(1, -2)], dtype=torch.complex128)
    found = with_rounding(right, torch.zeros(2).double(), torch.complex64)
    near = right.to(torch.complex64).to(torch.complex128)
    assert torch.allclose(found, (near - right).abs(), rtol=1e-6, atol=0)


MATMUL = (
    TASK
    + """
def generate_input(size, seed):
    g = generator(seed)
    a, b = (torch.rand(size, size, device="cuda", generator=g).to(torch.KIND) for _ in range(2))
    return a, b, torch.empty(size, size, device="cuda", dtype=torch.KIND)

def ref_kernel(data):
    a, b, output = data
    output[...] = PRODUCT
    return output

check_implementation = make_match_reference(ref_kernel)
"""
)

OTHER_ORDER = """
import torch

def custom_kernel(data):
    a, b, output = data
    wide = torch.zeros(output.shape, dtype=torch.float32)
    for k in reversed(range(a.shape[1])):
        wide += a[:, k : k + 1].float() * b[k : k + 1].float()
    output.copy_(wide)
    STEPS
    return output
"""


@pytest.mark.corpus
@pytest.mark.parametrize("kind", ["float16", "bfloat16"])
@pytest.mark.parametrize(
    ("product", "rounded"),
    [
        ("a @ b", False),
        ("(a.float() @ b.float()).to(torch.KIND)", True),
        ("torch.from_numpy((a.float() @ b.float()).numpy()).to(output.dtype)", False),
        ("(a.float() @ b.float()).to(torch.KIND) + torch.zeros((), dtype=torch.KIND)", True),
    ],
)
def test_another_order_of_summation_is_right_and_two_steps_more_are_not(
    grader: Grader, tmp_path: Path, kind: str, product: str, rounded: bool
) -> None:
    text = MATMUL.replace("PRODUCT", product).replace("KIND", kind)
    tests = '  - {"size": 24, "seed": 1}\n  - {"size": 17, "seed": 2}'
    problem = foreign(checkout(tmp_path, "product", text, tests))
    right = graded(
        grader, problem, written(tmp_path, "a.py", OTHER_ORDER.replace("STEPS", "")), seed="1"
    )
    assert right.accepted, right.message
    assert "reference: float32" not in right.claims
    # Where its product is not rounded, a step more is right on the other side of it alone.
    for steps in (1, 2) if rounded else (2,):
        off = f"output.view(torch.int16)[0, 0] += {steps}"
        moved = graded(
            grader, problem, written(tmp_path, "b.py", OTHER_ORDER.replace("STEPS", off))
        )
        wrong = moved.verdict is Verdict.WRONG_ANSWER
        assert wrong == (steps == 2), (steps, moved.message)
