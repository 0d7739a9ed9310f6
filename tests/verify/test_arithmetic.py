"""Torch under other machines' arithmetic."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from harness.verify.arithmetic.model import Arithmetic, ArithmeticModel
from harness.verify.arithmetic.rounding import BFLOAT16, FLOAT16, FLOAT32, TF32, rounded
from harness.verify.arithmetic.sums import Accumulator, Order

FLOAT_MACHINE = ArithmeticModel(working=FLOAT32, accumulator=Accumulator(FLOAT32))


def draw(*shape: int, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64).float().double()


def with_order(order: Order) -> ArithmeticModel:
    return ArithmeticModel(working=FLOAT32, accumulator=Accumulator(FLOAT32, order))


def test_elementary_operations_give_float32_results() -> None:
    a, b = draw(100), draw(100, seed=1)
    f, g = a.float(), b.float()
    with Arithmetic(FLOAT_MACHINE):
        found = [a + b, a - b, a * b, a / b, a.abs().sqrt(), a * 0.1, 1 / a]
    # Not torch's square root: by some processors' libraries it is off by a digit.
    root = torch.from_numpy(np.sqrt(f.abs().numpy()))
    wanted = [f + g, f - g, f * g, f / g, root]
    for got, want in zip(found, wanted, strict=False):
        assert torch.equal(got, want.double())
    assert all(torch.equal(x, x.float().double()) for x in found)


def test_a_product_of_matrices_equals_a_loop() -> None:
    a, b = draw(5, 37), draw(37, 4, seed=1)
    with Arithmetic(FLOAT_MACHINE):
        found = a @ b
    by_hand = torch.zeros(5, 4)
    for k in range(37):
        term = a[:, k : k + 1].float() * b[k : k + 1].float()
        by_hand = by_hand + term if k else term
    assert torch.equal(found, by_hand.double())


@pytest.mark.parametrize("order", list(Order))
def test_all_kinds_of_products_agree(order: Order) -> None:
    a, b, v = draw(6, 40), draw(40, 3, seed=1), draw(40, seed=2)
    batch = torch.stack([a, 2 * a])
    with Arithmetic(with_order(order)):
        product, vector, number = a @ b, a @ v, v @ v
        batched = batch @ b
        einsum = torch.einsum("ij,jk->ik", a, b)
        added = torch.addmm(draw(3, seed=3), a, b, alpha=2, beta=0.5)
    assert torch.allclose(product, a @ b, atol=1e-4)
    assert not torch.equal(product, a @ b)
    assert torch.equal(batched[0], product)
    assert torch.equal(batched[1], 2 * product)
    assert torch.equal(einsum, product)
    assert torch.allclose(vector, a @ v, atol=1e-4)
    assert torch.allclose(number, v @ v, atol=1e-4)
    assert torch.allclose(added, torch.addmm(draw(3, seed=3), a, b, alpha=2, beta=0.5), atol=1e-4)


def test_orders_give_different_bits() -> None:
    a, b = draw(20, 100), draw(100, 20, seed=1)
    found = []
    for order in Order:
        with Arithmetic(with_order(order)):
            found.append(a @ b)
    assert len({tuple(x.flatten().tolist()) for x in found}) == len(Order)


def test_reductions_are_close_and_hold_float32_values() -> None:
    x = draw(7, 11, 13)
    with Arithmetic(FLOAT_MACHINE):
        found = {
            "all": x.sum(),
            "one": x.sum(1),
            "two": x.sum((0, -1), keepdim=True),
            "mean": x.mean(-1, keepdim=True),
            "cumsum": x.cumsum(1),
            "var": x.var((1, 2), correction=0),
            "std": x.std(-1),
            "norm": torch.linalg.vector_norm(x, dim=-1),
            "logsumexp": torch.logsumexp(x, 1),
            "softmax": torch.softmax(x, -1),
            "log_softmax": torch.log_softmax(x, 0),
            "layer_norm": torch.nn.functional.layer_norm(x, (13,), draw(13), draw(13, seed=1)),
        }
    wanted = {
        "all": x.sum(),
        "one": x.sum(1),
        "two": x.sum((0, -1), keepdim=True),
        "mean": x.mean(-1, keepdim=True),
        "cumsum": x.cumsum(1),
        "var": x.var((1, 2), correction=0),
        "std": x.std(-1),
        "norm": torch.linalg.vector_norm(x, dim=-1),
        "logsumexp": torch.logsumexp(x, 1),
        "softmax": torch.softmax(x, -1),
        "log_softmax": torch.log_softmax(x, 0),
        "layer_norm": torch.nn.functional.layer_norm(x, (13,), draw(13), draw(13, seed=1)),
    }
    for name, want in wanted.items():
        assert found[name].shape == want.shape, name
        assert torch.allclose(found[name], want, atol=1e-4), name
        assert not torch.equal(found[name], want), name
        assert torch.equal(found[name], found[name].float().double()), name


def test_in_place_operations_on_views_are_rounded() -> None:
    x, y = draw(4, 6), draw(6, seed=1)
    out = x.clone()
    with Arithmetic(FLOAT_MACHINE):
        out += y * 0.1
        out[:, 2:4] *= 1.1
    want = x.float() + y.float() * torch.tensor(0.1).float()
    assert torch.equal(out, out.float().double())
    assert torch.allclose(out[:, :2], want[:, :2].double(), atol=1e-6)
    assert torch.allclose(out[:, 2:4], want[:, 2:4].double() * 1.1, atol=1e-6)


def test_integers_are_not_rounded() -> None:
    x = torch.arange(10**9, 10**9 + 50)
    with Arithmetic(ArithmeticModel(working=FLOAT16, accumulator=Accumulator(FLOAT16))):
        assert torch.equal(x.sum(), torch.tensor(50 * 10**9 + 1225))
        assert (x + 1).tolist()[0] == 10**9 + 1
        assert x.double().tolist()[1] == 10**9 + 1


def test_factors_of_products_are_cut() -> None:
    a, b = draw(4, 8), draw(8, 3, seed=1)
    with Arithmetic(ArithmeticModel(factors=TF32)):
        found = a @ b
        untouched = a * 1.0
    assert torch.equal(found, rounded(a, TF32) @ rounded(b, TF32))
    assert torch.equal(untouched, a)
    with Arithmetic(ArithmeticModel(factors=TF32, cut_off=True)):
        assert not torch.equal(a @ b, found)


def test_unfused_model_rounds_every_result_to_storage() -> None:
    a, b = draw(4, 8).half().double(), draw(8, 3, seed=1).half().double()
    with Arithmetic(ArithmeticModel(working=FLOAT32, storage=FLOAT16)):
        found = (a @ b) * b[:1]
    assert torch.equal(found, ((a @ b).half() * b[:1].half()).double())


def test_skipping_model_leaves_out_the_last_term() -> None:
    a, b = draw(4, 8), draw(8, 3, seed=1)
    with Arithmetic(ArithmeticModel(skips=True)):
        product, total, mean = a @ b, a.sum(1), a.mean(1)
        largest, place = a.amax(1), a.argmax(1)
        one = a[:, :1].sum(1)
        running = a.cumsum(1)
    assert torch.allclose(product, a[:, :-1] @ b[:-1])
    assert torch.allclose(total, a[:, :-1].sum(1))
    assert torch.equal(mean, total / 8) or torch.allclose(mean, total / 8)
    assert torch.equal(largest, a[:, :-1].amax(1))
    assert torch.equal(place, a[:, :-1].argmax(1))
    assert torch.equal(one, a[:, 0])
    assert torch.equal(running[:, -1], running[:, -2])


def test_blurred_functions_are_off_by_units_in_the_last_place() -> None:
    x = draw(1000)
    with Arithmetic(ArithmeticModel(working=FLOAT32, ulps=2)):
        found = x.exp()
        one = (x * 0).exp()
    error = ((found - x.exp()) / x.exp()).abs().max()
    assert FLOAT32.roundoff < float(error) < 4 * FLOAT32.roundoff
    assert bool((one == 1).all())


def test_additions_are_rounded_only_where_asked() -> None:
    x = draw(100, 30)
    for additions in (False, True):
        sum_ = torch.zeros(30, dtype=torch.float64)
        with Arithmetic(ArithmeticModel(accumulator=Accumulator(BFLOAT16), additions=additions)):
            for row in x:
                sum_ += row
        assert torch.equal(sum_, sum_.bfloat16().double()) is additions


def test_operations_whose_sums_cannot_be_varied_are_collected() -> None:
    with Arithmetic(FLOAT_MACHINE) as mode:
        draw(5, 5).prod(0)
        draw(5).exp()
    assert mode.unknown == {"aten.prod.dim_int"}


@pytest.mark.parametrize("dilation", [1, 2])
@pytest.mark.parametrize("groups", [1, 2])
def test_convolution_is_close_to_torch(dilation: int, groups: int) -> None:
    x, weight, bias = draw(2, 4, 9, 8), draw(6, 4 // groups, 3, 2, seed=1), draw(6, seed=2)
    arguments = {"stride": (2, 1), "padding": (1, 0), "dilation": dilation, "groups": groups}
    want = torch.nn.functional.conv2d(x, weight, bias, **arguments)
    with Arithmetic(FLOAT_MACHINE):
        found = torch.nn.functional.conv2d(x, weight, bias, **arguments)
    assert found.shape == want.shape
    assert torch.allclose(found, want, atol=1e-5)
    assert not torch.equal(found, want)


@pytest.mark.parametrize("length", [1, 2, 8, 12, 15, 64, 2 * 131])
def test_fourier_transforms_are_close_to_torch(length: int) -> None:
    x = torch.complex(draw(3, length), draw(3, length, seed=1))
    real = draw(3, length)
    with Arithmetic(FLOAT_MACHINE):
        found = [
            torch.fft.fft(x),
            torch.fft.ifft(x),
            torch.fft.fft(x, norm="ortho"),
            torch.fft.fft2(x),
            torch.fft.rfft(real),
            torch.fft.irfft(torch.fft.rfft(real), n=length),
        ]
    wanted = [
        torch.fft.fft(x),
        torch.fft.ifft(x),
        torch.fft.fft(x, norm="ortho"),
        torch.fft.fft2(x),
        torch.fft.rfft(real),
        real,
    ]
    for got, want in zip(found, wanted, strict=True):
        assert got.shape == want.shape
        assert torch.allclose(got, want, atol=1e-5 * math.sqrt(length))


def test_fourier_transforms_in_half_precision_are_less_accurate() -> None:
    x = torch.complex(draw(256), draw(256, seed=1))
    want = torch.fft.fft(x)
    errors = []
    for format_ in (FLOAT32, FLOAT16, BFLOAT16):
        with Arithmetic(ArithmeticModel(accumulator=Accumulator(format_))):
            errors.append(float((torch.fft.fft(x) - want).abs().max()))
    assert errors[0] < 1e-4 < 1e-2 < errors[1] < errors[2]
