// Nothing but wide loads, and no block more than the card runs at once.
//
// several_blocks.cu looks at every element for itself: it compares and keeps an index. Here
//
// - loads have 16 bytes, and a thread asks for several before it looks at the first;
// - a thread keeps the largest element, but of its place only which vector it was in, which takes
//   one comparison a vector. Which element of the vector it was is asked once, in the end;
// - halves stay packed in pairs, which one instruction converts or compares;
// - a short row has one warp, or half of one: no barrier, and no shared memory. Half a warp asks
//   for twice as much at once, and two rows share the steps in which lanes merge what they have;
// - long rows are cut into as many pieces as run at once: a few blocks more, and the card would
//   wait for these. Pieces are interleaved, so that all blocks read close to each other. The last
//   to end puts a row's partial results together: no second kernel.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cfloat>
#include <climits>

constexpr int THREADS = 256;      // of a block
constexpr int DEPTH = 8;          // vectors that a thread asks for at once
constexpr int RESIDENT = 1024;    // threads of a multiprocessor: bounds registers
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
    __device__ bool take(uint4 bits, int at) {  // beyond all before; whether it has the largest
        const Vector vector = reinterpret_cast<const Vector&>(bits);
        auto highest = vector.of[0];
        float total = 0.0f;
        for (const auto& pair : vector.of) {
            highest = __hmax2(highest, pair);
            total += widen(pair).x + widen(pair).y;
        }
        sum += total;
        const float both = fmaxf(widen(highest).x, widen(highest).y);
        const bool larger = both > top;
        if (larger) {
            top = both;
            where = at;
        }
        return larger;
    }
};

