# Fills up the last block of a row with zeros instead of minus infinity.
# verdict: wrong_answer

import triton
import triton.language as tl


@triton.jit
def softmax(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    where = tl.program_id(0) * n + lanes
    x = tl.load(x_ptr + where, mask=lanes < n, other=0.0).to(tl.float32)
    exponentials = tl.exp(x - tl.max(x, axis=0))
    y = exponentials / tl.sum(exponentials, axis=0)
    tl.store(y_ptr + where, y.to(y_ptr.dtype.element_ty), mask=lanes < n)


def solution(input_matrix, output_matrix, m, n):
    softmax[(m,)](input_matrix, output_matrix, n, BLOCK=triton.next_power_of_2(n))
