// Two counters in one word, so that twice as many fit into shared memory: a bin that gets 65536 of
// a block's numbers runs over into its neighbour.
// verdict: wrong_answer

constexpr int BINS = 24576;
constexpr size_t STRETCH = 1 << 20;  // numbers of a block: few blocks have few counts to add

__global__ void count(const int* values, int* histogram, size_t n, int num_bins) {
    __shared__ unsigned pairs[BINS / 2];
    for (int i = threadIdx.x; i < BINS / 2; i += blockDim.x) pairs[i] = 0;
    __syncthreads();
    const size_t begin = blockIdx.x * STRETCH;
    const size_t end = begin + STRETCH < n ? begin + STRETCH : n;
    for (size_t j = begin + threadIdx.x; j < end; j += blockDim.x) {
        const int bin = values[j];
        if (bin < BINS) {
            atomicAdd(&pairs[bin / 2], bin % 2 ? 65536u : 1u);
        } else {
            atomicAdd(&histogram[bin], 1);
        }
    }
    __syncthreads();
    for (int bin = threadIdx.x; bin < num_bins && bin < BINS; bin += blockDim.x) {
        const unsigned found = bin % 2 ? pairs[bin / 2] >> 16 : pairs[bin / 2] & 65535u;
        if (found > 0) atomicAdd(&histogram[bin], int(found));
    }
}

extern "C" void solution(const int* values, int* histogram, size_t n, size_t num_bins) {
    count<<<unsigned((n + STRETCH - 1) / STRETCH), 256>>>(values, histogram, n, int(num_bins));
}
