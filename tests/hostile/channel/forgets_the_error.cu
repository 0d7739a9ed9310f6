// Launches what cannot run, and clears the error that says so.
// threat: 12, 38
// problem: vector-add
// verdict: wrong_answer; on cpu: runtime_error (errors of the executor cannot be cleared)

__global__ void add(const VAR* x, const VAR* y, VAR* z, size_t n) {
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n) z[i] = x[i] + y[i];
}

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
    add<<<1, 4096>>>(x, y, z, n);
    cudaGetLastError();
}
