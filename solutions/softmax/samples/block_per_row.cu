// One block per row, and one walk for maximum and sum together.
//
// A running sum of e^(x - largest) can be kept although the largest element is not known yet: when
// a larger one turns up, what was added so far is scaled by e^(old - new). Two such pairs of
// (largest, sum) combine the same way, so threads, then warps, can merge theirs in any order. The
// row is read a second time to write the result, mostly from the cache.

#include <cfloat>

constexpr int THREADS = 256;
constexpr int WARPS = THREADS / 32;

struct Running {
    float largest;
    float sum;  // of e^(x - largest)
};

// -FLT_MAX, not -infinity: the difference of two infinities is NaN.
constexpr float NOTHING_YET = -FLT_MAX;

__device__ Running merge(Running a, Running b) {
    const float largest = fmaxf(a.largest, b.largest);
    return {largest, a.sum * __expf(a.largest - largest) + b.sum * __expf(b.largest - largest)};
}

__device__ Running merge_warp(Running mine) {
    // Lane i takes what lane i ^ offset has, and the other way round: after five steps all 32
    // lanes hold the pair of the whole warp.
    for (int offset = 16; offset > 0; offset /= 2) {
        mine = merge(mine, {__shfl_xor_sync(0xffffffffu, mine.largest, offset),
                            __shfl_xor_sync(0xffffffffu, mine.sum, offset)});
    }
    return mine;
}

__global__ void softmax(const VAR* x, VAR* y, size_t n) {
    __shared__ Running of_warp[WARPS];
    x += blockIdx.x * n;
    y += blockIdx.x * n;

    Running mine = {NOTHING_YET, 0.0f};
    for (size_t j = threadIdx.x; j < n; j += THREADS) {  // neighbours read neighbours
        const float value = static_cast<float>(x[j]);
        if (value > mine.largest) {
            mine.sum *= __expf(mine.largest - value);
            mine.largest = value;
        }
        mine.sum += __expf(value - mine.largest);
    }

    mine = merge_warp(mine);
    const int lane = threadIdx.x % 32;
    if (lane == 0) of_warp[threadIdx.x / 32] = mine;
    __syncthreads();  // all warps have written theirs
    // Every warp merges the eight pairs for itself, which saves a second barrier.
    const Running row = merge_warp(lane < WARPS ? of_warp[lane] : Running{NOTHING_YET, 0.0f});

    const float share = 1.0f / row.sum;  // one division per thread instead of one per element
    for (size_t j = threadIdx.x; j < n; j += THREADS) {
        y[j] = static_cast<VAR>(__expf(static_cast<float>(x[j]) - row.largest) * share);
    }
}

extern "C" void solution(const VAR* input_matrix, VAR* output_matrix, size_t m, size_t n) {
    softmax<<<unsigned(m), THREADS>>>(input_matrix, output_matrix, n);
}
