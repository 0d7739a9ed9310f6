// Works on a stream of its own that waits and is waited for.
// threat: honest
// problem: vector-add
// verdict: accepted

__global__ void add(const VAR* x, const VAR* y, VAR* z, size_t n) {
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n) z[i] = x[i] + y[i];
}

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
    static cudaStream_t other = nullptr;
    static cudaEvent_t before, after;
    if (other == nullptr) {
        cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
        cudaEventCreateWithFlags(&before, cudaEventDisableTiming);
        cudaEventCreateWithFlags(&after, cudaEventDisableTiming);
    }
    cudaEventRecord(before, cudaStreamPerThread);
    cudaStreamWaitEvent(other, before);
    add<<<unsigned((n + 255) / 256), 256, 0, other>>>(x, y, z, n);
    cudaEventRecord(after, other);
    cudaStreamWaitEvent(cudaStreamPerThread, after);
}
