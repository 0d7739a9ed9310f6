// Launches a grid of no blocks, whose refusal it does not look at.
// threat: launch refused
// problem: vector-add
// verdict: runtime_error

__global__ void add(const VAR* x, const VAR* y, VAR* z, size_t n) {
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n) z[i] = x[i] + y[i];
}

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
    add<<<0, 256>>>(x, y, z, n);
}
