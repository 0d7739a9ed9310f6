"""``torch._scaled_mm`` in float64, on whatever machine.

Torch multiplies block-scaled factors on few cards, those of 4-bit numbers on fewer, and rounds on
the way. Factors and scales are exact in float64, so what is left is rounding the result to the type
asked for. The layout of scales is cuBLAS's for 1D block scaling: tiles of 128 rows and 4 blocks, of
which rows 0, 32, 64 and 96 lie side by side.
"""

import torch
from torch import Tensor

_TILE_ROWS, _TILE_BLOCKS, _PARTS = 128, 4, 4
_BLOCKS = {torch.float8_e4m3fn: 16}
"""Elements that a scale is for, by the scales' type: NVFP4's."""
_MX_BLOCK = 32
"""The same of the OCP microscaling formats, whose scales are powers of two."""
_TILE = 128
"""Rows or elements along k that one scale of a grid is for."""
_E2M1 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
"""The magnitudes of a 4-bit number (OCP Microscaling Formats 1.0, 5.3.3); its highest bit is the
sign."""


def scaled_product(
    a: Tensor,
    b: Tensor,
    scale_a: Tensor,
    scale_b: Tensor,
    bias: Tensor | None = None,
    scale_result: Tensor | None = None,
    out_dtype: torch.dtype | None = None,
    use_fast_accum: bool = False,  # noqa: ARG001 - torch's signature
) -> Tensor:
    """``a`` (m, k) times ``b`` (k, n), each times its scales, plus ``bias`` (n).

    A scale is one number, one for each row of ``a`` and column of ``b``, one for each 128 along a
    dimension, or (in the types for it) one for 16 or 32 elements along k, in cuBLAS's layout.
    Two 4-bit numbers in a byte follow each other along k.
    """
    left = _scaled(_values(a), scale_a)
    right = _scaled(_values(b.t()), scale_b if scale_b.dim() < 2 else scale_b.t())
    product = left @ right.t()
    if bias is not None:
        product = product + bias.to(torch.float64)
    if scale_result is not None:
        product = product * scale_result.to(torch.float64)
    return product.to(out_dtype or a.dtype)


def _values(factor: Tensor) -> Tensor:
    """The numbers (rows, k) of a factor in float64."""
    if factor.dtype is not torch.float4_e2m1fn_x2:
        return factor.to(torch.float64)
    bytes_ = factor.view(torch.uint8)
    halves = torch.stack((bytes_ & 15, bytes_ >> 4), -1).flatten(-2)
    known = torch.tensor([*_E2M1, *(-each for each in _E2M1)], dtype=torch.float64)
    return known.to(factor.device)[halves.to(torch.int64)]


def _scaled(values: Tensor, scale: Tensor) -> Tensor:
    """Each number of ``values`` (rows, k) times its scale."""
    rows, k = values.shape
    if scale.numel() == 1:
        return values * scale.to(torch.float64).reshape(())
    if scale.dtype is torch.float32:
        grid = scale.to(torch.float64)
        for dim, length in enumerate((rows, k)):
            if grid.shape[dim] not in (1, length):
                grid = grid.repeat_interleave(_TILE, dim).narrow(dim, 0, length)
        return values * grid
    block = _BLOCKS.get(scale.dtype, _MX_BLOCK)
    blocks = -(-k // block)
    tiles = -(-rows // _TILE_ROWS), -(-blocks // _TILE_BLOCKS)
    laid = scale.to(torch.float64).reshape(*tiles, _TILE_ROWS // _PARTS, _PARTS, _TILE_BLOCKS)
    grid = laid.permute(0, 3, 2, 1, 4).reshape(tiles[0] * _TILE_ROWS, tiles[1] * _TILE_BLOCKS)
    return values * grid[:rows, :blocks].repeat_interleave(block, 1)[:, :k]
