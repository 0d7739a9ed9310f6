// Every element comes from memory once: a row waits in the registers of its threads.
//
// block_per_row.cu reads the row a second time for the result. Here the threads that share a row
// hold all of it, and the memory has little to wait for:
//
// - Loads and stores have 16 bytes: a quarter of the instructions for float, an eighth for half.
// - A thread asks for all of its vectors before it looks at the first.
// - A block has one row and ends: while it adds up, its neighbours on the multiprocessor load and
//   store. That takes several of them, so threads hold 64 bytes each, and few registers besides.
// - A row of up to 4 KiB has one warp: no barrier, no shared memory.
// - Halves stay packed in pairs, which one instruction converts or compares.

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

#include <cmath>

constexpr int EACH = 3;       // vectors of a thread, where a row has more than one warp,
constexpr int THREADS = 512;  // unless it then takes more threads than these:
constexpr int MOST = 8;       // up to so many vectors
constexpr int ROWS = 8;       // of a block, where a row has one warp
constexpr size_t SHARED = 200 << 10;  // bytes, for what registers do not hold

constexpr int WIDE = 16 / sizeof(VAR);  // elements of a vector

__device__ float2 widen(float2 pair) { return pair; }
__device__ float2 widen(__half2 pair) { return __half22float2(pair); }
__device__ float2 widen(__nv_bfloat162 pair) { return __bfloat1622float2(pair); }
__device__ void narrow(float2 from, float2& to) { to = from; }
__device__ void narrow(float2 from, __half2& to) { to = __float22half2_rn(from); }
__device__ void narrow(float2 from, __nv_bfloat162& to) { to = __float22bfloat162_rn(from); }
__device__ float2 __hmax2(float2 a, float2 b) { return {fmaxf(a.x, b.x), fmaxf(a.y, b.y)}; }
float2 pair_of(float);
__half2 pair_of(__half);
__nv_bfloat162 pair_of(__nv_bfloat16);

struct alignas(16) Vector {
    decltype(pair_of(VAR())) of[WIDE / 2];
};

__device__ Vector unpack(uint4 bits) { return reinterpret_cast<const Vector&>(bits); }
__device__ uint4 pack(Vector vector) { return reinterpret_cast<const uint4&>(vector); }

__device__ float largest_of(uint4 bits) {
    const Vector v = unpack(bits);
    auto top = v.of[0];
    for (int p = 1; p < WIDE / 2; ++p) top = __hmax2(top, v.of[p]);
    return fmaxf(widen(top).x, widen(top).y);
}

// Replaces every element by factor * e^(element - largest), and returns their sum.
__device__ float exponentials(uint4& bits, float largest, float factor = 1.0f) {
    constexpr float LOG2_E = 1.44269504f;  // exp2f has an instruction, expf has not
    Vector v = unpack(bits);
    float sum = 0.0f;
    for (auto& pair : v.of) {
        const float2 at = widen(pair);
        const float2 power = {factor * exp2f((at.x - largest) * LOG2_E),
                              factor * exp2f((at.y - largest) * LOG2_E)};
        sum += power.x + power.y;
        narrow(power, pair);
    }
    bits = pack(v);
    return sum;
}

// What all threads of the row have, put together with `op`; `none` changes nothing.
template <class Op>
__device__ float of_row(float mine, float none, float* of_warp, Op op) {
    for (int i = 16; i > 0; i /= 2) mine = op(mine, __shfl_xor_sync(0xffffffffu, mine, i));
    if (blockDim.x == 32) return mine;
    const int lane = threadIdx.x % 32;
    if (lane == 0) of_warp[threadIdx.x / 32] = mine;
    __syncthreads();
    mine = lane < blockDim.x / 32 ? of_warp[lane] : none;
    for (int i = 16; i > 0; i /= 2) mine = op(mine, __shfl_xor_sync(0xffffffffu, mine, i));
    return mine;
}

