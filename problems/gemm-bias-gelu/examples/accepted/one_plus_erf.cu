// By 1 + erf, which cancels where the argument is far below zero: absolutely, little is lost.
// verdict: accepted

__device__ float gelu(float z) { return 0.5f * z * (1.0f + erff(z * 0.70710678f)); }

__global__ void kernel(const VAR* a, const VAR* b, const VAR* bias, VAR* output, size_t m, size_t n,
                       size_t k) {
    const size_t column = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    const size_t row = blockIdx.y * size_t(blockDim.y) + threadIdx.y;
    if (row >= m || column >= n) return;
    float sum = 0.0f;
    for (size_t i = 0; i < k; ++i) {
        sum += static_cast<float>(a[row * k + i]) * static_cast<float>(b[i * n + column]);
    }
    const float z = sum + static_cast<float>(bias[column]);
    output[row * n + column] = static_cast<VAR>(gelu(z));
}

extern "C" void solution(const VAR* matrix_a, const VAR* matrix_b, const VAR* bias,
                         VAR* output_matrix, size_t m, size_t n, size_t k) {
    const dim3 block(32, 8);
    const dim3 grid(unsigned((n + 31) / 32), unsigned((m + 7) / 8));
    kernel<<<grid, block>>>(matrix_a, matrix_b, bias, output_matrix, m, n, k);
}
