// Eight lanes per row, and blocks for the stretches of rows that are too long for them.
//
// Lanes of a group read neighbouring entries, and four rows share a warp, so that short rows leave
// few lanes idle. Eight lanes would take for ever over a row of a hundred thousand entries: such
// rows are put on a list, which a second kernel shares out among all blocks, stretch by stretch.

constexpr int THREADS = 256;
constexpr int LANES = 8;          // of a row
constexpr int LONG = 2048;        // entries that are too many for them
constexpr int STRETCH = 2048;     // entries of a long row that are worth a block
constexpr unsigned BLOCKS = 528;  // of the second kernel: four for each multiprocessor of an H100

// The list of long rows: at most nnz / LONG of them.
struct LongRows {
    int* rows;
    unsigned* count;
};

__device__ VAR add_lanes(VAR sum, int lanes) {
    for (int offset = lanes / 2; offset > 0; offset /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    }
    return sum;
}

__global__ void short_rows(const int* row_ptr, const int* col_idx, const VAR* entries, const VAR* x,
                           VAR* y, size_t rows, LongRows found) {
    const size_t row = (blockIdx.x * size_t(THREADS) + threadIdx.x) / LANES;
    const int lane = threadIdx.x % LANES;
    const int begin = row < rows ? row_ptr[row] : 0;
    const int end = row < rows ? row_ptr[row + 1] : 0;
    const bool too_long = end - begin > LONG;

    VAR sum = 0;
    for (int p = begin + lane; p < end && !too_long; p += LANES) sum += entries[p] * x[col_idx[p]];
    sum = add_lanes(sum, LANES);  // every lane of the warp comes here, whatever its row
    if (lane == 0 && row < rows) {
        y[row] = sum;  // 0 where the second kernel is to add to it
        if (too_long) found.rows[atomicAdd(found.count, 1u)] = int(row);
    }
}

__global__ void long_rows(const int* row_ptr, const int* col_idx, const VAR* entries, const VAR* x,
                          VAR* y, LongRows found) {
    __shared__ VAR of_warp[THREADS / 32];
    const unsigned count = *found.count;
    for (unsigned i = 0; i < count; ++i) {
        const int row = found.rows[i];
        const int end = row_ptr[row + 1];
        // Each row's first stretch goes to another block.
        const unsigned turn = (blockIdx.x + i) % BLOCKS;
        for (long long begin = row_ptr[row] + (long long)turn * STRETCH; begin < end;
             begin += (long long)BLOCKS * STRETCH) {
            const int stop = begin + STRETCH < end ? int(begin) + STRETCH : end;
            VAR sum = 0;
            for (int p = int(begin) + threadIdx.x; p < stop; p += THREADS) {
                sum += entries[p] * x[col_idx[p]];
            }
            sum = add_lanes(sum, 32);
            if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum;
            __syncthreads();  // all warps have written theirs
            if (threadIdx.x < 32) {
                sum = add_lanes(threadIdx.x < THREADS / 32 ? of_warp[threadIdx.x] : VAR(0), 32);
                if (threadIdx.x == 0) atomicAdd(&y[row], sum);
            }
            __syncthreads();  // and may write the next ones
        }
    }
}

extern "C" void solution(const int* row_ptr, const int* col_idx, const VAR* entries, const VAR* x,
                         VAR* y, size_t rows, size_t, size_t nnz) {
    // Kept from call to call; the list is begun anew in each.
    static LongRows found = {nullptr, nullptr};
    static size_t capacity = 0;
    const size_t most = nnz / LONG + 1;
    if (most > capacity) {
        cudaFree(found.rows);
        cudaFree(found.count);
        cudaMalloc(reinterpret_cast<void**>(&found.rows), most * sizeof(int));
        cudaMalloc(reinterpret_cast<void**>(&found.count), sizeof(unsigned));
        capacity = most;
    }
    cudaMemsetAsync(found.count, 0, sizeof(unsigned));
    const size_t blocks = (rows * LANES + THREADS - 1) / THREADS;
    short_rows<<<unsigned(blocks), THREADS>>>(row_ptr, col_idx, entries, x, y, rows, found);
    if (nnz > LONG) {
        long_rows<<<BLOCKS, THREADS>>>(row_ptr, col_idx, entries, x, y, found);
    }
}
