// dtypes: float16, bfloat16
//
// Tensor cores: a warp multiplies 16 x 16 blocks in one instruction, and sums up in float32.
//
// The block's tile is 128 x 128, eight warps of 64 x 32 each, so every fragment that is read from
// shared memory is used two or four times. What lies beyond the edges is filled with zeros on the
// way into shared memory, so any size works and the inner loop knows nothing about it. The
// epilogue sends each warp's sums through shared memory once, because only the hardware knows
// which thread holds which element of a fragment.
#include <mma.h>

static_assert(sizeof(VAR) == 2, "tensor cores take float32 only as TF32, which is too coarse here");

constexpr int ROWS = 128;
constexpr int COLUMNS = 128;
constexpr int DEPTH = 32;
constexpr int THREADS = 256;
constexpr int WARP_ROWS = 64;     // of the output, per warp: 2 x 4 warps
constexpr int WARP_COLUMNS = 32;
constexpr int BLOCK = 16;         // what one instruction multiplies
constexpr int PAD = 8;            // shifts each row to other memory banks
constexpr int WIDE = 8;           // elements in 16 bytes
constexpr int LOADS = ROWS * DEPTH / (THREADS * WIDE);
constexpr int SCRATCH = BLOCK + 4;

struct alignas(16) Wide {
    VAR at[WIDE];
};

struct Tiles {
    VAR a[2][ROWS][DEPTH + PAD];
    VAR b[2][DEPTH][COLUMNS + PAD];
};
union alignas(32) Shared {
    unsigned char tiles[sizeof(Tiles)];
    float sums[THREADS / 32][BLOCK][SCRATCH];
};

template <bool ALIGNED>
__device__ Wide load(const VAR* matrix, size_t row, size_t column, size_t rows, size_t columns) {
    Wide result;
    if (ALIGNED && row < rows && column < columns) {
        return *reinterpret_cast<const Wide*>(matrix + row * columns + column);
    }
#pragma unroll
    for (int i = 0; i < WIDE; ++i) {
        const bool inside = row < rows && column + i < columns;
        result.at[i] = inside ? matrix[row * columns + column + i] : static_cast<VAR>(0.0f);
    }
    return result;
}

