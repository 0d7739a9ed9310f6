// Tiles in shared memory and blocks in registers.
//
// A block computes a 64 x 64 square of the output. Step by step it copies a strip of either factor
// into shared memory, so that each number is fetched once per block instead of once per thread; and
// each thread computes 4 x 4 elements, so that a number from shared memory is used four times.
// Bias and rectifier cost nothing there: they are applied to what the registers hold.

constexpr int ROWS = 64;      // of a block's tile of the output
constexpr int COLUMNS = 64;
constexpr int DEPTH = 16;     // how far along the sum one step goes
constexpr int THREADS = 256;  // as 16 x 16, each with 4 x 4 elements

__global__ void __launch_bounds__(THREADS)
gemm_bias_relu(const VAR* a, const VAR* b, const VAR* bias, VAR* output, size_t m, size_t n,
               size_t k) {
    // The tile of a is kept transposed, as the loop below reads it; the padding spreads its stores
    // over the memory banks.
    __shared__ float a_tile[DEPTH][ROWS + 1];
    __shared__ float b_tile[DEPTH][COLUMNS];
    const int thread = threadIdx.x, tx = thread % 16, ty = thread / 16;
    const size_t top = blockIdx.y * size_t(ROWS), left = blockIdx.x * size_t(COLUMNS);

    float sum[4][4] = {};
    for (size_t start = 0; start < k; start += DEPTH) {
        // Beyond the edges we store zeros: they add nothing to the sum.
        for (int item = thread; item < ROWS * DEPTH; item += THREADS) {
            const int r = item / DEPTH, d = item % DEPTH;
            a_tile[d][r] = top + r < m && start + d < k
                               ? static_cast<float>(a[(top + r) * k + start + d])
                               : 0.0f;
            const int e = item / COLUMNS, c = item % COLUMNS;
            b_tile[e][c] = start + e < k && left + c < n
                               ? static_cast<float>(b[(start + e) * n + left + c])
                               : 0.0f;
        }
        __syncthreads();  // nobody reads before everybody has written
#pragma unroll
        for (int d = 0; d < DEPTH; ++d) {
            // Eight reads from shared memory feed sixteen multiplications.
            float down[4], across[4];
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                down[i] = a_tile[d][ty + 16 * i];
                across[i] = b_tile[d][tx + 16 * i];
            }
#pragma unroll
            for (int i = 0; i < 4; ++i) {
#pragma unroll
                for (int j = 0; j < 4; ++j) sum[i][j] += down[i] * across[j];
            }
        }
        __syncthreads();  // nobody overwrites before everybody has read
    }

    // The epilogue: the product is still in registers, and goes to memory once, finished.
    for (int i = 0; i < 4; ++i) {
        const size_t row = top + ty + 16 * i;
        for (int j = 0; j < 4; ++j) {
            const size_t column = left + tx + 16 * j;
            if (row >= m || column >= n) continue;
            const float z = sum[i][j] + static_cast<float>(bias[column]);
            output[row * n + column] = static_cast<VAR>(z > 0.0f ? z : 0.0f);
        }
    }
}

extern "C" void solution(const VAR* matrix_a, const VAR* matrix_b, const VAR* bias,
                         VAR* output_matrix, size_t m, size_t n, size_t k) {
    const dim3 grid(unsigned((n + COLUMNS - 1) / COLUMNS),
                    unsigned((m + ROWS - 1) / ROWS));
    gemm_bias_relu<<<grid, THREADS>>>(matrix_a, matrix_b, bias, output_matrix, m, n, k);
}
