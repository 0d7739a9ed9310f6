// Keeps scratch memory from call to call and computes in two kernels: caches no results.
// verdict: accepted

__global__ void multiply(const VAR* a, const VAR* b, float* sums, size_t m, size_t n, size_t k) {
    const size_t column = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    const size_t row = blockIdx.y * size_t(blockDim.y) + threadIdx.y;
    if (row >= m || column >= n) return;
    float sum = 0.0f;
    for (size_t i = 0; i < k; ++i) {
        sum += static_cast<float>(a[row * k + i]) * static_cast<float>(b[i * n + column]);
    }
    sums[row * n + column] = sum;
}

__global__ void finish(const float* sums, const VAR* c, float alpha, VAR* o, size_t count) {
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i >= count) return;
    const float product = sums[i] * static_cast<float>(c[i]);
    o[i] = static_cast<VAR>(product >= 0.0f ? product : alpha * product);
}

extern "C" void solution(const VAR* matrix_a, const VAR* matrix_b, const VAR* matrix_c,
                         float alpha, VAR* output_matrix, size_t m, size_t n, size_t k) {
    static float* sums = nullptr;
    static size_t capacity = 0;
    if (m * n > capacity) {
        cudaFree(sums);
        cudaMalloc(reinterpret_cast<void**>(&sums), m * n * sizeof(float));
        capacity = m * n;
    }
    const dim3 block(32, 8);
    const dim3 grid(unsigned((n + 31) / 32), unsigned((m + 7) / 8));
    multiply<<<grid, block>>>(matrix_a, matrix_b, sums, m, n, k);
    finish<<<unsigned((m * n + 255) / 256), 256>>>(sums, matrix_c, alpha, output_matrix, m * n);
}
