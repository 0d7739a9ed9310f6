// Several blocks per row where rows are long: each reduces a stretch and leaves what it found in a
// workspace, and a second kernel reduces those.
//
// Between two kernels on one stream there is the barrier over all blocks that a single kernel does
// not have. Within a block partial results go from lane to lane by shuffles, which need neither
// shared memory nor barriers.

#include <cfloat>
#include <climits>

constexpr int THREADS = 256;
constexpr int WARPS = THREADS / 32;
constexpr size_t STRETCH = 32 * THREADS;  // elements that are worth a block

struct Partial {
    float sum;
    float top;
    int index;  // of the first element that equals top
};

__device__ Partial nothing() { return {0.0f, -FLT_MAX, INT_MAX}; }

__device__ Partial merge(Partial a, Partial b) {
    const bool second = b.top > a.top || (b.top == a.top && b.index < a.index);
    return {a.sum + b.sum, second ? b.top : a.top, second ? b.index : a.index};
}

__device__ Partial merge_warp(Partial mine) {
    // Lane i takes what lane i ^ offset has: after five steps all 32 lanes hold the warp's.
    for (int offset = 16; offset > 0; offset /= 2) {
        mine = merge(mine, {__shfl_xor_sync(0xffffffffu, mine.sum, offset),
                            __shfl_xor_sync(0xffffffffu, mine.top, offset),
                            __shfl_xor_sync(0xffffffffu, mine.index, offset)});
    }
    return mine;
}

// What all threads of the block have found; right in its first warp.
__device__ Partial merge_block(Partial mine) {
    __shared__ Partial of_warp[WARPS];
    mine = merge_warp(mine);
    const int lane = threadIdx.x % 32;
    if (lane == 0) of_warp[threadIdx.x / 32] = mine;
    __syncthreads();  // all warps have written theirs
    return merge_warp(lane < WARPS ? of_warp[lane] : nothing());
}

// Block b reduces stretch b % stretches of row b / stretches.
__global__ void reduce_stretches(const VAR* x, Partial* partials, size_t n, size_t stretches) {
    const size_t stretch = blockIdx.x % stretches;
    x += blockIdx.x / stretches * n;
    const size_t begin = stretch * STRETCH;
    const size_t end = begin + STRETCH < n ? begin + STRETCH : n;

    Partial mine = nothing();
    for (size_t j = begin + threadIdx.x; j < end; j += THREADS) {
        const float value = static_cast<float>(x[j]);
        mine = merge(mine, {value, value, int(j)});
    }
    mine = merge_block(mine);
    if (threadIdx.x == 0) partials[blockIdx.x] = mine;
}

__global__ void finish(const Partial* partials, float scale, float* row_mean, int* largest,
                       size_t stretches) {
    partials += blockIdx.x * stretches;
    Partial mine = nothing();
    for (size_t s = threadIdx.x; s < stretches; s += THREADS) mine = merge(mine, partials[s]);
    mine = merge_block(mine);
    if (threadIdx.x == 0) {
        row_mean[blockIdx.x] = mine.sum * scale;
        largest[blockIdx.x] = mine.index;
    }
}

extern "C" void solution(const VAR* input_matrix, float scale, float* row_mean, int* largest,
                         size_t m, size_t n) {
    // Kept from call to call, and written anew in each.
    static Partial* partials = nullptr;
    static size_t capacity = 0;
    const size_t stretches = (n + STRETCH - 1) / STRETCH;
    if (m * stretches > capacity) {
        cudaFree(partials);
        cudaMalloc(reinterpret_cast<void**>(&partials), m * stretches * sizeof(Partial));
        capacity = m * stretches;
    }
    reduce_stretches<<<unsigned(m * stretches), THREADS>>>(input_matrix, partials, n, stretches);
    finish<<<unsigned(m), THREADS>>>(partials, scale, row_mean, largest, stretches);
}