template <int lanes = 32>  // neighbours that merge
__device__ Found merge_warp(Found mine) {
    Found all = mine;
    for (int i = lanes / 2; i > 0; i /= 2) {
        all.sum += __shfl_xor_sync(0xffffffffu, all.sum, i);
        all.top = fmaxf(all.top, __shfl_xor_sync(0xffffffffu, all.top, i));
    }
    all.where = mine.top == all.top ? mine.where : INT_MAX;
    if (lanes == 32) {
        all.where = __reduce_min_sync(0xffffffffu, all.where);
    } else {
        for (int i = lanes / 2; i > 0; i /= 2) {
            all.where = min(all.where, __shfl_xor_sync(0xffffffffu, all.where, i));
        }
    }
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

// Vectors begin at a multiple of 16 bytes. The few elements before the first and after the last are
// loose: each has a thread of its own.
struct Row {
    const VAR* x;
    int n, head, whole, loose_at;  // loose elements before, vectors, this thread's loose element

    __device__ Row(const VAR* matrix, size_t row, int n, int thread) : x(matrix + row * n), n(n) {
        head = min(n, int(-row * n % WIDE));
        whole = (n - head) / WIDE;
        loose_at = thread < head ? thread : thread + whole * WIDE;
    }
    // Takes vectors i, i + step, and so on; `best` becomes the one that has the largest element.
    __device__ Found scan(int i, int step, uint4& best) const {
        const uint4* from = reinterpret_cast<const uint4*>(x + head);
        Found found;
#pragma unroll 1
        for (; i < whole; i += DEPTH * step) {
            uint4 v[DEPTH];
#pragma unroll
            for (int k = 0; k < DEPTH; ++k) {  // "cs": evict first, as nobody reads it again
                if (i + k * step < whole) v[k] = __ldcs(from + i + k * step);
            }
#pragma unroll
            for (int k = 0; k < DEPTH; ++k) {
                if (i + k * step < whole && found.take(v[k], i + k * step)) best = v[k];
            }
        }
        if (found.where < whole) found.where = head + found.where * WIDE;  // vectors to elements
        return found;
    }
    __device__ Found loose() const {
        if (loose_at >= n) return Found();
        const float value = static_cast<float>(x[loose_at]);
        return {value, value, loose_at};
    }
};

template <int lanes>  // of a row
__global__ void __launch_bounds__(THREADS, RESIDENT / THREADS)
short_rows(const VAR* x, float scale, float* row_mean, int* largest, int m, int n) {
    const int own_row = blockIdx.x * (THREADS / lanes) + threadIdx.x / lanes;
    const int thread = threadIdx.x % lanes;
    const Row row(x, min(own_row, m - 1), n, thread);  // none leaves: neighbours merge with it
    uint4 best;
    Found found = row.scan(thread, lanes, best);
    found.take(row.loose());
    found = merge_warp<lanes>(found);

    const int j = found.where + thread;  // the row's threads look at the vector that won
    const bool equal = j < n && static_cast<float>(row.x[j]) == found.top;
    const unsigned all = __ballot_sync(0xffffffffu, equal) >> (threadIdx.x % 32 - thread);
    if (thread > 0 || own_row >= m) return;
    row_mean[own_row] = found.sum * scale;
    largest[own_row] = found.where + __ffs(all) - 1;
}

__device__ Found of_piece[MOST_BLOCKS];
__device__ unsigned finished[MOST_BLOCKS];  // pieces of each row; back at 0 after each call

// Block b reduces piece b % pieces of row b / pieces.
__global__ void __launch_bounds__(THREADS, RESIDENT / THREADS)
reduce(const VAR* x, float scale, float* row_mean, int* largest, int m, int n, int pieces) {
    const int own_row = blockIdx.x / pieces, piece = blockIdx.x % pieces, thread = threadIdx.x;
    const Row row(x, own_row, n, thread);
    uint4 best = {};  // nobody has to wait for it once more in the end
    Found found = row.scan(piece * THREADS + thread, pieces * THREADS, best);
    const Vector vector = reinterpret_cast<const Vector&>(best);
    int first = 0;
#pragma unroll
    for (int p = WIDE / 2 - 1; p >= 0; --p) {
        const float2 pair = widen(vector.of[p]);
        if (pair.y == found.top) first = 2 * p + 1;
        if (pair.x == found.top) first = 2 * p;
    }
    if (found.where < n) found.where += first;
    if (piece == 0) found.take(row.loose());
    found = merge_block(found);

    if (pieces > 1) {
        __shared__ bool last;
        if (thread == 0) {
            of_piece[blockIdx.x] = found;
            __threadfence();  // whoever sees the count sees the result
            // The last finds one less than there are, and the count starts at 0 again.
            last = atomicInc(&finished[own_row], pieces - 1) == pieces - 1;
        }
        __syncthreads();
        if (!last) return;
        __threadfence();
        found = Found();
        for (int p = thread; p < pieces; p += THREADS) found.take(of_piece[own_row * pieces + p]);
        found = merge_block(found);
    }
    if (thread > 0) return;
    row_mean[own_row] = found.sum * scale;
    largest[own_row] = found.where;
}

extern "C" void solution(const VAR* input_matrix, float scale, float* row_mean, int* largest,
                         size_t m, size_t n) {
    const int rows = int(m), length = int(n);
    const int lanes = length / WIDE <= 16 * DEPTH ? 16 : 32;
    if (length / WIDE <= lanes * DEPTH) {
        const auto kernel = lanes == 16 ? short_rows<16> : short_rows<32>;
        const int in_block = THREADS / lanes;
        kernel<<<(rows + in_block - 1) / in_block, THREADS>>>(input_matrix, scale, row_mean,
                                                              largest, rows, length);
        return;
    }
    int of_processor, processors;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&of_processor, reduce, THREADS, 0);
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0);
    const int blocks = min(MOST_BLOCKS, of_processor * processors);
    const int most = max(1, int(n * sizeof(VAR) / PIECE));
    const int pieces = min(most, max(1, blocks / rows));
    reduce<<<rows * pieces, THREADS>>>(input_matrix, scale, row_mean, largest, rows, length,
                                       pieces);
}
