# Rounds the scores to the data type: near -100 that is less than one digit after the point.
# verdict: wrong_answer

import torch


def solution(query, key, value, result, scale, batch, q_heads, kv_heads, seq_q, seq_k, head_dim):
    group = q_heads // kv_heads
    key = key.repeat_interleave(group, dim=1)
    value = value.repeat_interleave(group, dim=1)
    scores = torch.matmul(query, key.transpose(2, 3)) * scale
    hidden = torch.ones_like(scores, dtype=torch.bool).triu(seq_k - seq_q + 1)
    weights = torch.softmax(scores.masked_fill(hidden, float("-inf")).float(), dim=-1)
    result.copy_(torch.matmul(weights, value.float()))
