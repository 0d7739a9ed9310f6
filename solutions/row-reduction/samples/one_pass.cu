// Nothing but wide loads, and no block more than the card runs at once.
//
// several_blocks.cu looks at every element for itself: it compares and keeps an index. Here
//
// - loads have 16 bytes, and a thread asks for several before it looks at the first;
// - a thread keeps the largest element, but of its place only which vector it was in, which takes
//   one comparison a vector. In the end one warp looks at the vector that won, once for each row;
// - halves stay packed in pairs, which one instruction converts or compares;
// - a short row has one warp: no barrier, and no shared memory;
// - long rows are cut into as many pieces as run at once: a few blocks more, and the card would wait
//   for these. The last to end puts a row's partial results together: no second kernel.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cfloat>
#include <climits>

constexpr int THREADS = 512;      // of a block that reduces a piece of a long row
constexpr int DEPTH = 4;          // vectors that a thread asks for at once; for a short row twice
constexpr int ROWS = 8;           // of a block, where a row has one warp
constexpr int WAVES = 1;          // how many times as many pieces as run at once
constexpr int RESIDENT = 1536;    // threads of a multiprocessor, if they ask for 4: bounds registers
constexpr int PIECE = 32 << 10;   // bytes, at least, of one of several pieces
constexpr int MOST_BLOCKS = 8192;

constexpr int WIDE = 16 / sizeof(VAR);  // elements of a vector

__device__ float2 widen(float2 pair) { return pair; }
__device__ float2 widen(__half2 pair) { return __half22float2(pair); }
__device__ float2 widen(__nv_bfloat162 pair) { return __bfloat1622float2(pair); }
__device__ float2 __hmax2(float2 a, float2 b) { return {fmaxf(a.x, b.x), fmaxf(a.y, b.y)}; }
float2 pair_of(float);
__half2 pair_of(__half);
__nv_bfloat162 pair_of(__nv_bfloat16);

struct alignas(16) Vector {
    decltype(pair_of(VAR())) of[WIDE / 2];
};

struct Found {
    float sum = 0.0f;
    float top = -FLT_MAX;
    int where = INT_MAX;  // the first element that equals top is here or in the same vector

    __device__ void take(Found later) {  // not >=: of equal elements the first counts
        sum += later.sum;
        if (later.top > top || (later.top == top && later.where < where)) {
            top = later.top;
            where = later.where;
        }
    }
    __device__ void take(uint4 bits, int at) {  // beyond all before
        const Vector vector = reinterpret_cast<const Vector&>(bits);
        auto highest = vector.of[0];
        float total = 0.0f;
        for (const auto& pair : vector.of) {
            highest = __hmax2(highest, pair);
            total += widen(pair).x + widen(pair).y;
        }
        sum += total;
        const float both = fmaxf(widen(highest).x, widen(highest).y);
        if (both > top) {
            top = both;
            where = at;
        }
    }
};

__device__ Found merge_warp(Found mine) {
    Found all = mine;
    for (int i = 16; i > 0; i /= 2) {
        all.sum += __shfl_xor_sync(0xffffffffu, all.sum, i);
        all.top = fmaxf(all.top, __shfl_xor_sync(0xffffffffu, all.top, i));
    }
    all.where = __reduce_min_sync(0xffffffffu, mine.top == all.top ? mine.where : INT_MAX);
    return all;
}

__device__ Found merge_block(Found mine) {
    __shared__ Found of_warp[THREADS / 32];
    mine = merge_warp(mine);
    const int lane = threadIdx.x % 32;
    if (lane == 0) of_warp[threadIdx.x / 32] = mine;
    __syncthreads();  // all warps have written theirs
    return merge_warp(lane < THREADS / 32 ? of_warp[lane] : Found());
}

__device__ Found of_piece[MOST_BLOCKS];
__device__ unsigned finished[MOST_BLOCKS];  // pieces of each row; back at 0 after each call

// Block b reduces piece b % pieces of row b / pieces, or ROWS whole rows with a warp for each.
template <int threads, int LOADS>  // threads of a row
__global__ void __launch_bounds__(threads == 32 ? 32 * ROWS : THREADS,
                                  threads == 32 ? 4 : RESIDENT / THREADS)
reduce(const VAR* x, float scale, float* row_mean, int* largest, int m, int n, int pieces) {
    const int row = blockIdx.x / pieces * blockDim.y + threadIdx.y, piece = blockIdx.x % pieces;
    if (row >= m) return;  // all threads of a warp
    x += size_t(row) * n;
    // Vectors begin at a multiple of 16 bytes. The few elements before the first and after the last
    // are loose: each has a thread of its own.
    const int thread = threadIdx.x;
    const int head = min(n, int(-size_t(row) * n % WIDE));
    const int whole = (n - head) / WIDE;
    const int loose_at = thread < head ? thread : thread + whole * WIDE;
    const uint4* from = reinterpret_cast<const uint4*>(x + head);

    Found found;
    const int end = int(size_t(whole) * (piece + 1) / pieces);
    int i = int(size_t(whole) * piece / pieces) + thread;
#pragma unroll 1
    for (; i < end; i += LOADS * threads) {
        uint4 v[LOADS];
#pragma unroll
        for (int k = 0; k < LOADS; ++k) {  // "cs": evict first, as nobody reads it again
            if (i + k * threads < end) v[k] = __ldcs(from + i + k * threads);
        }
#pragma unroll
        for (int k = 0; k < LOADS; ++k) {
            if (i + k * threads < end) found.take(v[k], head + (i + k * threads) * WIDE);
        }
    }
    if (piece == 0 && loose_at < n) {
        const float loose = static_cast<float>(x[loose_at]);
        found.take(Found{loose, loose, loose_at});
    }
    found = threads == 32 ? merge_warp(found) : merge_block(found);

    if (pieces > 1) {
        __shared__ bool last;
        if (thread == 0) {
            of_piece[blockIdx.x] = found;
            __threadfence();  // whoever sees the count sees the result
            last = atomicInc(&finished[row], pieces - 1) == pieces - 1;  // and starts at 0 again
        }
        __syncthreads();
        if (!last) return;
        __threadfence();
        found = Found();
        for (int p = thread; p < pieces; p += threads) found.take(of_piece[row * pieces + p]);
        found = merge_block(found);
    }
    if (thread >= 32) return;
    const int j = found.where + thread;
    const bool equal = j < n && static_cast<float>(x[j]) == found.top;
    const int first = __ffs(__ballot_sync(0xffffffffu, equal)) - 1;
    if (thread > 0) return;
    row_mean[row] = found.sum * scale;
    largest[row] = found.where + first;
}

extern "C" void solution(const VAR* input_matrix, float scale, float* row_mean, int* largest,
                         size_t m, size_t n) {
    const int rows = int(m), length = int(n);
    if (n / WIDE <= 32 * 2 * DEPTH) {
        reduce<32, 2 * DEPTH><<<(rows + ROWS - 1) / ROWS, dim3(32, ROWS)>>>(
            input_matrix, scale, row_mean, largest, rows, length, 1);
        return;
    }
    int of_processor, processors;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&of_processor, reduce<THREADS, DEPTH>, THREADS, 0);
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0);
    const int blocks = min(MOST_BLOCKS, of_processor * processors * WAVES);
    const int most = max(1, int(n * sizeof(VAR) / PIECE));
    const int pieces = min(most, max(1, blocks / rows));
    reduce<THREADS, DEPTH><<<rows * pieces, THREADS>>>(input_matrix, scale, row_mean, largest, rows, length,
                                              pieces);
}
