// Copies, and takes as long as it is told, well above what it needs.
__global__ void spin(const VAR* x, VAR* y, size_t n) {
    const long long start = clock64();
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n) y[i] = x[i];
    while (blockIdx.x == 0 && clock64() - start < CYCLES) {
    }
}

extern "C" void solution(const VAR* x, VAR* y, size_t n) {
    spin<<<unsigned((n + 255) / 256), 256>>>(x, y, n);
}
