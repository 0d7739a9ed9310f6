# The zeros that fill up the last block are taken for elements when the squares are summed.
# verdict: wrong_answer

import triton
import triton.language as tl


@triton.jit
def layer_norm(
    x_ptr, gamma_ptr, beta_ptr, y_ptr, mean_ptr, rstd_ptr, eps, n, BLOCK: tl.constexpr
):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    inside = columns < n
    x = tl.load(x_ptr + row * n + columns, mask=inside, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / n
    difference = x - mean
    rstd = 1.0 / tl.sqrt(tl.sum(difference * difference, axis=0) / n + eps)
    gamma = tl.load(gamma_ptr + columns, mask=inside, other=0.0).to(tl.float32)
    beta = tl.load(beta_ptr + columns, mask=inside, other=0.0).to(tl.float32)
    y = difference * rstd * gamma + beta
    tl.store(y_ptr + row * n + columns, y.to(y_ptr.dtype.element_ty), mask=inside)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)


def solution(input_matrix, gamma, beta, eps, output_matrix, mean, rstd, m, n):
    block = triton.next_power_of_2(n)
    layer_norm[(m,)](
        input_matrix, gamma, beta, output_matrix, mean, rstd, eps, n, BLOCK=block
    )
