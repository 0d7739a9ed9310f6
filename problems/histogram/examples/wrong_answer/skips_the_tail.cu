// Reads four numbers at a time, and leaves out what is left over.
// verdict: wrong_answer

__global__ void count(const int4* fours, int* histogram, size_t n) {
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i >= n / 4) return;
    const int4 four = fours[i];
    atomicAdd(&histogram[four.x], 1);
    atomicAdd(&histogram[four.y], 1);
    atomicAdd(&histogram[four.z], 1);
    atomicAdd(&histogram[four.w], 1);
}

extern "C" void solution(const int* values, int* histogram, size_t n, size_t num_bins) {
    count<<<unsigned(n / 4 / 256 + 1), 256>>>(reinterpret_cast<const int4*>(values), histogram, n);
}
