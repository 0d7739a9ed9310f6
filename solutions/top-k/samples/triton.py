"""Triton: each program finds the k largest of a stretch that it holds in registers, bit by bit.

A key is a 64-bit integer: in its upper half the element, turned so that integers are in the order of
the numbers, in its lower half the index from the right. So no two keys are equal, and of equal
elements those further left come first. The k-th largest element is built from its highest bit down:
a count for each bit, whatever k. Rounds over what the stretches leave follow, until a row's are one
program's; those are put in order by counting, for each, the keys above it.
"""

import torch
import triton
import triton.language as tl

LEAST = tl.constexpr(-(2**63))  # less than any key
LOWEST = tl.constexpr(-(2**31))  # its upper half
ALL = tl.constexpr(2**32 - 1)

UNUSED_BITS = {torch.float32: 0, torch.float16: 13, torch.bfloat16: 16}
"""Last bits of a float that are alike for all numbers of a data type, but for the sign's."""


@triton.jit
def keep_largest(keys, out_ptr, k, UNUSED: tl.constexpr):
    """Store the k largest keys, in any order; the least of all where there are fewer."""
    values = (keys >> 32).to(tl.int32)
    bound = tl.where(tl.sum((values >= 0).to(tl.int32), axis=0) >= k, 0, LOWEST)
    for step in range(31 - UNUSED):
        higher = bound + (1 << (30 - step))
        bound = tl.where(tl.sum((values >= higher).to(tl.int32), axis=0) >= k, higher, bound)
    # The k-th largest element is bound, but for its unused bits: what is above it is in, what equals
    # it as far as there is room.
    top = values >> UNUSED
    last = bound >> UNUSED
    room = k - tl.sum((top > last).to(tl.int32), axis=0)
    equal = tl.cumsum((top == last).to(tl.int32), axis=0)
    chosen = (top > last) | ((top == last) & (equal <= room))
    places = tl.cumsum(chosen.to(tl.int32), axis=0) - 1
    tl.store(out_ptr + places, keys, mask=chosen)


@triton.jit(do_not_specialize=["n", "stretches", "k"])
def select_elements(x_ptr, found_ptr, n, stretches, k, BLOCK: tl.constexpr, UNUSED: tl.constexpr):
    program = tl.program_id(0).to(tl.int64)  # 64-bit, because row * n can pass 2**31
    columns = program % stretches * BLOCK + tl.arange(0, BLOCK)
    inside = columns < n
    x = tl.load(x_ptr + program // stretches * n + columns, mask=inside, other=0.0)
    bits = x.to(tl.float32).to(tl.int32, bitcast=True)
    ordered = tl.where(bits < 0, bits ^ 0x7FFFFFFF, bits).to(tl.int64)
    keys = tl.where(inside, (ordered << 32) + (ALL - columns), LEAST)
    keep_largest(keys, found_ptr + program * k, k, UNUSED)


@triton.jit(do_not_specialize=["count", "stretches", "k"])
def select_found(from_ptr, found_ptr, count, stretches, k, BLOCK: tl.constexpr, UNUSED: tl.constexpr):
    program = tl.program_id(0).to(tl.int64)
    places = program % stretches * BLOCK + tl.arange(0, BLOCK)
    from_ptr += program // stretches * count
    keys = tl.load(from_ptr + places, mask=places < count, other=LEAST)
    keep_largest(keys, found_ptr + program * k, k, UNUSED)


@triton.jit(do_not_specialize=["n", "k"])
def write_in_order(
    x_ptr, found_ptr, values_ptr, indices_ptr, n, k, K: tl.constexpr, TILE: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64)
    lanes = tl.arange(0, K)
    inside = lanes < k
    keys = tl.load(found_ptr + row * k + lanes, mask=inside, other=LEAST)
    rank = tl.zeros((K,), dtype=tl.int32)
    for start in range(0, k, TILE):
        others = start + tl.arange(0, TILE)
        other = tl.load(found_ptr + row * k + others, mask=others < k, other=LEAST)
        rank += tl.sum((other[None, :] > keys[:, None]).to(tl.int32), axis=1)
    columns = ALL - (keys & ALL)
    x = tl.load(x_ptr + row * n + columns, mask=inside, other=0.0)
    tl.store(values_ptr + row * k + rank, x, mask=inside)
    tl.store(indices_ptr + row * k + rank, columns.to(tl.int32), mask=inside)


def solution(input_matrix, values, indices, m, n, k):
    block = 1024 if n <= 1024 else 4096  # more than k, so that every round leaves less
    unused = UNUSED_BITS[input_matrix.dtype]
    stretches = triton.cdiv(n, block)
    found = torch.empty(m * stretches * k, dtype=torch.int64, device=values.device)
    select_elements[(m * stretches,)](input_matrix, found, n, stretches, k, BLOCK=block, UNUSED=unused)
    while stretches > 1:
        count = stretches * k
        stretches = triton.cdiv(count, block)
        fewer = torch.empty(m * stretches * k, dtype=torch.int64, device=values.device)
        select_found[(m * stretches,)](found, fewer, count, stretches, k, BLOCK=block, UNUSED=unused)
        found = fewer
    size = 64 if k <= 64 else 1024
    write_in_order[(m,)](input_matrix, found, values, indices, n, k, K=size, TILE=16)
