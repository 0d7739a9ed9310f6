"""Triton: one program per row, which walks along it in blocks.

Lanes beyond the end of the row are filled with minus infinity: it is never the maximum, and its
exponential is zero. Zero would be wrong for both, since a row may be negative throughout.
"""

import triton
import triton.language as tl


@triton.jit(do_not_specialize=["n"])
def softmax(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)  # 64-bit, because row * n can pass 2**31
    x_ptr += row * n
    y_ptr += row * n
    lanes = tl.arange(0, BLOCK)

    # For each lane the largest element seen and the sum of exp(x - largest). When a larger one
    # turns up, what was summed so far is scaled down. The start is finite: no inf - inf.
    largest = tl.full((BLOCK,), -3.0e38, dtype=tl.float32)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, n, BLOCK):
        inside = start + lanes < n
        x = tl.load(x_ptr + start + lanes, mask=inside, other=-float("inf")).to(tl.float32)
        larger = tl.maximum(largest, x)
        total = total * tl.exp(largest - larger) + tl.exp(x - larger)
        largest = larger

    row_largest = tl.max(largest, axis=0)
    row_total = tl.sum(total * tl.exp(largest - row_largest), axis=0)

    for start in range(0, n, BLOCK):
        inside = start + lanes < n
        x = tl.load(x_ptr + start + lanes, mask=inside, other=-float("inf")).to(tl.float32)
        y = tl.exp(x - row_largest) / row_total
        tl.store(y_ptr + start + lanes, y.to(y_ptr.dtype.element_ty), mask=inside)


def solution(input_matrix, output_matrix, m, n):
    # Three variants are enough; each costs a compilation.
    block = 128 if n <= 128 else 1024 if n <= 1024 else 4096
    softmax[(m,)](input_matrix, output_matrix, n, BLOCK=block, num_warps=max(1, block // 512))
