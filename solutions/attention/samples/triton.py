"""Triton, on tensor cores: a program per tile of queries walks along the keys they see.

The heads of a group have their keys and values in common, so their queries share tiles: row r stands
for query r // group of head r % group. With one query for each head, a tile is still a whole group.
"""

import triton
import triton.language as tl


@triton.jit(do_not_specialize=["q_heads", "kv_heads", "seq_q", "seq_k"])
def attend(
    query_ptr,
    key_ptr,
    value_ptr,
    result_ptr,
    scale,
    q_heads,
    kv_heads,
    seq_q,
    seq_k,
    head_dim,
    ROWS: tl.constexpr,
    KEYS: tl.constexpr,
    DIMS: tl.constexpr,
):
    group = q_heads // kv_heads
    sequence = tl.program_id(1) // kv_heads
    shared_head = tl.program_id(1) % kv_heads
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    place = row // group
    head = sequence * q_heads + shared_head * group + row % group
    dims = tl.arange(0, DIMS)  # a power of two, which head_dim need not be
    # 64-bit, because there may be more than 2**31 elements.
    where = (head.to(tl.int64) * seq_q + place)[:, None] * head_dim + dims[None, :]
    inside = (place < seq_q)[:, None] & (dims < head_dim)[None, :]
    query = tl.load(query_ptr + where, mask=inside, other=0.0)

    first_key = tl.program_id(1).to(tl.int64) * seq_k * head_dim
    key_ptr += first_key
    value_ptr += first_key
    # Powers of two instead of e: that is what the hardware has.
    scale *= 1.4426950408889634
    largest = tl.full((ROWS,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((ROWS,), dtype=tl.float32)
    summed = tl.zeros((ROWS, DIMS), dtype=tl.float32)
    last_place = tl.minimum((tl.program_id(0) * ROWS + ROWS - 1) // group, seq_q - 1)
    visible = last_place + seq_k - seq_q + 1  # keys that some query of the tile sees
    for start in range(0, visible, KEYS):
        keys = start + tl.arange(0, KEYS)
        there = (keys < seq_k)[:, None] & (dims < head_dim)[None, :]
        at = keys[:, None] * head_dim + dims[None, :]
        key = tl.load(key_ptr + at, mask=there, other=0.0)
        scores = tl.dot(query, tl.trans(key)) * scale
        seen = keys[None, :] <= (place + seq_k - seq_q)[:, None]
        scores = tl.where(seen, scores, -float("inf"))  # not 0, which would be the largest
        # Every query sees the first key, so the largest is finite from the first tile on.
        larger = tl.maximum(largest, tl.max(scores, axis=1))
        kept = tl.exp2(largest - larger)
        weights = tl.exp2(scores - larger[:, None])
        value = tl.load(value_ptr + at, mask=there, other=0.0)
        summed = summed * kept[:, None] + tl.dot(weights.to(value.dtype), value)
        total = total * kept + tl.sum(weights, axis=1)
        largest = larger
    result = summed / total[:, None]
    tl.store(result_ptr + where, result.to(result_ptr.dtype.element_ty), mask=inside)


def solution(query, key, value, result, scale, batch, q_heads, kv_heads, seq_q, seq_k, head_dim):
    group_rows = q_heads // kv_heads * seq_q
    rows = min(64, max(16, triton.next_power_of_2(group_rows)))
    attend[(triton.cdiv(group_rows, rows), batch * kv_heads)](
        query,
        key,
        value,
        result,
        scale,
        q_heads,
        kv_heads,
        seq_q,
        seq_k,
        head_dim,
        ROWS=rows,
        KEYS=64,
        DIMS=triton.next_power_of_2(head_dim),
    )
