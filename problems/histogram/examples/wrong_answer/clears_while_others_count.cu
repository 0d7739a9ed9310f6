// The first block sets the result to zero, which it was, while the others add to it already: within
// a kernel nothing makes them wait.
// verdict: wrong_answer

__global__ void count(const int* values, int* histogram, size_t n, size_t num_bins) {
    if (blockIdx.x == 0) {
        for (size_t bin = threadIdx.x; bin < num_bins; bin += blockDim.x) histogram[bin] = 0;
        __syncthreads();
    }
    const size_t j = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (j < n) atomicAdd(&histogram[values[j]], 1);
}

extern "C" void solution(const int* values, int* histogram, size_t n, size_t num_bins) {
    count<<<unsigned((n + 255) / 256), 256>>>(values, histogram, n, num_bins);
}
