// Writes whatever lies in shared memory from the kernel before.
// threat: 38
// problem: vector-add
// verdict: wrong_answer

__global__ void leftovers(VAR* z, size_t n) {
    __shared__ VAR left[256];
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n) z[i] = left[threadIdx.x];
}

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
    leftovers<<<unsigned((n + 255) / 256), 256>>>(z, n);
}
