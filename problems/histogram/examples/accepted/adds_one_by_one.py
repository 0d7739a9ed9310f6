# Adds one to the bin of every number in global memory.
# verdict: accepted

import triton
import triton.language as tl


@triton.jit
def count(values_ptr, histogram_ptr, n, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = places < n
    values = tl.load(values_ptr + places, mask=inside, other=0)
    tl.atomic_add(histogram_ptr + values, 1, mask=inside)


def solution(values, histogram, n, num_bins):
    count[(triton.cdiv(n, 1024),)](values, histogram, n, BLOCK=1024)
