"""One block per row in Numba: maximum and sum by shuffles, then by 8 numbers of shared memory."""

# dtypes: float32

import math

from numba import cuda, float32

THREADS = 256
WARPS = THREADS // 32
ALL = 0xFFFFFFFF


@cuda.jit(device=True)
def largest_of_warp(value):
    for step in (16, 8, 4, 2, 1):
        value = max(value, cuda.shfl_xor_sync(ALL, value, step))
    return value


@cuda.jit(device=True)
def sum_of_warp(value):
    for step in (16, 8, 4, 2, 1):
        value += cuda.shfl_xor_sync(ALL, value, step)
    return value


@cuda.jit
def softmax(x, y):
    of_warp = cuda.shared.array(WARPS, float32)
    row = cuda.blockIdx.x
    thread = cuda.threadIdx.x
    n = x.shape[1]

    largest = float32(-3.4028235e38)
    for j in range(thread, n, THREADS):
        largest = max(largest, x[row, j])
    largest = largest_of_warp(largest)
    if thread % 32 == 0:
        of_warp[thread // 32] = largest
    cuda.syncthreads()
    for warp in range(WARPS):
        largest = max(largest, of_warp[warp])
    cuda.syncthreads()  # all have read before it is used again

    total = float32(0)
    for j in range(thread, n, THREADS):
        total += math.exp(x[row, j] - largest)
    total = sum_of_warp(total)
    if thread % 32 == 0:
        of_warp[thread // 32] = total
    cuda.syncthreads()
    total = float32(0)
    for warp in range(WARPS):
        total += of_warp[warp]

    for j in range(thread, n, THREADS):
        y[row, j] = math.exp(x[row, j] - largest) / total


def solution(input_matrix, output_matrix, m, n):
    softmax[m, THREADS](input_matrix, output_matrix)
