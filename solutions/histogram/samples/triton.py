"""Triton: each program counts a stretch of the numbers by itself, then adds its counts once.

With many bins counting a block costs more than it saves: there every number is added to its bin in
global memory.
"""

import triton
import triton.language as tl


@triton.jit(do_not_specialize=["n", "num_bins"])
def count_stretches(
    values_ptr,
    histogram_ptr,
    n,
    num_bins,
    STRETCH: tl.constexpr,
    BLOCK: tl.constexpr,
    BINS: tl.constexpr,
):
    begin = tl.program_id(0).to(tl.int64) * STRETCH
    end = min(begin + STRETCH, n)
    bins = tl.arange(0, BINS)
    counts = tl.zeros((BINS,), dtype=tl.int32)
    for start in range(begin, end, BLOCK):
        places = start + tl.arange(0, BLOCK)
        # What fills up the last block counts as zeros, which are taken off again.
        values = tl.load(values_ptr + places, mask=places < end, other=0)
        filled = tl.maximum(start + BLOCK - end, 0).to(tl.int32)
        counts += tl.histogram(values, BINS) - tl.where(bins == 0, filled, 0)
    tl.atomic_add(histogram_ptr + bins, counts, mask=(bins < num_bins) & (counts > 0))


@triton.jit(do_not_specialize=["n"])
def count_one_by_one(values_ptr, histogram_ptr, n, BLOCK: tl.constexpr):
    places = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = places < n
    values = tl.load(values_ptr + places, mask=inside, other=0)
    tl.atomic_add(histogram_ptr + values, 1, mask=inside)


def solution(values, histogram, n, num_bins):
    if num_bins > 1024:
        count_one_by_one[(triton.cdiv(n, 1024),)](values, histogram, n, BLOCK=1024)
        return
    stretch = 32768
    count_stretches[(triton.cdiv(n, stretch),)](
        values,
        histogram,
        n,
        num_bins,
        STRETCH=stretch,
        BLOCK=2048,
        BINS=256 if num_bins <= 256 else 1024,
    )
