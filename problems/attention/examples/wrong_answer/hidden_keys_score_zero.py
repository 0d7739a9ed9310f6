# Gives keys that must not be seen the score 0, and not minus infinity: all others are below it.
# verdict: wrong_answer

import torch


def solution(query, key, value, result, scale, batch, q_heads, kv_heads, seq_q, seq_k, head_dim):
    group = q_heads // kv_heads
    key = key.float().repeat_interleave(group, dim=1)
    value = value.float().repeat_interleave(group, dim=1)
    scores = torch.matmul(query.float(), key.transpose(2, 3)) * scale
    weights = torch.softmax(scores.tril(seq_k - seq_q), dim=-1)
    result.copy_(torch.matmul(weights, value))
