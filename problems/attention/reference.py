"""What the right answer is. The judge calls these with float64 tensors, on the CPU or on a GPU."""

from collections.abc import Iterator

import torch
from torch import Tensor

_AT_ONCE = 1 << 22
"""Scores that are in memory at a time: 32 MiB."""


def reference(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    scale: float,
    batch: int,
    q_heads: int,
    kv_heads: int,
    group: int,
    seq_q: int,
    seq_k: int,
    head_dim: int,
) -> Tensor:
    """Means of values by the exponentials of scores: (batch, q_heads, seq_q, head_dim)."""
    result = torch.empty_like(query).view(batch, kv_heads, group, seq_q, head_dim)
    for rows, weights in _weights(query, key, scale, group):
        summed = weights @ value[:, :, : weights.shape[-1]]
        mean = summed / torch.sum(weights, dim=-1, keepdim=True)
        result[:, :, :, rows] = mean.view(batch, kv_heads, group, -1, head_dim)
    return result.view(query.shape)


def magnitude(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    scale: float,
    batch: int,
    q_heads: int,
    kv_heads: int,
    group: int,
    seq_q: int,
    seq_k: int,
    head_dim: int,
) -> Tensor:
    """The root of the sum of the squares of all terms, or the result where that is more.

    That is how far errors of the single terms, which are independent of each other, take the sum.
    """
    result = torch.empty_like(query).view(batch, kv_heads, group, seq_q, head_dim)
    squares = torch.square(value)
    for rows, weights in _weights(query, key, scale, group):
        visible = weights.shape[-1]
        shares = weights / torch.sum(weights, dim=-1, keepdim=True)
        mean = shares @ value[:, :, :visible]
        spread = torch.sqrt(torch.square(shares) @ squares[:, :, :visible])
        more = torch.maximum(spread, mean.abs())
        result[:, :, :, rows] = more.view(batch, kv_heads, group, -1, head_dim)
    return result.view(query.shape)


def _weights(
    query: Tensor, key: Tensor, scale: float, group: int
) -> Iterator[tuple[slice, Tensor]]:
    """Exponentials of scores, some queries at a time: (batch, kv_heads, group · queries, keys).

    The largest of each query's is 1; those of keys that it does not see are 0. Keys that none of
    these queries sees are left out.
    """
    batch, q_heads, seq_q, head_dim = query.shape
    kv_heads, seq_k = key.shape[1:3]
    grouped = query.view(batch, kv_heads, group, seq_q, head_dim)
    at_once = max(1, _AT_ONCE // (batch * q_heads * seq_k))
    for start in range(0, seq_q, at_once):
        rows = slice(start, min(start + at_once, seq_q))
        visible = rows.stop + seq_k - seq_q
        # A group's queries one below the other, so that their keys are not copied for each head.
        some = grouped[:, :, :, rows].reshape(batch, kv_heads, -1, head_dim)
        scores = some @ key[:, :, :visible].transpose(-1, -2) * scale
        place = torch.arange(rows.start, rows.stop, device=query.device) + (seq_k - seq_q)
        hidden = torch.arange(visible, device=query.device) > place.repeat(group)[:, None]
        scores = scores.masked_fill(hidden, -torch.inf)
        yield rows, torch.exp(scores - torch.amax(scores, dim=-1, keepdim=True))
