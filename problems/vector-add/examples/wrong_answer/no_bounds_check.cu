// The grid is rounded up to whole blocks, and the threads beyond the end add, too.
// verdict: wrong_answer; on cpu: runtime_error (the access is noticed as such)

__global__ void add(const VAR* x, const VAR* y, VAR* z) {
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    z[i] = x[i] + y[i];
}

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
    add<<<unsigned((n + 255) / 256), 256>>>(x, y, z);
}