template <bool ALIGNED>
__global__ void __launch_bounds__(THREADS)
gemm_multiply_leakyrelu(const VAR* __restrict__ a, const VAR* __restrict__ b,
                        const VAR* __restrict__ c, float alpha, VAR* __restrict__ o,
                        size_t m, size_t n, size_t k) {
    using namespace nvcuda;
    __shared__ Shared shared;
    Tiles& tiles = *reinterpret_cast<Tiles*>(shared.tiles);
    const int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
    const int warp_row = warp / 4 * WARP_ROWS, warp_column = warp % 4 * WARP_COLUMNS;
    const size_t top = blockIdx.y * size_t(ROWS), left = blockIdx.x * size_t(COLUMNS);

    wmma::fragment<wmma::accumulator, BLOCK, BLOCK, BLOCK, float> sums[4][2];
    for (auto& row : sums) {
        for (auto& sum : row) wmma::fill_fragment(sum, 0.0f);
    }

    Wide a_next[LOADS], b_next[LOADS];
    auto fetch = [&](size_t start) {
#pragma unroll
        for (int i = 0; i < LOADS; ++i) {
            const int item = thread + i * THREADS;
            a_next[i] = load<ALIGNED>(a, top + item / (DEPTH / WIDE),
                                      start + item % (DEPTH / WIDE) * WIDE, m, k);
            b_next[i] = load<ALIGNED>(b, start + item / (COLUMNS / WIDE),
                                      left + item % (COLUMNS / WIDE) * WIDE, k, n);
        }
    };
    auto keep = [&](int buffer) {
#pragma unroll
        for (int i = 0; i < LOADS; ++i) {
            const int item = thread + i * THREADS;
            VAR* a_place = &tiles.a[buffer][item / (DEPTH / WIDE)][item % (DEPTH / WIDE) * WIDE];
            VAR* b_place =
                &tiles.b[buffer][item / (COLUMNS / WIDE)][item % (COLUMNS / WIDE) * WIDE];
            *reinterpret_cast<Wide*>(a_place) = a_next[i];
            *reinterpret_cast<Wide*>(b_place) = b_next[i];
        }
    };

    fetch(0);
    keep(0);
    __syncthreads();
    int buffer = 0;
    for (size_t start = 0; start < k; start += DEPTH) {
        const bool more = start + DEPTH < k;
        if (more) fetch(start + DEPTH);  // arrives while we compute
#pragma unroll
        for (int depth = 0; depth < DEPTH; depth += BLOCK) {
            wmma::fragment<wmma::matrix_a, BLOCK, BLOCK, BLOCK, VAR, wmma::row_major> left_side[4];
            wmma::fragment<wmma::matrix_b, BLOCK, BLOCK, BLOCK, VAR, wmma::row_major> right_side[2];
#pragma unroll
            for (int y = 0; y < 4; ++y) {
                wmma::load_matrix_sync(left_side[y],
                                       &tiles.a[buffer][warp_row + y * BLOCK][depth], DEPTH + PAD);
            }
#pragma unroll
            for (int x = 0; x < 2; ++x) {
                wmma::load_matrix_sync(right_side[x],
                                       &tiles.b[buffer][depth][warp_column + x * BLOCK],
                                       COLUMNS + PAD);
            }
#pragma unroll
            for (int y = 0; y < 4; ++y) {
#pragma unroll
                for (int x = 0; x < 2; ++x) {
                    wmma::mma_sync(sums[y][x], left_side[y], right_side[x], sums[y][x]);
                }
            }
        }
        if (more) keep(buffer ^ 1);
        __syncthreads();
        buffer ^= 1;
    }

    // The tiles are done with: their memory becomes one 16 x 16 scratch pad per warp.
    float(*scratch)[SCRATCH] = shared.sums[warp];
#pragma unroll
    for (int y = 0; y < 4; ++y) {
#pragma unroll
        for (int x = 0; x < 2; ++x) {
            wmma::store_matrix_sync(&scratch[0][0], sums[y][x], SCRATCH, wmma::mem_row_major);
            __syncwarp();
            const size_t column = left + warp_column + x * BLOCK + lane % BLOCK;
#pragma unroll
            for (int i = lane / BLOCK; i < BLOCK; i += 2) {
                const size_t row = top + warp_row + y * BLOCK + i;
                if (row < m && column < n) {
                    const float factor = static_cast<float>(c[row * n + column]);
                    const float product = scratch[i][lane % BLOCK] * factor;
                    o[row * n + column] =
                        static_cast<VAR>(product >= 0.0f ? product : alpha * product);
                }
            }
            __syncwarp();  // all have read before the next block comes
        }
    }
}

static bool aligned(const void* pointer) { return reinterpret_cast<size_t>(pointer) % 16 == 0; }

extern "C" void solution(const VAR* matrix_a, const VAR* matrix_b, const VAR* matrix_c,
                         float alpha, VAR* output_matrix, size_t m, size_t n, size_t k) {
    const dim3 grid(unsigned((n + COLUMNS - 1) / COLUMNS), unsigned((m + ROWS - 1) / ROWS));
    if (k % WIDE == 0 && n % WIDE == 0 && aligned(matrix_a) && aligned(matrix_b)) {
        gemm_multiply_leakyrelu<true><<<grid, THREADS>>>(matrix_a, matrix_b, matrix_c, alpha,
                                                         output_matrix, m, n, k);
    } else {
        gemm_multiply_leakyrelu<false><<<grid, THREADS>>>(matrix_a, matrix_b, matrix_c, alpha,
                                                          output_matrix, m, n, k);
    }
}
