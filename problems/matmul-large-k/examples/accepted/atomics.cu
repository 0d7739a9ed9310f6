// Split-K with atomics: the parts are added in any order, onto zeros.
// verdict: accepted
// dtypes: float32

__global__ void add_part(const VAR* a, const VAR* b, float* output, size_t m, size_t n, size_t k,
                         size_t part) {
    const size_t column = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    const size_t row = blockIdx.y * size_t(blockDim.y) + threadIdx.y;
    if (row >= m || column >= n) return;
    const size_t begin = blockIdx.z * part;
    float sum = 0.0f;
    for (size_t i = begin; i < begin + part && i < k; ++i) {
        sum += a[row * k + i] * b[i * n + column];
    }
    atomicAdd(&output[row * n + column], sum);
}

extern "C" void solution(const VAR* matrix_a, const VAR* matrix_b, VAR* output_matrix, size_t m,
                         size_t n, size_t k) {
    cudaMemsetAsync(output_matrix, 0, m * n * sizeof(VAR), cudaStreamPerThread);
    const size_t parts = k < 4096 ? 1 : 32, part = (k + parts - 1) / parts;
    const dim3 block(32, 8);
    const dim3 grid(unsigned((n + 31) / 32), unsigned((m + 7) / 8), unsigned(parts));
    add_part<<<grid, block>>>(matrix_a, matrix_b, output_matrix, m, n, k, part);
}
