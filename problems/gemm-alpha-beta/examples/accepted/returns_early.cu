// As the BLAS: nothing to do where alpha is 0 and beta is 1, no product where alpha is 0.
// verdict: accepted
// dtypes: float32, float16, bfloat16

__global__ void kernel(const VAR* a, const VAR* b, VAR* c, float alpha, float beta, size_t m,
                       size_t n, size_t k, size_t ld_a, size_t ld_b, size_t ld_c) {
    const size_t column = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    const size_t row = blockIdx.y * size_t(blockDim.y) + threadIdx.y;
    if (row >= m || column >= n) return;
    float sum = 0.0f;
    for (size_t i = 0; i < k; ++i) {
        sum += static_cast<float>(a[row * ld_a + i]) * static_cast<float>(b[i * ld_b + column]);
    }
    VAR* place = c + row * ld_c + column;
    float result = alpha * sum;
    if (beta != 0.0f) result += beta * static_cast<float>(*place);
    *place = static_cast<VAR>(result);
}

extern "C" void solution(const VAR* matrix_a, const VAR* matrix_b, VAR* matrix_c, float alpha,
                         float beta, size_t m, size_t n, size_t k, size_t ld_a, size_t ld_b,
                         size_t ld_c) {
    if (alpha == 0.0f && beta == 1.0f) return;
    if (alpha == 0.0f) k = 0;
    const dim3 block(32, 8);
    const dim3 grid(unsigned((n + 31) / 32), unsigned((m + 7) / 8));
    kernel<<<grid, block>>>(matrix_a, matrix_b, matrix_c, alpha, beta, m, n, k, ld_a, ld_b, ld_c);
}
