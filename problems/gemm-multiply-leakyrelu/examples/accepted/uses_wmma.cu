// Tensor cores, as simply as can be: one warp per 16 x 16 block of the output.
// verdict: accepted
// dtypes: float16, bfloat16

#include <mma.h>

__global__ void kernel(const VAR* a, const VAR* b, const VAR* c, float alpha, VAR* o, size_t m,
                       size_t n, size_t k) {
    using namespace nvcuda;
    __shared__ alignas(32) VAR a_tile[16][16];
    __shared__ alignas(32) VAR b_tile[16][16];
    __shared__ alignas(32) float sums[16][16];
    const size_t top = blockIdx.y * size_t(16), left = blockIdx.x * size_t(16);
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (size_t start = 0; start < k; start += 16) {
        for (int i = threadIdx.x; i < 256; i += 32) {
            const int y = i / 16, x = i % 16;
            const bool a_inside = top + y < m && start + x < k;
            const bool b_inside = start + y < k && left + x < n;
            const VAR zero = static_cast<VAR>(0.0f);
            a_tile[y][x] = a_inside ? a[(top + y) * k + start + x] : zero;
            b_tile[y][x] = b_inside ? b[(start + y) * n + left + x] : zero;
        }
        __syncwarp();
        wmma::fragment<wmma::matrix_a, 16, 16, 16, VAR, wmma::row_major> first;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, VAR, wmma::row_major> second;
        wmma::load_matrix_sync(first, &a_tile[0][0], 16);
        wmma::load_matrix_sync(second, &b_tile[0][0], 16);
        wmma::mma_sync(sum, first, second, sum);
        __syncwarp();
    }
    wmma::store_matrix_sync(&sums[0][0], sum, 16, wmma::mem_row_major);
    __syncwarp();
    for (int i = threadIdx.x; i < 256; i += 32) {
        const size_t row = top + i / 16, column = left + i % 16;
        if (row >= m || column >= n) continue;
        const float product = sums[i / 16][i % 16] * static_cast<float>(c[row * n + column]);
        o[row * n + column] = static_cast<VAR>(product >= 0.0f ? product : alpha * product);
    }
}

extern "C" void solution(const VAR* matrix_a, const VAR* matrix_b, const VAR* matrix_c,
                         float alpha, VAR* output_matrix, size_t m, size_t n, size_t k) {
    const dim3 grid(unsigned((n + 15) / 16), unsigned((m + 15) / 16));
    kernel<<<grid, 32>>>(matrix_a, matrix_b, matrix_c, alpha, output_matrix, m, n, k);
}
