// Every element comes from memory once: a row waits in the registers of its threads.
//
// block_per_row.cu walks along the row three times, and finds it in the cache for the second and
// third. Here the threads that share a row hold all of it, and the memory has little to wait for:
//
// - Loads and stores have 16 bytes: a quarter of the instructions for float, an eighth for half.
// - A thread asks for all of its vectors before it looks at the first.
// - A block has one row and ends: while it adds up, its neighbours on the multiprocessor load and
//   store. That takes several of them, so threads hold few vectors, and few registers besides.
// - A row of up to 4 KiB has one warp: no barrier, no shared memory.
// - All rows want the same gamma and beta, which stay in the multiprocessor's cache.
// - In half precision the instructions count too, a hundred or so for a vector. So rows that all
//   begin at a multiple of 16 bytes have a kernel without what others need, there are no branches
//   around loads, which would wait for each other, and nobody divides by n.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

constexpr int WIDE = 16 / sizeof(VAR);  // elements of a vector

constexpr int EACH = WIDE > 4 ? 5 : 4;  // vectors of a thread, where a row has more than one warp,
constexpr int THREADS = 512;            // unless it then takes more threads than these:
constexpr int MOST = 8;                 // up to so many vectors
constexpr int ROWS = 2;                 // of a block, where a row has one warp

__device__ float2 widen(float2 pair) { return pair; }
__device__ float2 widen(__half2 pair) { return __half22float2(pair); }
__device__ float2 widen(__nv_bfloat162 pair) { return __bfloat1622float2(pair); }
__device__ void narrow(float2 from, float2& to) { to = from; }
__device__ void narrow(float2 from, __half2& to) { to = __float22half2_rn(from); }
__device__ void narrow(float2 from, __nv_bfloat162& to) { to = __float22bfloat162_rn(from); }
float2 pair_of(float);
__half2 pair_of(__half);
__nv_bfloat162 pair_of(__nv_bfloat16);

struct alignas(16) Vector {
    decltype(pair_of(VAR())) of[WIDE / 2];
};

__device__ Vector unpack(uint4 bits) { return reinterpret_cast<const Vector&>(bits); }
__device__ uint4 pack(Vector vector) { return reinterpret_cast<const uint4&>(vector); }

// Compilers would keep the floats that they have converted, which are twice as many registers.
__device__ void forget(uint4& v) {
    if (WIDE > 4) asm volatile("" : "+r"(v.x), "+r"(v.y), "+r"(v.z), "+r"(v.w));
}

__device__ float sum_of(uint4 bits) {
    float sum = 0.0f;
    for (const auto& pair : unpack(bits).of) sum += widen(pair).x + widen(pair).y;
    return sum;
}

__device__ float squares_of(uint4 bits, float mean) {
    float sum = 0.0f;
    for (const auto& pair : unpack(bits).of) {
        const float x = widen(pair).x - mean, y = widen(pair).y - mean;
        sum += x * x + y * y;
    }
    return sum;
}

// A vector of gamma or beta from column `at` on. Where rows begin anywhere, x's vectors are aligned
// and these are not: two are read, which neighbours find in the cache, and what they have is moved
// along by whole words, then by half a word.
template <bool SHIFTED>
__device__ Vector weights(const VAR* all, int at) {
    const uint4* from = reinterpret_cast<const uint4*>(all) + at / WIDE;
    const uint4 low = __ldg(from);
    if (!SHIFTED) return unpack(low);
    const uint4 high = __ldg(from + 1);
    const int bytes = at % WIDE * int(sizeof(VAR));
    unsigned w[] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
    for (int step = 2; step > 0; --step) {
#pragma unroll
        for (int i = 0; i + step < 8; ++i) w[i] = bytes / 4 & step ? w[i + step] : w[i];
    }
    const unsigned bits = bytes % 4 * 8;
    return unpack({__funnelshift_r(w[0], w[1], bits), __funnelshift_r(w[1], w[2], bits),
                   __funnelshift_r(w[2], w[3], bits), __funnelshift_r(w[3], w[4], bits)});
}

// The sum of what the row's threads have, for all of them.
__device__ float of_row(float mine, float* of_warp) {
    for (int i = 16; i > 0; i /= 2) mine += __shfl_xor_sync(0xffffffffu, mine, i);
    if (blockDim.x == 32) return mine;
    const int lane = threadIdx.x % 32;
    if (lane == 0) of_warp[threadIdx.x / 32] = mine;
    __syncthreads();
    mine = lane < blockDim.x / 32 ? of_warp[lane] : 0.0f;
    for (int i = 16; i > 0; i /= 2) mine += __shfl_xor_sync(0xffffffffu, mine, i);
    return mine;
}