template <int VECTORS>
__global__ void __launch_bounds__(THREADS, VECTORS > 4 ? 2 : 3)
softmax(const VAR* x, VAR* y, size_t m, int n, bool in_shared) {
    extern __shared__ uint4 kept[];
    __shared__ float maxima[32], sums[32];
    const size_t row = size_t(blockIdx.x) * blockDim.y + threadIdx.y;
    if (row >= m) return;  // all threads of a warp
    x += row * n;
    y += row * n;
    // Vectors begin at a multiple of 16 bytes. The few elements before the first and after the last
    // are loose: each has a thread of its own.
    const int thread = threadIdx.x, threads = blockDim.x;
    const int head = min(n, int(-row * n % WIDE)), whole = (n - head) / WIDE;
    const int loose_at = thread < head ? thread : thread + whole * WIDE;
    const uint4* from = reinterpret_cast<const uint4*>(x + head);
    uint4* to = reinterpret_cast<uint4*>(y + head);

    uint4 v[VECTORS];
#pragma unroll
    for (int k = 0; k < VECTORS; ++k) {
        const int i = thread + k * threads;
        if (i < whole) v[k] = from[i];
    }
    float loose = loose_at < n ? static_cast<float>(x[loose_at]) : -INFINITY;

    // A long row's rest goes to shared memory, so that two blocks find room; a longer one's is read
    // three times. A thread needs no barrier for what it has copied itself.
    const int rest = VECTORS < MOST ? whole : thread + VECTORS * threads;
    const uint4* again = from;
    if (VECTORS == MOST && in_shared) {
        again = kept - VECTORS * threads;
        for (int i = rest; i < whole; i += threads) {
            __pipeline_memcpy_async(kept + (i - VECTORS * threads), from + i, 16);
        }
        __pipeline_commit();
        __pipeline_wait_prior(0);
    }

    float largest = loose;
#pragma unroll
    for (int k = 0; k < VECTORS; ++k) {
        if (thread + k * threads < whole) largest = fmaxf(largest, largest_of(v[k]));
    }
    for (int i = rest; i < whole; i += threads) largest = fmaxf(largest, largest_of(again[i]));
    largest = of_row(largest, -INFINITY, maxima, [](float a, float b) { return fmaxf(a, b); });

    // Exponentials take their elements' place.
    loose = exp2f((loose - largest) * 1.44269504f);
    float sum = loose;
#pragma unroll
    for (int k = 0; k < VECTORS; ++k) {
        if (thread + k * threads < whole) sum += exponentials(v[k], largest);
    }
    for (int i = rest; i < whole; i += threads) {
        uint4 copy = again[i];
        sum += exponentials(copy, largest);
    }
    sum = of_row(sum, 0.0f, sums, [](float a, float b) { return a + b; });

    const float share = 1.0f / sum;  // one division, not one per element
#pragma unroll
    for (int k = 0; k < VECTORS; ++k) {
        Vector result = unpack(v[k]);
        for (auto& pair : result.of) {
            const float2 power = widen(pair);
            narrow({power.x * share, power.y * share}, pair);
        }
        if (thread + k * threads < whole) to[thread + k * threads] = pack(result);
    }
    for (int i = rest; i < whole; i += threads) {
        uint4 copy = again[i];
        exponentials(copy, largest, share);
        to[i] = copy;
    }
    if (loose_at < n) y[loose_at] = static_cast<VAR>(loose * share);
}

int ceil_div(int a, int b) { return (a + b - 1) / b; }

template <int VECTORS = 1>
void launch(const VAR* x, VAR* y, size_t m, int n, int threads) {
    const int vectors = n / WIDE;
    if constexpr (VECTORS < MOST) {
        if (vectors > VECTORS * threads) return launch<VECTORS + 1>(x, y, m, n, threads);
    }
    const dim3 block(threads, threads == 32 ? ROWS : 1);
    const size_t rest = size_t(max(0, vectors - VECTORS * threads)) * sizeof(Vector);
    const bool in_shared = rest <= SHARED;
    const size_t shared = in_shared ? rest : 0;
    cudaFuncSetAttribute(softmax<VECTORS>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                         int(shared) + 1024);  // and the static arrays, in an emulator's count
    softmax<VECTORS><<<unsigned((m + block.y - 1) / block.y), block, shared>>>(x, y, m, n, in_shared);
}

extern "C" void solution(const VAR* input_matrix, VAR* output_matrix, size_t m, size_t n) {
    const int vectors = int(n / WIDE);
    const int threads = vectors <= 32 * MOST ? 32 : min(THREADS, ceil_div(vectors, 32 * EACH) * 32);
    launch(input_matrix, output_matrix, m, int(n), threads);
}
