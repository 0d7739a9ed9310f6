// An asynchronous copy that nobody waits for: the barrier is there, the wait is not.
// verdict: wrong_answer
// dtypes: float32

#include <cub/block/block_reduce.cuh>
#include <cuda_pipeline.h>

constexpr int THREADS = 128;

__global__ void reduce(const VAR* x, float scale, float* row_mean, int* largest, size_t n) {
    using Pair = cub::KeyValuePair<int, float>;
    using Sums = cub::BlockReduce<float, THREADS>;
    using Pairs = cub::BlockReduce<Pair, THREADS>;
    __shared__ typename Sums::TempStorage sums;
    __shared__ typename Pairs::TempStorage pairs;
    __shared__ float tile[THREADS];
    x += blockIdx.x * n;
    float sum = 0.0f;
    Pair top(-1, -INFINITY);
    for (size_t first = 0; first < n; first += THREADS) {
        const size_t at = first + threadIdx.x;
        if (at < n) __pipeline_memcpy_async(&tile[threadIdx.x], &x[at], sizeof(float));
        __pipeline_commit();
        __syncthreads();
        const size_t other = first + (threadIdx.x ^ 1);
        if (other < n) {
            const float value = tile[threadIdx.x ^ 1];
            sum += value;
            if (top.key < 0 || value > top.value) top = Pair(int(other), value);
        }
        __syncthreads();
    }
    sum = Sums(sums).Sum(sum);
    top = Pairs(pairs).Reduce(top, cub::ArgMax());
    if (threadIdx.x == 0) row_mean[blockIdx.x] = sum * scale, largest[blockIdx.x] = top.key;
}

extern "C" void solution(const VAR* input_matrix, float scale, float* row_mean, int* largest,
                         size_t m, size_t n) {
    reduce<<<unsigned(m), THREADS>>>(input_matrix, scale, row_mean, largest, n);
}
