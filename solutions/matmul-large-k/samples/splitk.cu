// Split-K: the sum is cut into parts that different blocks compute at the same time.
//
// The output is too small to keep a card busy: 64 x 64 elements are one tile. So the blocks share
// out k as well. Each sums its part of k for one tile and leaves the partial sums in a workspace,
// in float32; a second kernel adds the parts up and rounds once. Nothing is added atomically, so the
// order of every sum, and with it the result, is the same in every run. Shorter sums are also more
// accurate: an error grows with the number of additions behind it.

constexpr int DEPTH = 16;       // how far along the sum one step goes
constexpr int THREADS = 256;    // as 16 x 16, each with EACH x EACH elements of the tile
constexpr size_t BLOCKS = 528;  // wanted: a few for each multiprocessor
constexpr size_t PART = 256;    // terms that a part should have at least

// Part blockIdx.z of the sums: the terms from blockIdx.z * part on.
template <int EACH>
__global__ void __launch_bounds__(THREADS)
multiply_part(const VAR* a, const VAR* b, float* partial, size_t m, size_t n, size_t k,
              size_t part) {
    constexpr int TILE = 16 * EACH;
    __shared__ float a_tile[DEPTH][TILE + 1];  // transposed; the padding spreads the stores
    __shared__ float b_tile[DEPTH][TILE];
    const int thread = threadIdx.x, tx = thread % 16, ty = thread / 16;
    const size_t top = blockIdx.y * size_t(TILE), left = blockIdx.x * size_t(TILE);
    const size_t begin = blockIdx.z * part;
    const size_t end = begin + part < k ? begin + part : k;  // the last part may be shorter

    float sum[EACH][EACH] = {};
    for (size_t start = begin; start < end; start += DEPTH) {
        for (int item = thread; item < TILE * DEPTH; item += THREADS) {
            const int r = item / DEPTH, d = item % DEPTH;
            a_tile[d][r] = top + r < m && start + d < end
                               ? static_cast<float>(a[(top + r) * k + start + d])
                               : 0.0f;
            const int e = item / TILE, c = item % TILE;
            b_tile[e][c] = start + e < end && left + c < n
                               ? static_cast<float>(b[(start + e) * n + left + c])
                               : 0.0f;
        }
        __syncthreads();  // nobody reads before everybody has written
#pragma unroll
        for (int d = 0; d < DEPTH; ++d) {
            float down[EACH], across[EACH];
#pragma unroll
            for (int i = 0; i < EACH; ++i) {
                down[i] = a_tile[d][ty + 16 * i];
                across[i] = b_tile[d][tx + 16 * i];
            }
#pragma unroll
            for (int i = 0; i < EACH; ++i) {
#pragma unroll
                for (int j = 0; j < EACH; ++j) sum[i][j] += down[i] * across[j];
            }
        }
        __syncthreads();  // nobody overwrites before everybody has read
    }

#pragma unroll
    for (int i = 0; i < EACH; ++i) {
        const size_t row = top + ty + 16 * i;
#pragma unroll
        for (int j = 0; j < EACH; ++j) {
            const size_t column = left + tx + 16 * j;
            if (row < m && column < n) partial[(blockIdx.z * m + row) * n + column] = sum[i][j];
        }
    }
}

// Adds up the parts of one element.
__global__ void add_parts(const float* partial, VAR* output, size_t count, size_t parts) {
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i >= count) return;
    float sum = 0.0f;
    for (size_t p = 0; p < parts; ++p) sum += partial[p * count + i];
    output[i] = static_cast<VAR>(sum);
}

// Scratch memory that grows when it has to: only the first call of a size allocates. It holds
// nothing that a later call relies on.
static float* workspace(size_t count) {
    static float* memory = nullptr;
    static size_t capacity = 0;
    if (count > capacity) {
        cudaFree(memory);
        cudaMalloc(reinterpret_cast<void**>(&memory), count * sizeof(float));
        capacity = count;
    }
    return memory;
}

template <int EACH>
static void multiply(const VAR* a, const VAR* b, VAR* output, size_t m, size_t n, size_t k) {
    constexpr size_t TILE = 16 * EACH;
    const size_t down = (m + TILE - 1) / TILE, across = (n + TILE - 1) / TILE;
    size_t parts = BLOCKS / (down * across);
    if (parts > (k + PART - 1) / PART) parts = (k + PART - 1) / PART;
    if (parts < 1) parts = 1;
    // Whole steps, so that no two parts share one; by the rounding fewer parts may do.
    const size_t part = ((k + parts - 1) / parts + DEPTH - 1) / DEPTH * DEPTH;
    parts = (k + part - 1) / part;

    float* partial = workspace(parts * m * n);
    const dim3 grid{unsigned(across), unsigned(down), unsigned(parts)};
    multiply_part<EACH><<<grid, THREADS>>>(a, b, partial, m, n, k, part);
    add_parts<<<unsigned((m * n + 255) / 256), 256>>>(partial, output, m * n, parts);
}

extern "C" void solution(const VAR* matrix_a, const VAR* matrix_b, VAR* output_matrix, size_t m,
                         size_t n, size_t k) {
    const size_t larger = m > n ? m : n;
    if (larger <= 16) {
        multiply<1>(matrix_a, matrix_b, output_matrix, m, n, k);  // no larger tile than there is
    } else if (larger <= 32) {
        multiply<2>(matrix_a, matrix_b, output_matrix, m, n, k);
    } else {
        multiply<4>(matrix_a, matrix_b, output_matrix, m, n, k);
    }
}
