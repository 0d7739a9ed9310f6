// One block per row: neighbouring threads read neighbouring elements, and sums are put together
// with warp shuffles.
//
// The row is walked along three times, for the mean, for the squared differences from it, and for
// the result. Only the first walk reads memory: a row of some thousand elements stays in the cache
// for the other two.

constexpr int THREADS = 256;
constexpr int WARPS = THREADS / 32;

__device__ float warp_sum(float mine) {
    // Lane i adds what lane i ^ offset has: after five steps all 32 lanes hold the warp's sum.
    for (int offset = 16; offset > 0; offset /= 2) {
        mine += __shfl_xor_sync(0xffffffffu, mine, offset);
    }
    return mine;
}

// The sum over all threads of the block, known to all of them. `of_warp` is WARPS floats of shared
// memory; two calls in a row must not be given the same, or a fast warp would overwrite what a slow
// one has yet to read.
__device__ float block_sum(float mine, float* of_warp) {
    mine = warp_sum(mine);
    const int lane = threadIdx.x % 32;
    if (lane == 0) of_warp[threadIdx.x / 32] = mine;
    __syncthreads();  // all warps have written theirs
    return warp_sum(lane < WARPS ? of_warp[lane] : 0.0f);
}

__global__ void layer_norm(const VAR* x, const VAR* gamma, const VAR* beta, float eps, VAR* y,
                           float* mean, float* rstd, size_t n) {
    __shared__ float sums[WARPS];
    __shared__ float squares[WARPS];
    x += blockIdx.x * n;
    y += blockIdx.x * n;

    float mine = 0.0f;
    for (size_t j = threadIdx.x; j < n; j += THREADS) mine += static_cast<float>(x[j]);
    const float mu = block_sum(mine, sums) / n;

    mine = 0.0f;
    for (size_t j = threadIdx.x; j < n; j += THREADS) {
        const float difference = static_cast<float>(x[j]) - mu;
        mine += difference * difference;
    }
    const float r = rsqrtf(block_sum(mine, squares) / n + eps);

    for (size_t j = threadIdx.x; j < n; j += THREADS) {
        const float normalized = (static_cast<float>(x[j]) - mu) * r;
        y[j] = static_cast<VAR>(normalized * static_cast<float>(gamma[j]) +
                                static_cast<float>(beta[j]));
    }
    if (threadIdx.x == 0) {
        mean[blockIdx.x] = mu;
        rstd[blockIdx.x] = r;
    }
}

extern "C" void solution(const VAR* input_matrix, const VAR* gamma, const VAR* beta, float eps,
                         VAR* output_matrix, float* mean, float* rstd, size_t m, size_t n) {
    layer_norm<<<unsigned(m), THREADS>>>(input_matrix, gamma, beta, eps, output_matrix, mean, rstd,
                                         n);
}
