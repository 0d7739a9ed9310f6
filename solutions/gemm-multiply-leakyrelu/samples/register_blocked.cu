// Blocking in registers: about as fast as float32 gets without tensor cores.
//
// In tiled.cu every multiplication reads two numbers from shared memory, which is then the
// bottleneck. Here each thread computes 8 x 8 elements: 16 reads feed 64 multiplications. Two more
// steps hide the wait for memory: loads are 16 bytes wide where the rows are aligned, and the
// next tile is fetched into registers while the current one is being used.

constexpr int ROWS = 128;     // of a block's tile of the output
constexpr int COLUMNS = 128;
constexpr int THREADS = 256;  // as 16 x 16, each with 8 x 8 elements
constexpr int WIDE = 16 / sizeof(VAR);  // elements in 16 bytes
constexpr int DEPTH = 2 * WIDE;  // how far along k one step goes: one wide load per thread and tile
constexpr int PAD = 4;        // keeps the transposed stores of A off one memory bank
static_assert(ROWS * DEPTH == THREADS * WIDE && COLUMNS == ROWS, "one wide load each");

// Rows and columns are counted in 32 bits, which saves registers; offsets into a matrix in 64.
using Index = unsigned;

struct alignas(16) Wide {
    VAR at[WIDE];
};
struct alignas(4 * sizeof(VAR)) Four {
    VAR at[4];
};

// WIDE elements from (row, column) of a matrix; zeros beyond its edges. ALIGNED promises that all
// rows start at multiples of 16 bytes and hold whole groups of WIDE.
template <bool ALIGNED>
__device__ Wide load(const VAR* matrix, Index row, Index column, Index rows, Index columns) {
    const VAR* place = matrix + size_t(row) * columns + column;
    if (ALIGNED && row < rows && column < columns) return *reinterpret_cast<const Wide*>(place);
    Wide result;
#pragma unroll
    for (int i = 0; i < WIDE; ++i) {
        const bool inside = row < rows && column + i < columns;
        result.at[i] = inside ? place[i] : static_cast<VAR>(0.0f);
    }
    return result;
}

template <bool ALIGNED>
__global__ void __launch_bounds__(THREADS, 2)
gemm_multiply_leakyrelu(const VAR* __restrict__ a, const VAR* __restrict__ b,
                        const VAR* __restrict__ c, float alpha, VAR* __restrict__ o,
                        Index m, Index n, Index k) {
    // A is kept transposed, so that the 8 rows a thread needs lie next to each other.
    __shared__ alignas(16) float a_tile[2][DEPTH][ROWS + PAD];
    __shared__ alignas(16) float b_tile[2][DEPTH][COLUMNS];
    const int thread = threadIdx.x;
    const int tx = thread % 16, ty = thread / 16;
    const Index top = blockIdx.y * ROWS, left = blockIdx.x * COLUMNS;

    // Which 16 bytes of each tile this thread fetches.
    const int a_row = thread / (DEPTH / WIDE), a_column = thread % (DEPTH / WIDE) * WIDE;
    const int b_row = thread / (COLUMNS / WIDE), b_column = thread % (COLUMNS / WIDE) * WIDE;
    Wide a_next, b_next;
    auto fetch = [&](Index start) {
        a_next = load<ALIGNED>(a, top + a_row, start + a_column, m, k);
        b_next = load<ALIGNED>(b, start + b_row, left + b_column, k, n);
    };
    auto keep = [&](int buffer) {
#pragma unroll
        for (int j = 0; j < WIDE; ++j) {
            a_tile[buffer][a_column + j][a_row] = static_cast<float>(a_next.at[j]);
            b_tile[buffer][b_row][b_column + j] = static_cast<float>(b_next.at[j]);
        }
    };

    float sum[8][8] = {};
    fetch(0);
    keep(0);
    __syncthreads();
    int buffer = 0;
    for (Index start = 0; start < k; start += DEPTH) {
        const bool more = start + DEPTH < k;
        if (more) fetch(start + DEPTH);  // arrives while we compute
#pragma unroll
        for (int i = 0; i < DEPTH; ++i) {
            // Rows 4 ty .. 4 ty + 3 and the same 64 further down; columns likewise. So the threads
            // of a warp read neighbouring groups of four, without bank conflicts.
            float rows[8], columns[8];
            *reinterpret_cast<float4*>(rows) =
                *reinterpret_cast<const float4*>(&a_tile[buffer][i][ty * 4]);
            *reinterpret_cast<float4*>(rows + 4) =
                *reinterpret_cast<const float4*>(&a_tile[buffer][i][ty * 4 + 64]);
            *reinterpret_cast<float4*>(columns) =
                *reinterpret_cast<const float4*>(&b_tile[buffer][i][tx * 4]);
            *reinterpret_cast<float4*>(columns + 4) =
                *reinterpret_cast<const float4*>(&b_tile[buffer][i][tx * 4 + 64]);
#pragma unroll
            for (int y = 0; y < 8; ++y) {
#pragma unroll
                for (int x = 0; x < 8; ++x) sum[y][x] += rows[y] * columns[x];
            }
        }
        // The other buffer was last read before the barrier that ended the previous step.
        if (more) keep(buffer ^ 1);
        __syncthreads();
        buffer ^= 1;
    }

    auto finish = [alpha](float total, VAR factor) {
        const float product = total * static_cast<float>(factor);
        return static_cast<VAR>(product >= 0.0f ? product : alpha * product);
    };
#pragma unroll
    for (int y = 0; y < 8; ++y) {
        const Index row = top + ty * 4 + y % 4 + y / 4 * 64;
        if (row >= m) continue;
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const Index column = left + tx * 4 + half * 64;
            const size_t where = size_t(row) * n + column;
            if (ALIGNED && column < n) {
                const Four factors = *reinterpret_cast<const Four*>(c + where);
                Four results;
#pragma unroll
                for (int x = 0; x < 4; ++x) {
                    results.at[x] = finish(sum[y][half * 4 + x], factors.at[x]);
                }
                *reinterpret_cast<Four*>(o + where) = results;
            } else {
#pragma unroll
                for (int x = 0; x < 4; ++x) {
                    if (column + x < n) {
                        o[where + x] = finish(sum[y][half * 4 + x], c[where + x]);
                    }
                }
            }
        }
    }
}

static bool aligned(const void* pointer) { return reinterpret_cast<size_t>(pointer) % 16 == 0; }

extern "C" void solution(const VAR* matrix_a, const VAR* matrix_b, const VAR* matrix_c,
                         float alpha, VAR* output_matrix, size_t m, size_t n, size_t k) {
    const dim3 grid(unsigned((n + COLUMNS - 1) / COLUMNS), unsigned((m + ROWS - 1) / ROWS));
    const bool wide = k % WIDE == 0 && n % WIDE == 0 && aligned(matrix_a) && aligned(matrix_b) &&
                      aligned(matrix_c) && aligned(output_matrix);
    if (wide) {
        gemm_multiply_leakyrelu<true><<<grid, THREADS>>>(matrix_a, matrix_b, matrix_c, alpha,
                                                         output_matrix, m, n, k);
    } else {
        gemm_multiply_leakyrelu<false><<<grid, THREADS>>>(matrix_a, matrix_b, matrix_c, alpha,
                                                          output_matrix, m, n, k);
    }
}
