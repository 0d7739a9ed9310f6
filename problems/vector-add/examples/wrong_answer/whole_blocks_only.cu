// The grid is rounded down: what does not fill a block is never added.
// verdict: wrong_answer

__global__ void add(const VAR* x, const VAR* y, VAR* z) {
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    z[i] = x[i] + y[i];
}

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
    if (n >= 256) add<<<unsigned(n / 256), 256>>>(x, y, z);
}
