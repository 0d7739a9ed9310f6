"""Digests of rows of memory under secret keys: a row that changes seldom keeps its own.

A row is 4096 bytes, taken as words m₀ … m₁₀₂₃ of 32 bits. One half of its digest is

    (k₀ + m₀)(k₁ + m₁) + (k₂ + m₂)(k₃ + m₃) + … modulo 2⁶⁴, the sums in brackets modulo 2³²,

for keys k₀ … k₁₀₂₃, each even among all words; the other half is the same with other keys. Two
rows that differ have the same half for a part of at most 2⁻³² of all keys, so both, which are
independent, for at most 2⁻⁶⁴.

Source: NH in Black, Halevi, Krawczyk, Krovetz, Rogaway, "UMAC: Fast and Secure Message
Authentication", CRYPTO 1999, theorem 2.
"""

import torch
from torch import Tensor

from harness.device.own_kernel import OwnKernel
from harness.runner.driver import Driver

ROW = 4096
"""Bytes of a row; the digest of one takes 16."""
KEYS = (2, ROW // 4)
"""The keys of both halves, int32."""
_AT_ONCE = 1 << 6
"""Rows of which torch computes the digest at a time."""
_WARPS, _BLOCKS = 8, 8 * 256


def digest_by_torch(rows: Tensor, keys: Tensor, into: Tensor) -> None:
    """Write the digests of ``rows`` (n, :data:`ROW`; uint8) by ``keys`` to (n, 2), int64.

    Words have no sign: all is taken modulo 2³², and 2⁶⁴.
    """
    secret = keys.long()
    for first in range(0, len(rows), _AT_ONCE):
        words = rows[first : first + _AT_ONCE].view(torch.int32).long()
        for half, of_half in enumerate(secret):
            factors = (words + of_half) & 0xFFFFFFFF
            into[first : first + _AT_ONCE, half] = (factors[:, ::2] * factors[:, 1::2]).sum(1)


class DigestKernel:
    """Does the same on a GPU, as fast as the rows can be read."""

    def __init__(self, driver: Driver) -> None:
        self._kernel = OwnKernel(driver, "digest")

    def __call__(self, rows: Tensor, keys: Tensor, into: Tensor) -> None:
        """As :func:`digest_by_torch`, of rows at a multiple of 16 bytes, and not waited for."""
        blocks = min(_BLOCKS, -(-len(rows) // _WARPS))
        self._kernel.launch(blocks, rows, len(rows), keys, into, threads=32 * _WARPS)
