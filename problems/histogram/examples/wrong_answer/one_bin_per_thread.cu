// Counts in shared memory. When a block is done, each thread adds one bin to the result: with more
// bins than threads the others are lost.
// verdict: wrong_answer

constexpr int BINS = 12288;

__global__ void count(const int* values, int* histogram, size_t n, int num_bins) {
    __shared__ int counts[BINS];
    for (int bin = threadIdx.x; bin < BINS; bin += blockDim.x) counts[bin] = 0;
    __syncthreads();
    const size_t j = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (j < n) {
        const int bin = values[j];
        atomicAdd(bin < BINS ? &counts[bin] : &histogram[bin], 1);
    }
    __syncthreads();
    const int bin = threadIdx.x;
    if (bin < num_bins && counts[bin] > 0) atomicAdd(&histogram[bin], counts[bin]);
}

extern "C" void solution(const int* values, int* histogram, size_t n, size_t num_bins) {
    count<<<unsigned((n + 255) / 256), 256>>>(values, histogram, n, int(num_bins));
}
