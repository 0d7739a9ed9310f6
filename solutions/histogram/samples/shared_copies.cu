// Every block counts in shared memory, where an addition is cheap, and adds what it has found to
// the result once.
//
// Few bins mean that many threads meet at each, so there are as many copies as fit, one for each
// warp at most. Equal numbers that a thread meets one after the other are added at once: numbers in
// order, or all alike, then cost no more than others. Bins that shared memory has no room for are
// counted in global memory; there are so many of them that threads seldom meet.

constexpr int THREADS = 512;
constexpr int WARPS = THREADS / 32;
constexpr int COUNTERS = 12288;  // 48 KiB: what a block gets without asking for more
constexpr size_t BLOCKS = 528;   // four for each multiprocessor of an H100

// Calls count(bin, times) for all numbers of this thread: each run of equal ones together.
template <typename Count>
__device__ void count_runs(const int* values, size_t n, Count count) {
    const size_t thread = blockIdx.x * size_t(THREADS) + threadIdx.x;
    const size_t threads = gridDim.x * size_t(THREADS);
    int bin = 0, times = 0;
    auto see = [&](int value) {
        if (value != bin) {
            if (times > 0) count(bin, times);
            bin = value;
            times = 0;
        }
        ++times;
    };
    // Four numbers with one load: the array starts at a multiple of 256 bytes.
    const int4* fours = reinterpret_cast<const int4*>(values);
    for (size_t i = thread; i < n / 4; i += threads) {
        const int4 four = fours[i];
        see(four.x);
        see(four.y);
        see(four.z);
        see(four.w);
    }
    const size_t rest = n / 4 * 4 + thread;  // up to three numbers are left over
    if (rest < n) see(values[rest]);
    if (times > 0) count(bin, times);
}

__global__ void count_in_shared(const int* values, int* histogram, size_t n, int num_bins,
                                int copies) {
    extern __shared__ int counts[];  // copies x num_bins
    for (int i = threadIdx.x; i < copies * num_bins; i += THREADS) counts[i] = 0;
    __syncthreads();  // all counters are zero

    int* mine = counts + threadIdx.x / 32 % copies * num_bins;
    count_runs(values, n, [=](int bin, int times) { atomicAdd(&mine[bin], times); });
    __syncthreads();  // all numbers of the block are counted

    for (int bin = threadIdx.x; bin < num_bins; bin += THREADS) {
        int sum = 0;
        for (int copy = 0; copy < copies; ++copy) sum += counts[copy * num_bins + bin];
        if (sum > 0) atomicAdd(&histogram[bin], sum);
    }
}

__global__ void count_in_global(const int* values, int* histogram, size_t n) {
    count_runs(values, n, [=](int bin, int times) { atomicAdd(&histogram[bin], times); });
}

extern "C" void solution(const int* values, int* histogram, size_t n, size_t num_bins) {
    const size_t needed = (n + 4 * THREADS - 1) / (4 * THREADS);
    const unsigned blocks = unsigned(needed < BLOCKS ? needed : BLOCKS);
    if (num_bins > COUNTERS) {
        count_in_global<<<blocks, THREADS>>>(values, histogram, n);
        return;
    }
    const int fit = COUNTERS / int(num_bins), copies = fit < WARPS ? fit : WARPS;
    count_in_shared<<<blocks, THREADS, copies * num_bins * sizeof(int)>>>(values, histogram, n,
                                                                         int(num_bins), copies);
}
