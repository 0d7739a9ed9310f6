// Scales C in place, then adds partial sums of 16 terms by atomics, in whatever order they come.
// verdict: accepted
// dtypes: float32, float64

constexpr size_t PART = 16;

__global__ void scale(VAR* c, VAR beta, size_t m, size_t n, size_t ld_c) {
    const size_t column = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    const size_t row = blockIdx.y * size_t(blockDim.y) + threadIdx.y;
    if (row >= m || column >= n) return;
    VAR* place = c + row * ld_c + column;
    *place = beta == 0 ? VAR(0) : beta * *place;
}

__global__ void add(const VAR* a, const VAR* b, VAR* c, VAR alpha, size_t m, size_t n, size_t k,
                    size_t ld_a, size_t ld_b, size_t ld_c) {
    const size_t column = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    const size_t row = blockIdx.y * size_t(blockDim.y) + threadIdx.y;
    if (row >= m || column >= n) return;
    const size_t start = blockIdx.z * PART, stop = start + PART < k ? start + PART : k;
    VAR sum = 0;
    for (size_t i = start; i < stop; ++i) sum += a[row * ld_a + i] * b[i * ld_b + column];
    atomicAdd(c + row * ld_c + column, alpha * sum);
}

extern "C" void solution(const VAR* matrix_a, const VAR* matrix_b, VAR* matrix_c, float alpha,
                         float beta, size_t m, size_t n, size_t k, size_t ld_a, size_t ld_b,
                         size_t ld_c) {
    const dim3 block(32, 8);
    dim3 grid(unsigned((n + 31) / 32), unsigned((m + 7) / 8));
    scale<<<grid, block>>>(matrix_c, beta, m, n, ld_c);
    grid.z = unsigned((k + PART - 1) / PART);
    add<<<grid, block>>>(matrix_a, matrix_b, matrix_c, alpha, m, n, k, ld_a, ld_b, ld_c);
}
