"""CUDA C++ in a string, compiled by CuPy when the file is loaded.

`cupy.asarray` makes an array of a torch tensor without copying it.
"""

# dtypes: float32

import cupy

THREADS = 256
add = cupy.RawKernel(
    r"""
    extern "C" __global__ void add(const float* x, const float* y, float* z, size_t n) {
        const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
        if (i < n) z[i] = x[i] + y[i];
    }
    """,
    "add",
)


def solution(x, y, z, n):
    arrays = [cupy.asarray(tensor) for tensor in (x, y, z)]
    add(((n + THREADS - 1) // THREADS,), (THREADS,), (*arrays, cupy.uint64(n)))
