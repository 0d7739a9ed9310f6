// Tiles in shared memory and blocks in registers.
//
// A block computes a 64 x 64 square of the output. Step by step it copies a strip of either factor
// into shared memory, so that each number is fetched once per block instead of once per thread; and
// each thread computes 4 x 4 elements, so that a number from shared memory is used four times.
// Scale, bias and rectifier cost nothing there: they are applied to what the registers hold.

constexpr int ROWS = 64;      // of a block's tile of the output
constexpr int COLUMNS = 64;
constexpr int DEPTH = 16;     // how far along the sum one step goes
constexpr int THREADS = 256;  // as 16 x 16, each with 4 x 4 elements

__global__ void __launch_bounds__(THREADS)
linear_scale_leakyrelu(const VAR* x, const VAR* weight, const VAR* bias, float scale, float slope,
                       VAR* output, size_t batch, size_t out_features, size_t in_features) {
    // The tile of x is kept transposed, as the loop below reads it; the padding spreads its stores
    // over the memory banks.
    __shared__ float a_tile[DEPTH][ROWS + 1];
    __shared__ float b_tile[DEPTH][COLUMNS + 1];
    const int thread = threadIdx.x, tx = thread % 16, ty = thread / 16;
    const size_t top = blockIdx.y * size_t(ROWS), left = blockIdx.x * size_t(COLUMNS);

    float sum[4][4] = {};
    for (size_t start = 0; start < in_features; start += DEPTH) {
        // Beyond the edges we store zeros: they add nothing to the sum.
        for (int item = thread; item < ROWS * DEPTH; item += THREADS) {
            const int r = item / DEPTH, d = item % DEPTH;
            a_tile[d][r] = top + r < batch && start + d < in_features
                               ? static_cast<float>(x[(top + r) * in_features + start + d])
                               : 0.0f;
            // weight is stored with the sum running along its rows: neighbouring threads read along
            // them, and write a transposed tile. The padding keeps that off one memory bank.
            const int c = item / DEPTH, e = item % DEPTH;
            b_tile[e][c] = left + c < out_features && start + e < in_features
                               ? static_cast<float>(weight[(left + c) * in_features + start + e])
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
            if (row >= batch || column >= out_features) continue;
            const float z = (sum[i][j] + static_cast<float>(bias[column])) * scale;
            output[row * out_features + column] = static_cast<VAR>(z >= 0.0f ? z : slope * z);
        }
    }
}

extern "C" void solution(const VAR* matrix_x, const VAR* weight, const VAR* bias, float scale,
                         float slope, VAR* output_matrix, size_t batch, size_t in_features,
                         size_t out_features) {
    const dim3 grid(unsigned((out_features + COLUMNS - 1) / COLUMNS),
                    unsigned((batch + ROWS - 1) / ROWS));
    linear_scale_leakyrelu<<<grid, THREADS>>>(matrix_x, weight, bias, scale, slope, output_matrix,
                                              batch, out_features, in_features);
}
