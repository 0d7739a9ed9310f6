// Stores whole rows of ld_c elements: what lies between the rows of C belongs to others.
// verdict: wrong_answer; on cpu: runtime_error (the access is noticed as such)
// dtypes: float64

__global__ void kernel(const VAR* a, const VAR* b, VAR* c, float alpha, float beta, size_t m,
                       size_t n, size_t k, size_t ld_a, size_t ld_b, size_t ld_c) {
    const size_t column = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    const size_t row = blockIdx.y * size_t(blockDim.y) + threadIdx.y;
    if (row >= m || column >= ld_c || (row + 1 == m && column >= n)) return;
    if (column >= n) {
        c[row * ld_c + column] = 0.0;
        return;
    }
    double sum = 0.0;
    for (size_t i = 0; i < k; ++i) {
        sum += a[row * ld_a + i] * b[i * ld_b + column];
    }
    VAR* place = c + row * ld_c + column;
    double result = alpha * sum;
    if (beta != 0.0f) result += beta * *place;
    *place = result;
}

extern "C" void solution(const VAR* matrix_a, const VAR* matrix_b, VAR* matrix_c, float alpha,
                         float beta, size_t m, size_t n, size_t k, size_t ld_a, size_t ld_b,
                         size_t ld_c) {
    const dim3 block(32, 8);
    const dim3 grid(unsigned((ld_c + 31) / 32), unsigned((m + 7) / 8));
    kernel<<<grid, block>>>(matrix_a, matrix_b, matrix_c, alpha, beta, m, n, k, ld_a, ld_b, ld_c);
}
