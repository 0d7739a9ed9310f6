// Does not wait until the whole block has counted before its counts are added to the result.
// verdict: wrong_answer

__global__ void count(const int* values, int* histogram, size_t n, int num_bins) {
    extern __shared__ int counts[];
    for (int bin = threadIdx.x; bin < num_bins; bin += blockDim.x) counts[bin] = 0;
    __syncthreads();
    const size_t threads = gridDim.x * size_t(blockDim.x);
    for (size_t j = blockIdx.x * size_t(blockDim.x) + threadIdx.x; j < n; j += threads) {
        if (values[j] < num_bins) atomicAdd(&counts[values[j]], 1);
    }
    for (int bin = threadIdx.x; bin < num_bins; bin += blockDim.x) {
        if (counts[bin] > 0) atomicAdd(&histogram[bin], counts[bin]);
    }
}

__global__ void count_others(const int* values, int* histogram, size_t n, int first) {
    const size_t j = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (j < n && values[j] >= first) atomicAdd(&histogram[values[j]], 1);
}

extern "C" void solution(const int* values, int* histogram, size_t n, size_t num_bins) {
    const int in_shared = num_bins < 12288 ? int(num_bins) : 12288;
    count<<<unsigned((n + 4095) / 4096), 256, in_shared * sizeof(int)>>>(values, histogram, n,
                                                                         in_shared);
    count_others<<<unsigned((n + 255) / 256), 256>>>(values, histogram, n, in_shared);
}
