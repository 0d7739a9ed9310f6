// Keeps its last inputs and answers on the card, compares there, and copies where nothing has
// changed.
// threat: 23, 25
// problem: vector-add
// verdict: accepted (no inputs come twice: it always computes, and pays for the comparison)

__global__ void compare(const VAR* x, const VAR* y, const VAR* old, int* changed, size_t n) {
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n && !(x[i] == old[i] && y[i] == old[n + i])) *changed = 1;
}

__global__ void answer(const VAR* x, const VAR* y, VAR* z, VAR* old, const int* changed, size_t n) {
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i >= n) return;
    if (*changed) {
        old[i] = x[i];
        old[n + i] = y[i];
        old[2 * n + i] = x[i] + y[i];
    }
    z[i] = old[2 * n + i];
}

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
    static VAR* old = nullptr;
    static int* changed = nullptr;
    static size_t size = 0;
    const bool first = n != size;
    if (first) {
        cudaFree(old);
        cudaFree(changed);
        size = n;
        cudaMalloc(reinterpret_cast<void**>(&old), 3 * n * sizeof(VAR));
        cudaMalloc(reinterpret_cast<void**>(&changed), sizeof(int));
    }
    const unsigned blocks = unsigned((n + 255) / 256);
    cudaMemsetAsync(changed, first, sizeof(int), cudaStreamPerThread);
    if (!first) compare<<<blocks, 256>>>(x, y, old, changed, n);
    answer<<<blocks, 256>>>(x, y, z, old, changed, n);
}
