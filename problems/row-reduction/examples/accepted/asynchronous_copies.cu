// One block per row: while it works on a tile in shared memory the next one is on its way, and
// cub finds the largest element with its place.
// verdict: accepted
// dtypes: float32

#include <cub/block/block_reduce.cuh>
#include <cuda_pipeline.h>

constexpr int THREADS = 128;
constexpr int PER_THREAD = 4;
constexpr int TILE = THREADS * PER_THREAD;

__global__ void __launch_bounds__(THREADS)
reduce(const VAR* x, float scale, float* row_mean, int* largest, size_t n) {
    using Pair = cub::KeyValuePair<int, float>;
    using Sums = cub::BlockReduce<float, THREADS>;
    using Pairs = cub::BlockReduce<Pair, THREADS, cub::BLOCK_REDUCE_RAKING>;
    __shared__ union {
        typename Sums::TempStorage sums;
        typename Pairs::TempStorage pairs;
    } storage;
    __shared__ float tiles[2][TILE];
    const int thread = threadIdx.x;
    x += blockIdx.x * n;

    auto fetch = [&](size_t first, int buffer) {
#pragma unroll
        for (int i = 0; i < PER_THREAD; ++i) {
            const int place = i * THREADS + thread;
            if (first + place < n) {
                __pipeline_memcpy_async(&tiles[buffer][place], &x[first + place], sizeof(float));
            }
        }
        __pipeline_commit();
    };

    float sum = 0.0f;
    Pair top(-1, -INFINITY);
    fetch(0, 0);
    int buffer = 0;
    for (size_t first = 0; first < n; first += TILE) {
        fetch(first + TILE, buffer ^ 1);
        __pipeline_wait_prior(1);
        __syncthreads();
        // Not the elements that this thread has fetched: hence the barriers.
#pragma unroll
        for (int i = 0; i < PER_THREAD; ++i) {
            const int place = thread * PER_THREAD + i;
            if (first + place >= n) continue;
            const float value = tiles[buffer][place];
            sum += value;
            if (top.key < 0 || value > top.value) top = Pair(int(first + place), value);
        }
        __syncthreads();
        buffer ^= 1;
    }

    sum = Sums(storage.sums).Sum(sum);
    __syncthreads();
    const int threads_in_use = n < size_t(TILE) ? int((n + PER_THREAD - 1) / PER_THREAD) : THREADS;
    top = Pairs(storage.pairs).Reduce(top, cub::ArgMax(), threads_in_use);
    if (thread == 0) {
        row_mean[blockIdx.x] = sum * scale;
        largest[blockIdx.x] = top.key;
    }
}

extern "C" void solution(const VAR* input_matrix, float scale, float* row_mean, int* largest,
                         size_t m, size_t n) {
    reduce<<<unsigned(m), THREADS>>>(input_matrix, scale, row_mean, largest, n);
}
