// Sets the result to zero once more before it counts: of no use, and no mistake.
// verdict: accepted

__global__ void clear(int* histogram, size_t num_bins) {
    const size_t bin = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (bin < num_bins) histogram[bin] = 0;
}

__global__ void count(const int* values, int* histogram, size_t n) {
    const size_t j = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (j < n) atomicAdd(&histogram[values[j]], 1);
}

extern "C" void solution(const int* values, int* histogram, size_t n, size_t num_bins) {
    clear<<<unsigned((num_bins + 255) / 256), 256>>>(histogram, num_bins);
    count<<<unsigned((n + 255) / 256), 256>>>(values, histogram, n);
}
