// Four results are stored at once, at addresses that allow it; what comes before and after the
// first and last of them goes one by one. The inputs, misaligned in their own ways, are read singly.
// verdict: accepted
// dtypes: float32

#include <cstdint>

__global__ void add(const float* x, const float* y, float* z, size_t n, size_t head) {
    const size_t quad = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    const size_t i = head + quad * 4;
    if (i + 4 <= n) {
        *reinterpret_cast<float4*>(z + i) = make_float4(
            x[i] + y[i], x[i + 1] + y[i + 1], x[i + 2] + y[i + 2], x[i + 3] + y[i + 3]);
    } else {
        for (size_t j = i; j < n; ++j) z[j] = x[j] + y[j];
    }
    if (quad == 0) {
        for (size_t j = 0; j < head; ++j) z[j] = x[j] + y[j];
    }
}

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
    size_t head = (16 - reinterpret_cast<uintptr_t>(z) % 16) % 16 / sizeof(float);
    if (head > n) head = n;
    const size_t quads = (n - head) / 4 + 1;
    add<<<unsigned((quads + 255) / 256), 256>>>(x, y, z, n, head);
}
