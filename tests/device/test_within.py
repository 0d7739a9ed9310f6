"""One pass over an output and what was expected says what many of torch's operations say."""

import math
from typing import cast

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from harness.device import within as module
from harness.device.choose import open_device
from harness.device.within import Within
from harness.judge.compare import surely_right
from harness.problem.terms import Expectation, Streamed
from harness.problem.tolerance import Modelled, Weights
from harness.runner.driver import Driver

TYPES = (torch.float64, torch.float32, torch.float16, torch.bfloat16)
WEIGHTS = Weights(magnitude=2.0**-20, expected=2.0**-10, min_error=2.0**-30)
_NUMBERS = st.sampled_from([0.0, -0.0, 1.0, -1.0, 1.001, 3e-9, 5e4, 1e300, math.inf, -math.inf])
_ANY = _NUMBERS | st.just(math.nan) | st.floats(-3, 3)


class FakeKernel:
    """Does what the kernel says that it does."""

    def launch(
        self,
        blocks: int,
        got: Tensor,
        bits: int,
        expected: Tensor,
        gauge: Tensor | int,
        count: int,
        *numbers: float | Tensor,
        threads: int,
    ) -> None:
        assert bits == {torch.bfloat16: 17}.get(got.dtype, 8 * got.element_size())
        assert count == len(got) == len(expected) > 0
        assert 1 <= blocks <= count
        assert blocks * threads >= min(count, 1 << 19)
        least, of_gauge, of_expected, right = numbers
        assert all(isinstance(each, float) for each in numbers[:3])
        allowed = least + of_expected * expected.abs()
        if isinstance(gauge, Tensor):
            allowed = allowed + of_gauge * gauge
        near = ((got.double() - expected).abs() <= allowed) & (allowed < math.inf)
        if not near.all():
            cast(Tensor, right).fill_(False)


@pytest.fixture(scope="module")
def within() -> Within:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "OwnKernel", lambda *_: FakeKernel())
        return Within(cast(Driver, None))


@settings(deadline=None)
@given(data=st.data())
def test_it_is_right_where_the_comparison_by_torch_is(within: Within, data: st.DataObject) -> None:
    size = data.draw(st.integers(0, 5))

    def drawn(values: st.SearchStrategy[float]) -> Tensor:
        listed = data.draw(st.lists(values, min_size=size, max_size=size))
        return torch.tensor(listed, dtype=torch.float64)

    expected = drawn(_ANY)
    got = (expected + drawn(st.sampled_from([0.0, 0.0, 1e-9, 1e-3]))).to(
        data.draw(st.sampled_from(TYPES))
    )
    gauge = data.draw(st.none() | st.just(drawn(_ANY).abs()))
    weights = data.draw(
        st.sampled_from([WEIGHTS, WEIGHTS._replace(magnitude=0), Weights(0, 1e-2, 0)])
    )
    for want in (
        Modelled(expected, weights, gauge),
        Expectation(expected=expected, allowed=drawn(_ANY).abs()),
    ):
        found = within(got, want)
        assert found is not None
        assert found.shape == ()
        by_torch = surely_right(got, want.expected, want.allowed)
        # What is allowed of infinity at no cost is undefined here, and left to all the rules.
        assert bool(found) <= bool(by_torch)
        if isinstance(want, Modelled) or expected.isfinite().all():
            assert bool(found) == bool(by_torch)


def test_other_outputs_are_for_others_to_compare(within: Within) -> None:
    wide = torch.ones(3, dtype=torch.float64)
    model = Modelled(wide, WEIGHTS, None)
    assert within(wide.int(), model) is None
    assert within(wide.to(torch.complex64), model) is None
    assert within(wide[:2].float(), model) is None
    assert within(wide.float(), Modelled(wide, WEIGHTS, wide.float())) is None
    assert within(wide.float(), Modelled(wide, None, None)) is None
    assert within(wide.float(), Modelled(wide.to(torch.complex128), WEIGHTS, None)) is None
    assert within(wide.float(), Streamed([])) is None  # type: ignore[arg-type]


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("gauged", [False, True])
def test_the_kernel_says_what_torch_says(dtype: torch.dtype, gauged: bool) -> None:
    device = open_device("cuda")
    generator = torch.Generator("cuda").manual_seed(7)
    for count in (1, 255, 1001, (1 << 20) + 3):
        expected = torch.randn(count, generator=generator, device="cuda", dtype=torch.float64)
        gauge = 1e-3 * torch.rand(count, device="cuda", dtype=torch.float64) if gauged else None
        # Errors of half of what is allowed; the type's own rounding is within the other half.
        weights = Weights(0.5, 8 * torch.finfo(dtype).eps, 1e-6)
        allowed = Modelled(expected, weights, gauge).allowed
        right = (expected + allowed * (torch.rand_like(expected) - 0.5)).to(dtype)
        for place in (0, count // 2, count - 1):
            for bad in (None, math.nan, math.inf, -math.inf, 2.0, -2.0):
                got = right.clone()
                if bad is not None:
                    got[place] = bad if not math.isfinite(bad) else right[place] + bad
                want = Modelled(expected, weights, gauge)
                found = device.within(got, want)
                assert found is not None
                assert bool(found) == bool(surely_right(got, expected, allowed)) == (bad is None)
        for odd in (math.nan, math.inf):
            strange = expected.clone()
            strange[count // 2] = odd
            got = right.clone()
            got[count // 2] = odd
            found = device.within(got, Modelled(strange, weights, gauge))
            assert found is not None
            assert not found


@pytest.mark.gpu
def test_what_is_allowed_is_the_same_to_the_last_bit() -> None:
    """Outputs at the very end of what is allowed, one step within it and one beyond."""
    device = open_device("cuda")
    expected = torch.randn(1 << 16, device="cuda", dtype=torch.float64)
    gauge = torch.rand(1 << 16, device="cuda", dtype=torch.float64)
    weights = Weights(0.1, 0.3, 0.01)
    allowed = Modelled(expected, weights, gauge).allowed
    for step in (-math.inf, None, math.inf):
        got = expected + allowed
        if step is not None:
            got = torch.nextafter(got, torch.full_like(got, step))
        near = (got - expected).abs() <= allowed
        for part in range(0, 1 << 16, 997):
            one = slice(part, part + 1)
            found = device.within(got[one], Modelled(expected[one], weights, gauge[one]))
            assert found is not None
            assert bool(found) == bool(near[part])


@pytest.mark.gpu
def test_rows_with_gaps_and_recordings_are_compared() -> None:
    device = open_device("cuda")
    wide = torch.arange(12.0, device="cuda", dtype=torch.float64).reshape(3, 4)
    got = torch.full((3, 9), math.nan, device="cuda")
    got[:, :4] = wide
    want = Modelled(wide, Weights(0, 1e-6, 0), None)
    found: list[Tensor] = []

    def work() -> None:
        right = device.within(got[:, :4], want)
        assert right is not None
        found[:] = [right]

    replay = device.recorded(work)
    for change in (0.0, 1.0, -1.0):
        got[2, 3] += change
        replay()
        assert bool(found[0]) == (change != 1.0)
