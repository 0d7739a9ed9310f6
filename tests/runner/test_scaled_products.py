"""Products of scaled factors: as torch has them where it has them, else by their definition."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from harness.runner.scaled_products import scaled_product

E4M3, E8M0, E2M1 = torch.float8_e4m3fn, torch.float8_e8m0fnu, torch.float4_e2m1fn_x2
MAGNITUDES = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]


def drawn(rows: int, columns: int, seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(rows, columns, generator=generator).to(E4M3)


@given(m=st.integers(1, 5), n=st.integers(1, 4), k=st.integers(1, 4), seed=st.integers(0, 1 << 30))
def test_one_scale_is_as_in_torch(m: int, n: int, k: int, seed: int) -> None:
    a, b = drawn(m, 16 * k, seed), drawn(16 * n, 16 * k, seed + 1).t()
    scales = torch.tensor(0.5), torch.tensor(3.0)
    right = torch._scaled_mm(a, b, *scales, out_dtype=torch.float32)
    found = scaled_product(a, b, *scales, out_dtype=torch.float32)
    torch.testing.assert_close(found, right, rtol=1e-5, atol=1e-4)


def test_types_of_results_and_a_bias() -> None:
    a, one = drawn(8, 16, 1), torch.tensor(1.0)
    bias = torch.arange(8).to(torch.bfloat16)
    found = scaled_product(a, a.t(), one, one, bias=bias, out_dtype=torch.bfloat16)
    assert found.dtype is torch.bfloat16
    assert found.equal((a.double() @ a.double().t() + bias).to(torch.bfloat16))
    narrow = scaled_product(a, a.t(), one, one, scale_result=torch.tensor(0.25))
    assert narrow.dtype is E4M3
    assert narrow.view(torch.uint8).equal(
        (a.double() @ a.double().t() / 4).to(E4M3).view(torch.uint8)
    )


def test_scales_of_rows_columns_and_rectangles() -> None:
    a, b = drawn(5, 256, 3), drawn(130, 256, 4).t()
    rows, columns = torch.rand(5, 1), torch.rand(1, 130)
    found = scaled_product(a, b, rows, columns, out_dtype=torch.float64)
    torch.testing.assert_close(found, (a.double() * rows) @ (b.double() * columns))
    parts, tiles = torch.rand(5, 2), torch.rand(2, 2)
    left = a.double() * torch.cat([parts[:, :1].expand(5, 128), parts[:, 1:].expand(5, 128)], 1)
    right = b.double().clone()
    for i in range(256):
        for j in range(130):
            right[i, j] *= tiles[i // 128, j // 128]
    found = scaled_product(a, b, parts, tiles, out_dtype=torch.float64)
    torch.testing.assert_close(found, left @ right)


def laid(scales: Tensor) -> Tensor:
    """Scales (rows, blocks) where cuBLAS has them, element by element."""
    rows, blocks = scales.shape
    tiles_down, tiles_across = -(-rows // 128), -(-blocks // 4)
    flat = torch.zeros(tiles_down * tiles_across * 512, dtype=scales.dtype)
    for i in range(rows):
        for j in range(blocks):
            tile = i // 128 * tiles_across + j // 4
            flat[512 * tile + i % 32 * 16 + i % 128 // 32 * 4 + j % 4] = scales[i, j]
    return flat


@pytest.mark.parametrize(("dtype", "block"), [(E4M3, 16), (E8M0, 32)])
def test_scales_of_blocks_lie_as_cublas_has_them(dtype: torch.dtype, block: int) -> None:
    k = 5 * block
    a, b = drawn(130, k, 5), drawn(3, k, 6).t()
    generator = torch.Generator().manual_seed(7)
    scale_a, scale_b = (
        torch.randint(-2, 3, (n, 5), generator=generator).exp2().to(dtype) for n in (130, 3)
    )
    right = (a.double() * scale_a.double().repeat_interleave(block, 1)) @ (
        b.double() * scale_b.double().repeat_interleave(block, 1).t()
    )
    found = scaled_product(a, b, laid(scale_a), laid(scale_b), out_dtype=torch.float64)
    assert found.equal(right)


def test_numbers_of_four_bits() -> None:
    every = torch.arange(256, dtype=torch.uint8)
    a = every.view(4, 64).view(E2M1)
    b = torch.eye(128)
    ones = torch.ones(512 * 2).to(E4M3)
    packed = torch.zeros(128, 64, dtype=torch.uint8)  # the unit matrix: 1.0 is 2
    for i in range(128):
        packed[i, i // 2] = 2 << 4 * (i % 2)
    found = scaled_product(a, packed.view(E2M1).t(), ones, ones, out_dtype=torch.float64)
    numbers = []
    for byte in every.tolist():
        for half in (byte & 15, byte >> 4):
            numbers.append(-MAGNITUDES[half - 8] if half > 7 else MAGNITUDES[half])
    assert found.equal(torch.tensor(numbers, dtype=torch.float64).view(4, 128) @ b.double())
