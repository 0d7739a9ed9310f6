# Loads the counts, adds one, stores them: of equal numbers in a block only one is counted.
# verdict: wrong_answer

import triton
import triton.language as tl


@triton.jit
def count(values_ptr, histogram_ptr, n, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = places < n
    values = tl.load(values_ptr + places, mask=inside, other=0)
    counts = tl.load(histogram_ptr + values, mask=inside, other=0)
    tl.store(histogram_ptr + values, counts + 1, mask=inside)


def solution(values, histogram, n, num_bins):
    count[(triton.cdiv(n, 1024),)](values, histogram, n, BLOCK=1024)
