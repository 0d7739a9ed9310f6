# Triton with a tile as wide as the largest power of two within head_dim: misses the rest of it.
# verdict: wrong_answer

import triton
import triton.language as tl


@triton.jit
def attend(
    query_ptr,
    key_ptr,
    value_ptr,
    result_ptr,
    scale,
    group,
    seq_q,
    seq_k,
    head_dim,
    KEYS: tl.constexpr,
    DIMS: tl.constexpr,
):
    row = tl.program_id(0)
    shared_head = row // seq_q // group
    dims = tl.arange(0, DIMS)
    keys = tl.arange(0, KEYS)
    query = tl.load(query_ptr + row * head_dim + dims).to(tl.float32) * scale
    inside = (keys <= row % seq_q + seq_k - seq_q)[:, None]
    where = (shared_head * seq_k + keys)[:, None] * head_dim + dims[None, :]
    key = tl.load(key_ptr + where, mask=inside, other=0.0).to(tl.float32)
    value = tl.load(value_ptr + where, mask=inside, other=0.0).to(tl.float32)
    scores = tl.sum(key * query[None, :], axis=1)[:, None]
    scores = tl.where(inside, scores, -float("inf"))
    weights = tl.exp(scores - tl.max(scores, axis=0, keep_dims=True))
    result = tl.sum(weights * value, axis=0) / tl.sum(weights)
    tl.store(result_ptr + row * head_dim + dims, result.to(result_ptr.dtype.element_ty))


def solution(query, key, value, result, scale, batch, q_heads, kv_heads, seq_q, seq_k, head_dim):
    attend[(batch * q_heads * seq_q,)](
        query,
        key,
        value,
        result,
        scale,
        q_heads // kv_heads,
        seq_q,
        seq_k,
        head_dim,
        KEYS=triton.next_power_of_2(seq_k),
        DIMS=triton.next_power_of_2(head_dim + 1) // 2,
    )
