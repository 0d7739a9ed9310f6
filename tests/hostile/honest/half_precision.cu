// Adds in half precision where half precision is asked for.
// threat: honest
// problem: vector-add
// dtypes: float16
// verdict: accepted

#include <cuda_fp16.h>

__global__ void add(const VAR* x, const VAR* y, VAR* z, size_t n) {
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n) z[i] = __hadd(x[i], y[i]);
}

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
    add<<<unsigned((n + 255) / 256), 256>>>(x, y, z, n);
}
