// Sums up in half precision, where the problem asks for float32.
// verdict: wrong_answer
// dtypes: float16, bfloat16

__global__ void kernel(const VAR* a, const VAR* b, VAR* output, size_t m, size_t n, size_t k) {
    const size_t column = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    const size_t row = blockIdx.y * size_t(blockDim.y) + threadIdx.y;
    if (row >= m || column >= n) return;
    VAR sum = static_cast<VAR>(0.0f);
    for (size_t i = 0; i < k; ++i) {
        const float term =
            static_cast<float>(a[row * k + i]) * static_cast<float>(b[i * n + column]);
        sum = static_cast<VAR>(static_cast<float>(sum) + term);
    }
    output[row * n + column] = sum;
}

extern "C" void solution(const VAR* matrix_a, const VAR* matrix_b, VAR* output_matrix, size_t m,
                         size_t n, size_t k) {
    const dim3 block(32, 8);
    const dim3 grid(unsigned((n + 31) / 32), unsigned((m + 7) / 8));
    kernel<<<grid, block>>>(matrix_a, matrix_b, output_matrix, m, n, k);
}
