# Triton without a matrix product: a program per query.
# verdict: accepted

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
    query = tl.load(query_ptr + row * head_dim + dims, mask=dims < head_dim, other=0.0)
    query = query.to(tl.float32) * scale
    key_ptr += shared_head * seq_k * head_dim
    value_ptr += shared_head * seq_k * head_dim
    largest = -float("inf")
    total = 0.0
    summed = tl.zeros((DIMS,), dtype=tl.float32)
    visible = row % seq_q + seq_k - seq_q + 1
    for start in range(0, visible, KEYS):
        keys = start + tl.arange(0, KEYS)
        inside = (keys < visible)[:, None] & (dims < head_dim)[None, :]
        where = keys[:, None] * head_dim + dims[None, :]
        key = tl.load(key_ptr + where, mask=inside, other=0.0).to(tl.float32)
        scores = tl.sum(key * query[None, :], axis=1)
        scores = tl.where(keys < visible, scores, -float("inf"))
        larger = tl.maximum(largest, tl.max(scores, axis=0))
        weights = tl.exp(scores - larger)
        kept = tl.exp(largest - larger)
        value = tl.load(value_ptr + where, mask=inside, other=0.0).to(tl.float32)
        summed = summed * kept + tl.sum(weights[:, None] * value, axis=0)
        total = total * kept + tl.sum(weights, axis=0)
        largest = larger
    result = (summed / total).to(result_ptr.dtype.element_ty)
    tl.store(result_ptr + row * head_dim + dims, result, mask=dims < head_dim)


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
        KEYS=64,
        DIMS=triton.next_power_of_2(head_dim),
    )
