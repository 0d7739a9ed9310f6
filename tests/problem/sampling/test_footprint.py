"""What checking a case takes."""

import math
from dataclasses import replace

from harness.problem.case import Case, parse_case
from harness.problem.sampling.footprint import Answers, beside_arena, computed, footprint, of_others
from harness.problem.terms import Direction, TensorSpec


def test_the_parts(gemm) -> None:
    """Worked out by hand for a square case."""
    case = Case(sizes={"m": 64, "n": 64, "k": 64}, scalars={"alpha": 0.5})
    elements, guards = 64 * 64, 8192
    tensor = 2 * (elements * 4 + guards)  # of two calls
    digests = 3 * (tensor // 128 + 2 * 4096)
    wide = 3 * 2 * 8 * elements + (5 + 4) * 8 * elements
    assert footprint(gemm.tensors_of(case, "float32")) == 4 * tensor + digests + wide
    assert footprint(gemm.tensors_of(case, "float16")) < footprint(gemm.tensors_of(case, "float32"))


def test_gaps_and_complex_numbers_count(block) -> None:
    near = parse_case(block, "ld=80,m=40,n=80,s=0,t=0")
    far = parse_case(block, "ld=96,m=40,n=80,s=0,t=0")
    needed = {
        (case.spec, dtype): footprint(block.tensors_of(case, dtype))
        for case in (near, far)
        for dtype in ("float32", "complex64")
    }
    gaps = 2 * 39 * 16 * 4  # of two calls
    dense = 2 * ((39 * 96 + 80) * 4 + 8192)  # the input without its gaps: near it has none
    more = 2 * gaps + gaps + gaps // 128 + dense  # arena; digest; the output, drawn again
    assert needed[far.spec, "float32"] - needed[near.spec, "float32"] == more
    assert needed[near.spec, "complex64"] > 1.5 * needed[near.spec, "float32"]


def test_a_large_input_takes_its_arena_a_128th_and_wide_copies(gemm) -> None:
    case = Case(sizes={"m": 8192, "n": 8192, "k": 8192}, scalars={"alpha": 0.5})
    tensors = [t for t in gemm.tensors_of(case, "float16") if t.direction is Direction.IN]
    arena = 2 * (2 * 8192 * 8192 + 8192)
    for tensor in tensors:
        wide = 2 * 8 * 8192 * 8192
        assert footprint([tensor]) == arena + arena // 128 + 2 * 4096 + wide
    one, many = (beside_arena(tensors[:1], calls) for calls in (1, 1000))
    assert many - one <= 999 * (arena // 2) // 128 + 1


def test_a_reference_in_a_process_of_its_own_is_counted_as_what_is_handed_over(gemm) -> None:
    case = Case(sizes={"m": 8192, "n": 8, "k": 8192}, scalars={"alpha": 0.5})
    tensors = gemm.tensors_of(case, "float32")
    inputs = [math.prod(t.shape) for t in tensors if t.direction is not Direction.OUT]
    outputs = [math.prod(t.shape) for t in tensors if t.direction is Direction.OUT]
    here, apart = footprint(tensors), footprint(tensors, Answers.HANDED)
    own = sum(4 * count + 8192 for count in inputs)
    assert here - apart == 2 * 8 * sum(inputs) - own + 3 * 8 * sum(outputs)
    together = [replace(t, together=t.direction is not Direction.OUT) for t in tensors]
    assert footprint(together, Answers.HANDED) == apart
    assert footprint(together) - here == 2 * 8 * sum(inputs)


def test_a_large_elementwise_problem_of_another_format_fits_a_card() -> None:
    """1.6e9 numbers in float32, as KernelBench's activations have, on a card of 80 GB."""
    shape, strides = (4096, 393216), (393216, 1)
    x, y = (
        TensorSpec(name=name, dtype="float32", shape=shape, strides=strides, direction=direction)
        for name, direction in (("x", Direction.IN), ("y", Direction.OUT))
    )
    assert 55e9 < footprint([x, y], Answers.HANDED) < 60e9 < 0.75 * 83e9 < footprint([x, y])
    calls = 2 * 2 * 4 * 4096 * 393216
    assert calls < footprint([x, y], Answers.STREAMED) < 1.04 * calls
    returned, wide = of_others([x, y], Answers.STREAMED), of_others([x, y], Answers.HANDED)
    assert returned - 8192 == 4 * 4096 * 393216
    assert wide - returned == 8 * 4096 * 393216
    assert footprint([x, y], Answers.HANDED, 1) + wide < 0.875 * 83e9
    assert footprint([x, y], Answers.STREAMED, 1) + returned < 0.875 * 25e9
    assert footprint([x, y], Answers.ROWS, 1) == footprint([x, y], Answers.STREAMED, 1)
    assert computed([x, y]) == 8 * 4096 * 393216
