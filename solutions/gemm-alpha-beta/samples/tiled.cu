// Tiles in shared memory, several elements of C per thread, wide loads where the addresses allow.
//
// A block computes ROWS x COLUMNS of C, a thread PER x PER of them in registers. Step by step the
// block copies DEPTH columns of A and DEPTH rows of B into shared memory; every number there is
// then used PER times by each thread that reads it.
//
// Global memory is read WIDE elements (16 bytes) at a time where pointer and leading dimension are
// multiples of 16 bytes, and element by element where they are not: decided once per matrix, on the
// host, so that the kernel has no branch for it. At the edges it is element by element, too.

template <typename T>
struct Sum {
    using Type = float;
};
template <>
struct Sum<double> {
    using Type = double;
};
using Real = Sum<VAR>::Type;

constexpr int PER = sizeof(VAR) == 8 ? 4 : 8;
constexpr int ACROSS = 16;  // threads in each direction
constexpr int THREADS = ACROSS * ACROSS;
constexpr int ROWS = ACROSS * PER;
constexpr int COLUMNS = ACROSS * PER;
constexpr int DEPTH = 16;
constexpr int WIDE = 16 / sizeof(VAR);

struct alignas(16) Wide {
    VAR item[WIDE];
};

// WIDE neighbours of a row, zeros beyond the edge: they add nothing to a sum.
template <bool ALIGNED>
__device__ void load(Real (&items)[WIDE], const VAR* matrix, size_t row, size_t column,
                     size_t rows, size_t columns, size_t ld) {
    if (ALIGNED && row < rows && column + WIDE <= columns) {
        const Wide wide = *reinterpret_cast<const Wide*>(matrix + row * ld + column);
#pragma unroll
        for (int i = 0; i < WIDE; ++i) items[i] = static_cast<Real>(wide.item[i]);
        return;
    }
#pragma unroll
    for (int i = 0; i < WIDE; ++i) {
        const bool inside = row < rows && column + i < columns;
        items[i] = inside ? static_cast<Real>(matrix[row * ld + column + i]) : Real(0);
    }
}

template <bool A_ALIGNED, bool B_ALIGNED>
__global__ __launch_bounds__(THREADS) void gemm(const VAR* a, const VAR* b, VAR* c, Real alpha,
                                                Real beta, size_t m, size_t n, size_t k,
                                                size_t ld_a, size_t ld_b, size_t ld_c) {
    __shared__ Real a_tile[DEPTH][ROWS + 1];  // transposed; the odd width spreads the stores
    __shared__ Real b_tile[DEPTH][COLUMNS];
    const int thread = threadIdx.x;
    const int x = thread % ACROSS, y = thread / ACROSS;
    const size_t top = blockIdx.y * size_t(ROWS), left = blockIdx.x * size_t(COLUMNS);

    Real sums[PER][PER] = {};
    for (size_t start = 0; start < k; start += DEPTH) {
        Real items[WIDE];
        for (int i = thread; i < ROWS * DEPTH / WIDE; i += THREADS) {
            const int row = i / (DEPTH / WIDE), column = i % (DEPTH / WIDE) * WIDE;
            load<A_ALIGNED>(items, a, top + row, start + column, m, k, ld_a);
#pragma unroll
            for (int w = 0; w < WIDE; ++w) a_tile[column + w][row] = items[w];
        }
        for (int i = thread; i < DEPTH * COLUMNS / WIDE; i += THREADS) {
            const int row = i / (COLUMNS / WIDE), column = i % (COLUMNS / WIDE) * WIDE;
            load<B_ALIGNED>(items, b, start + row, left + column, k, n, ld_b);
#pragma unroll
            for (int w = 0; w < WIDE; ++w) b_tile[row][column + w] = items[w];
        }
        __syncthreads();  // nobody reads before everybody has written
#pragma unroll
        for (int depth = 0; depth < DEPTH; ++depth) {
            Real from_a[PER], from_b[PER];
#pragma unroll
            for (int i = 0; i < PER; ++i) from_a[i] = a_tile[depth][y + i * ACROSS];
#pragma unroll
            for (int i = 0; i < PER; ++i) from_b[i] = b_tile[depth][x + i * ACROSS];
#pragma unroll
            for (int i = 0; i < PER; ++i) {
#pragma unroll
                for (int j = 0; j < PER; ++j) sums[i][j] += from_a[i] * from_b[j];
            }
        }
        __syncthreads();  // nobody overwrites before everybody has read
    }

#pragma unroll
    for (int i = 0; i < PER; ++i) {
        const size_t row = top + y + i * ACROSS;
#pragma unroll
        for (int j = 0; j < PER; ++j) {
            const size_t column = left + x + j * ACROSS;
            if (row >= m || column >= n) continue;
            VAR* place = c + row * ld_c + column;
            Real result = alpha * sums[i][j];
            if (beta != 0) result += beta * static_cast<Real>(*place);
            *place = static_cast<VAR>(result);
        }
    }
}

static bool aligned(const VAR* matrix, size_t ld) {
    return reinterpret_cast<size_t>(matrix) % sizeof(Wide) == 0 && ld % WIDE == 0;
}

extern "C" void solution(const VAR* matrix_a, const VAR* matrix_b, VAR* matrix_c, float alpha,
                         float beta, size_t m, size_t n, size_t k, size_t ld_a, size_t ld_b,
                         size_t ld_c) {
    const dim3 grid(unsigned((n + COLUMNS - 1) / COLUMNS), unsigned((m + ROWS - 1) / ROWS));
    const bool a_aligned = aligned(matrix_a, ld_a), b_aligned = aligned(matrix_b, ld_b);
    auto kernel = a_aligned ? (b_aligned ? gemm<true, true> : gemm<true, false>)
                            : (b_aligned ? gemm<false, true> : gemm<false, false>);
    if (alpha == 0.0f) k = 0;  // the product counts for nothing
    kernel<<<grid, THREADS>>>(matrix_a, matrix_b, matrix_c, alpha, beta, m, n, k, ld_a, ld_b, ld_c);
}
