"""Orders of summation and accumulators, against loops."""

import math

import numpy as np
import pytest
import torch

from harness.verify.arithmetic.rounding import BFLOAT16, FLOAT16, FLOAT32, FLOAT64, Format
from harness.verify.arithmetic.sums import (
    BLOCK,
    MAX_STEPS,
    PARTS,
    Accumulator,
    Order,
    running,
    total,
)


def terms(length: int, *rest: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    drawn = torch.randn(length, *rest, generator=generator, dtype=torch.float64)
    return drawn.float().double()


def loop(numbers: list[float], kind: type = np.float32) -> float:
    """What a thread that adds one number after the other gets."""
    sum_ = kind(numbers[0])
    for number in numbers[1:]:
        sum_ = kind(sum_ + kind(number))
    return float(sum_)


def in_float32(order: Order) -> Accumulator:
    return Accumulator(FLOAT32, order)


@pytest.mark.parametrize("length", [1, 2, 15, 16, 17, 300, MAX_STEPS + 500])
def test_sequential_and_reversed_sums_equal_loops(length: int) -> None:
    x = terms(length, 3)
    forward, backward = (total(x, in_float32(o)) for o in (Order.SEQUENTIAL, Order.REVERSED))
    for column in range(3):
        numbers = x[:, column].tolist()
        assert forward[column].item() == loop(numbers)
        assert backward[column].item() == loop(numbers[::-1])


@pytest.mark.gpu
@pytest.mark.parametrize("order", list(Order))
@pytest.mark.parametrize(
    "shape", [(1, 3), (300,), (300, 1), (2000, 7, 5), (MAX_STEPS + 500, 2), (MAX_STEPS + 500, 400)]
)
@pytest.mark.parametrize("kind", [FLOAT32, FLOAT64])
def test_a_gpu_adds_in_the_same_order(shape: tuple[int, ...], order: Order, kind: Format) -> None:
    x = terms(*shape)
    how = Accumulator(kind, order)
    assert torch.equal(total(x.cuda(), how).cpu(), total(x, how))


def test_blocked_and_split_sums_equal_loops_of_loops() -> None:
    x = terms(301)
    numbers = x.tolist()
    blocks = [loop(numbers[i : i + BLOCK]) for i in range(0, 301, BLOCK)]
    assert total(x, in_float32(Order.BLOCKED)).item() == loop(blocks)
    size = math.ceil(301 / PARTS)
    parts = [loop(numbers[i : i + size]) for i in range(0, 301, size)]
    assert total(x, in_float32(Order.SPLIT)).item() == loop(parts)


def test_pairwise_sum_equals_a_tree() -> None:
    def tree(numbers: list[float]) -> float:
        half = len(numbers) // 2
        if half == 0:
            return numbers[0]
        return loop([tree(numbers[0::2]), tree(numbers[1::2])])

    # A power of two: halves are added element by element, which is the tree of even and odd ones.
    x = terms(256)
    assert total(x, in_float32(Order.PAIRWISE)).item() == tree(x.tolist())


@pytest.mark.parametrize("order", list(Order))
def test_orders_differ_by_little(order: Order) -> None:
    x = terms(1000, 40)
    exact = x.sum(0)
    found = total(x, in_float32(order))
    error = ((found - exact).abs() / x.abs().sum(0)).max()
    assert float(error) < 8 * FLOAT32.roundoff
    if order is not Order.PAIRWISE:
        assert not torch.equal(found, exact)
    assert torch.equal(total(x, Accumulator(FLOAT64, order)).float(), exact.float())


def test_half_precision_accumulators_lose_terms() -> None:
    ones = torch.ones(4096, dtype=torch.float64)
    assert total(ones, Accumulator(FLOAT32)).item() == 4096
    fives = [5.0] * 500  # beyond 2048 float16 has even numbers only
    found = total(torch.tensor(fives, dtype=torch.float64), Accumulator(FLOAT16)).item()
    assert found == loop(fives, np.float16) != 2500
    # 256 + 1 is a tie in bfloat16, and goes to the even 256.
    assert total(ones[:300], Accumulator(BFLOAT16)).item() == 256
    x = terms(512, 50)
    error = (total(x, Accumulator(FLOAT16)) - x.sum(0)).abs().max()
    assert float(error) > 100 * float(
        (total(x, in_float32(Order.SEQUENTIAL)) - x.sum(0)).abs().max()
    )


def test_steps_are_added_exactly_before_each_rounding() -> None:
    how = Accumulator(FLOAT16, step=16)
    x = terms(16, 100)
    assert torch.equal(total(x, how), x.sum(0).half().double())  # one rounding
    long = terms(64, 100)
    by_hand = torch.zeros(100, dtype=torch.float64)
    for start in range(0, 64, 16):
        by_hand = (by_hand + long[start : start + 16].sum(0)).half().double()
    assert torch.equal(total(long, how), by_hand)


def test_truncating_sums_go_towards_zero() -> None:
    x = terms(64, 100).abs()
    how = Accumulator(FLOAT32, step=16, truncates=True)
    assert bool((total(x, how) <= x.sum(0)).all())
    assert not torch.equal(total(x, how), x.sum(0))


def test_sums_keep_nan_and_infinity() -> None:
    x = terms(40, 3)
    x[5, 0], x[6, 1], x[30, 2], x[31, 2] = math.inf, math.nan, math.inf, -math.inf
    for order in Order:
        for accumulator in (Accumulator(FLOAT32, order), Accumulator(FLOAT16, order)):
            found = total(x, accumulator)
            assert found[0] == math.inf
            assert found[1:].isnan().all()


@pytest.mark.parametrize("order", list(Order))
@pytest.mark.parametrize("length", [1, 7, 100, 700])
def test_running_sums_are_close_to_cumsum(order: Order, length: int) -> None:
    x = terms(length, 4)
    found = running(x, in_float32(order))
    assert found.shape == x.shape
    assert torch.allclose(found, x.cumsum(0), rtol=0, atol=1e-4)
    if order is Order.SEQUENTIAL:
        column = found[:, 2].tolist()
        assert column == [loop(x[: i + 1, 2].tolist()) for i in range(length)]


def test_running_sums_in_half_precision_lose_terms() -> None:
    fives = torch.full((500,), 5.0, dtype=torch.float64)
    found = running(fives, Accumulator(FLOAT16))
    assert found[-1].item() == loop([5.0] * 500, np.float16) != 2500
    assert torch.equal(running(fives, Accumulator(FLOAT32)), fives.cumsum(0))


def test_complex_sums_are_by_component() -> None:
    x = torch.complex(terms(50), terms(50, seed=1))
    found = total(x, in_float32(Order.SEQUENTIAL))
    assert found.real.item() == loop(x.real.tolist())
    assert found.imag.item() == loop(x.imag.tolist())
