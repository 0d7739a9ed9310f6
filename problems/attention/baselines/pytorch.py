"""PyTorch's own attention, which is a fused kernel on a GPU."""

import torch
from torch.nn.attention.bias import causal_lower_right


def solution(query, key, value, result, scale, batch, q_heads, kv_heads, seq_q, seq_k, head_dim):
    group = q_heads // kv_heads
    # The last query sees all keys; is_causal=True would have the first one see the first key alone.
    mask = causal_lower_right(seq_q, seq_k)
    result.copy_(
        torch.nn.functional.scaled_dot_product_attention(
            query,
            key.repeat_interleave(group, dim=1),
            value.repeat_interleave(group, dim=1),
            attn_mask=mask,
            scale=scale,
        )
    )