template <int VECTORS, bool SHIFTED>  // SHIFTED: rows begin anywhere, not at multiples of 16 bytes
__global__ void __launch_bounds__(THREADS, VECTORS > 3 ? 2 : 3)
layer_norm(const VAR* x, const VAR* gamma, const VAR* beta, float eps, VAR* y, float* mean,
           float* rstd, int m, int n, float per_n) {
    __shared__ float sums[32], squares_of_warp[32];
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= m) return;  // all threads of a warp
    x += size_t(row) * n;
    y += size_t(row) * n;
    // Vectors begin at a multiple of 16 bytes. The few elements before the first and after the last
    // are loose: each has a thread of its own. So have those of the last vector, where `weights`
    // reads a vector of gamma beyond its own.
    const int thread = threadIdx.x, threads = blockDim.x;
    const int head = SHIFTED ? min(n, int(-unsigned(row) * n % WIDE)) : 0;
    const int whole = SHIFTED ? max(0, (n - head) / WIDE - 1) : n / WIDE;
    const int loose_at = thread < head ? thread : thread + whole * WIDE;
    const bool has_loose = SHIFTED && loose_at < n;
    const uint4* from = reinterpret_cast<const uint4*>(x + head);
    uint4* to = reinterpret_cast<uint4*>(y + head);
    // "cs": evict first, as nobody reads it again. As measured, this pays for these rows alone.
    constexpr bool ONCE = SHIFTED && WIDE > 4;

    uint4 v[VECTORS];
#pragma unroll
    for (int k = 0; k < VECTORS; ++k) {
        const int i = thread + k * threads;
        if (i < whole) v[k] = ONCE ? __ldcs(from + i) : from[i];
    }
    const float loose = has_loose ? static_cast<float>(x[loose_at]) : 0.0f;

    // What registers do not hold of a longer row is read three times.
    const int rest = VECTORS < MOST ? whole : thread + VECTORS * threads;

    float sum = loose;
#pragma unroll
    for (int k = 0; k < VECTORS; ++k) {
        if (thread + k * threads < whole) sum += sum_of(v[k]);
    }
    for (int i = rest; i < whole; i += threads) sum += sum_of(from[i]);
    const float mu = of_row(sum, sums) * per_n;

    float squares = has_loose ? (loose - mu) * (loose - mu) : 0.0f;
#pragma unroll
    for (int k = 0; k < VECTORS; ++k) {
        forget(v[k]);
        if (thread + k * threads < whole) squares += squares_of(v[k], mu);
    }
    for (int i = rest; i < whole; i += threads) squares += squares_of(from[i], mu);
    const float r = rsqrtf(of_row(squares, squares_of_warp) * per_n + eps);

    if (thread == 0) {
        mean[row] = mu;
        rstd[row] = r;
    }
    if (has_loose) {
        y[loose_at] = static_cast<VAR>((loose - mu) * r * static_cast<float>(gamma[loose_at]) +
                                       static_cast<float>(beta[loose_at]));
    }
    const auto write = [&](uint4 bits, int i) {
        Vector v = unpack(bits);
        const Vector g = weights<SHIFTED>(gamma, head + i * WIDE);
        const Vector b = weights<SHIFTED>(beta, head + i * WIDE);
        for (int p = 0; p < WIDE / 2; ++p) {
            const float2 at = widen(v.of[p]), scale = widen(g.of[p]), shift = widen(b.of[p]);
            narrow({fmaf(fmaf(at.x, r, -mu * r), scale.x, shift.x),
                    fmaf(fmaf(at.y, r, -mu * r), scale.y, shift.y)}, v.of[p]);
        }
        if (ONCE) {
            __stcs(to + i, pack(v));
        } else {
            to[i] = pack(v);
        }
    };
#pragma unroll
    for (int k = 0; k < VECTORS; ++k) {
        forget(v[k]);
        if (thread + k * threads < whole) write(v[k], thread + k * threads);
    }
#pragma unroll 1
    for (int i = rest; i < whole; i += threads) write(from[i], i);
}

int ceil_div(int a, int b) { return (a + b - 1) / b; }

template <int VECTORS = 1>
void launch(const VAR* x, const VAR* gamma, const VAR* beta, float eps, VAR* y, float* mean,
            float* rstd, int m, int n, int threads) {
    if constexpr (VECTORS < MOST) {
        if (n / WIDE > VECTORS * threads) {
            return launch<VECTORS + 1>(x, gamma, beta, eps, y, mean, rstd, m, n, threads);
        }
    }
    const dim3 block(threads, threads == 32 ? ROWS : 1);
    const auto kernel = n % WIDE ? layer_norm<VECTORS, true> : layer_norm<VECTORS, false>;
    kernel<<<ceil_div(m, block.y), block>>>(x, gamma, beta, eps, y, mean, rstd, m, n, 1.0f / n);
}

extern "C" void solution(const VAR* input_matrix, const VAR* gamma, const VAR* beta, float eps,
                         VAR* output_matrix, float* mean, float* rstd, size_t m, size_t n) {
    const int vectors = int(n / WIDE);
    const int threads = vectors <= 32 * MOST ? 32 : min(THREADS, ceil_div(vectors, 32 * EACH) * 32);
    launch(input_matrix, gamma, beta, eps, output_matrix, mean, rstd, int(m), int(n), threads);
}
