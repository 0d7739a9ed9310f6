// Tiled without the first barrier: threads read tiles that other warps have not filled yet.
// verdict: wrong_answer

constexpr int TILE = 32;

__global__ void kernel(const VAR* a, const VAR* b, const VAR* c, float alpha, VAR* o, size_t m,
                       size_t n, size_t k) {
    __shared__ float a_tile[TILE][TILE];
    __shared__ float b_tile[TILE][TILE];
    const int x = threadIdx.x, y = threadIdx.y;
    const size_t row = blockIdx.y * size_t(TILE) + y;
    const size_t column = blockIdx.x * size_t(TILE) + x;

    float sum = 0.0f;
    for (size_t start = 0; start < k; start += TILE) {
        const bool a_inside = row < m && start + x < k;
        const bool b_inside = start + y < k && column < n;
        a_tile[y][x] = a_inside ? static_cast<float>(a[row * k + start + x]) : 0.0f;
        b_tile[y][x] = b_inside ? static_cast<float>(b[(start + y) * n + column]) : 0.0f;
#pragma unroll
        for (int i = 0; i < TILE; ++i) sum += a_tile[y][i] * b_tile[i][x];
        __syncthreads();
    }

    if (row < m && column < n) {
        const float product = sum * static_cast<float>(c[row * n + column]);
        o[row * n + column] = static_cast<VAR>(product >= 0.0f ? product : alpha * product);
    }
}

extern "C" void solution(const VAR* matrix_a, const VAR* matrix_b, const VAR* matrix_c,
                         float alpha, VAR* output_matrix, size_t m, size_t n, size_t k) {
    const dim3 block(TILE, TILE);
    const dim3 grid(unsigned((n + TILE - 1) / TILE), unsigned((m + TILE - 1) / TILE));
    kernel<<<grid, block>>>(matrix_a, matrix_b, matrix_c, alpha, output_matrix, m, n, k);
}
