# Fills up the block with zeros: larger than the elements of a row that is negative.
# verdict: wrong_answer

import triton
import triton.language as tl


@triton.jit
def top_k(x_ptr, values_ptr, indices_ptr, n, k, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + columns, mask=columns < n, other=0.0).to(tl.float32)
    for turn in range(k):
        top = tl.max(x, axis=0)
        index = tl.min(tl.where(x == top, columns, BLOCK), axis=0)
        tl.store(values_ptr + row * k + turn, top)
        tl.store(indices_ptr + row * k + turn, index)
        x = tl.where(columns == index, -float("inf"), x)


def solution(input_matrix, values, indices, m, n, k):
    top_k[(m,)](input_matrix, values, indices, n, k, BLOCK=triton.next_power_of_2(n))
