# Triton behind custom_kernel: makes the tensor that it returns, as on GPU MODE.
# verdict: accepted

import torch
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["n"])
def softmax(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    x_ptr += row * n
    y_ptr += row * n
    lanes = tl.arange(0, BLOCK)
    largest = tl.full((BLOCK,), -3.0e38, dtype=tl.float32)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, n, BLOCK):
        x = tl.load(x_ptr + start + lanes, mask=start + lanes < n, other=-float("inf"))
        x = x.to(tl.float32)
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


def custom_kernel(data):
    input_matrix, _ = data
    m, n = input_matrix.shape
    result = torch.empty_like(input_matrix)
    softmax[(m,)](input_matrix, result, n, BLOCK=128 if n <= 128 else 1024)
    return result
