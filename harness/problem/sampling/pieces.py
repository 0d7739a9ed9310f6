"""Pieces of a tensor that is filled: each of bounded size."""

import math
from collections.abc import Iterator

import torch
from torch import Tensor

MAX_CHUNK = 1 << 24
"""Elements drawn at a time on the CPU, in float64: 128 MiB."""
MAX_DEVICE_CHUNK = 1 << 22
"""Elements drawn at a time elsewhere, where some families make four int64 of each: 128 MiB."""


def on_host(out: Tensor) -> bool:
    """Whether values must be the same for ever, and memory is no matter."""
    return out.device.type == "cpu"


def chunks(out: Tensor, dimensions: int | None = None, *, even: bool = False) -> Iterator[Tensor]:
    """Views of ``out`` that together are all of it, each of bounded size where it can be.

    Only the first ``dimensions`` count, and are cut; ``even``: at even places.
    """
    shape = out.shape[:dimensions]
    most = MAX_CHUNK if on_host(out) else MAX_DEVICE_CHUNK
    longest = max(range(len(shape)), key=lambda d: shape[d], default=0)
    unit = 2 if even else 1
    if math.prod(shape) <= most or shape[longest] <= unit:
        yield out
        return
    units = -(-shape[longest] // unit)
    pieces = min(-(-math.prod(shape) // most), units)
    longer = units % pieces  # so many pieces have one unit more than the others
    lengths = [unit * (units // pieces + (piece < longer)) for piece in range(pieces)]
    lengths[-1] -= sum(lengths) - shape[longest]
    for part in torch.split_with_sizes(out, lengths, dim=longest):
        yield from (part,) if on_host(out) else chunks(part, dimensions, even=even)
