// Asks for more shared memory than a block may have.
// threat: launch refused
// problem: vector-add
// verdict: runtime_error

__global__ void add(const VAR* x, const VAR* y, VAR* z, size_t n) {
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n) z[i] = x[i] + y[i];
}

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
    add<<<1, 256, 1 << 30>>>(x, y, z, n);
}
