// Counts the terms with 16 bits: beyond 65535 of them it stops too early.
// verdict: wrong_answer

__global__ void kernel(const VAR* a, const VAR* b, VAR* output, size_t m, size_t n, size_t k) {
    const size_t column = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    const size_t row = blockIdx.y * size_t(blockDim.y) + threadIdx.y;
    if (row >= m || column >= n) return;
    float sum = 0.0f;
    const unsigned short count = static_cast<unsigned short>(k < 65535 ? k : 65535);
    for (size_t i = 0; i < count; ++i) {
        sum += static_cast<float>(a[row * k + i]) * static_cast<float>(b[i * n + column]);
    }
    output[row * n + column] = static_cast<VAR>(sum);
}

extern "C" void solution(const VAR* matrix_a, const VAR* matrix_b, VAR* output_matrix, size_t m,
                         size_t n, size_t k) {
    const dim3 block(32, 8);
    const dim3 grid(unsigned((n + 31) / 32), unsigned((m + 7) / 8));
    kernel<<<grid, block>>>(matrix_a, matrix_b, output_matrix, m, n, k);
}
