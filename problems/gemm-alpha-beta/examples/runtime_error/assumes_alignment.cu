// Reads B four numbers at a time, as if its rows started at multiples of 16 bytes.
// verdict: runtime_error
// dtypes: float32

__global__ void kernel(const float* a, const float* b, float* c, float alpha, float beta, size_t m,
                       size_t n, size_t k, size_t ld_a, size_t ld_b, size_t ld_c) {
    const size_t column = (blockIdx.x * size_t(blockDim.x) + threadIdx.x) * 4;
    const size_t row = blockIdx.y * size_t(blockDim.y) + threadIdx.y;
    if (row >= m || column >= n) return;
    float sums[4] = {};
    const bool whole = column + 4 <= n;
    for (size_t i = 0; i < k; ++i) {
        const float* from = b + i * ld_b + column;
        float4 right = {from[0], 0.0f, 0.0f, 0.0f};
        if (whole) {
            right = *reinterpret_cast<const float4*>(from);
        } else {
            if (column + 1 < n) right.y = from[1];
            if (column + 2 < n) right.z = from[2];
        }
        const float left = a[row * ld_a + i];
        sums[0] += left * right.x;
        sums[1] += left * right.y;
        sums[2] += left * right.z;
        sums[3] += left * right.w;
    }
    for (size_t j = 0; j < 4 && column + j < n; ++j) {
        float* place = c + row * ld_c + column + j;
        *place = alpha * sums[j] + (beta != 0.0f ? beta * *place : 0.0f);
    }
}

extern "C" void solution(const VAR* matrix_a, const VAR* matrix_b, VAR* matrix_c, float alpha,
                         float beta, size_t m, size_t n, size_t k, size_t ld_a, size_t ld_b,
                         size_t ld_c) {
    const dim3 block(32, 8);
    const dim3 grid(unsigned((n + 127) / 128), unsigned((m + 7) / 8));
    kernel<<<grid, block>>>(matrix_a, matrix_b, matrix_c, alpha, beta, m, n, k, ld_a, ld_b, ld_c);
}
