// Adds integers in half precision, which has no odd numbers beyond 2048.
// verdict: wrong_answer
// dtypes: int32

#include <cuda_fp16.h>

__global__ void add(const VAR* x, const VAR* y, VAR* z, size_t n) {
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n) z[i] = static_cast<VAR>(__half2float(__float2half(float(x[i]) + float(y[i]))));
}

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
    add<<<unsigned((n + 255) / 256), 256>>>(x, y, z, n);
}
