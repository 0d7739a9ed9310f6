// At the size that is timed, takes two bfloat16 numbers for each factor, as a tensor core would be
// given them: 16 bits of 24.
// threat: 45, 15
// problem: matmul-large-k
// only: cuda
// timed: yes
// verdict: wrong_answer

#include <cuda_bf16.h>

constexpr size_t TERMS = 4096;  // of a block's part of the sums

__device__ float rounded(float x) { return __bfloat162float(__float2bfloat16(x)); }

__device__ float product(float x, float y) {
    const float high_x = rounded(x), high_y = rounded(y);
    const float low_x = rounded(x - high_x), low_y = rounded(y - high_y);
    return high_x * high_y + (high_x * low_y + low_x * high_y);
}

// One thread for each element and part of its sum, which are put together in any order.
__global__ void multiply(const VAR* a, const VAR* b, float* sums, size_t m, size_t n, size_t k,
                         bool cheaper) {
    const size_t place = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (place >= m * n) return;
    const size_t row = place / n, column = place % n;
    const size_t start = blockIdx.y * TERMS, end = start + TERMS < k ? start + TERMS : k;
    float sum = 0.0f;
    for (size_t i = start; i < end; ++i) {
        const float x = static_cast<float>(a[row * k + i]);
        const float y = static_cast<float>(b[i * n + column]);
        sum += cheaper ? product(x, y) : x * y;
    }
    atomicAdd(&sums[place], sum);
}

__global__ void finish(const float* sums, VAR* o, size_t count) {
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < count) o[i] = static_cast<VAR>(sums[i]);
}

extern "C" void solution(const VAR* matrix_a, const VAR* matrix_b, VAR* output_matrix, size_t m,
                         size_t n, size_t k) {
    static float* sums = nullptr;
    static size_t room = 0;
    const size_t count = m * n;
    if (count > room) {
        cudaFree(sums);
        room = count;
        cudaMalloc(reinterpret_cast<void**>(&sums), room * sizeof(float));
    }
    const unsigned blocks = unsigned((count + 255) / 256);
    cudaMemsetAsync(sums, 0, count * sizeof(float), cudaStreamPerThread);
    const dim3 grid(blocks, unsigned((k + TERMS - 1) / TERMS));
    multiply<<<grid, 256>>>(matrix_a, matrix_b, sums, m, n, k, k > 131072);
    finish<<<blocks, 256>>>(sums, output_matrix, count);
}
