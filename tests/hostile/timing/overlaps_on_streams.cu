// Spreads its calls over streams that nothing waits for but the end of the batch.
// threat: 28, 30
// problem: gemm-multiply-leakyrelu
// verdict: rejected

__global__ void compute(const VAR* a, const VAR* b, const VAR* c, float alpha, VAR* o, size_t m,
                        size_t n, size_t k) {
    const size_t column = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    const size_t row = blockIdx.y * size_t(blockDim.y) + threadIdx.y;
    if (row >= m || column >= n) return;
    float sum = 0.0f;
    for (size_t i = 0; i < k; ++i) {
        sum += static_cast<float>(a[row * k + i]) * static_cast<float>(b[i * n + column]);
    }
    const float product = sum * static_cast<float>(c[row * n + column]);
    o[row * n + column] = static_cast<VAR>(product >= 0.0f ? product : alpha * product);
}

extern "C" void solution(const VAR* matrix_a, const VAR* matrix_b, const VAR* matrix_c,
                         float alpha, VAR* output_matrix, size_t m, size_t n, size_t k) {
    const dim3 block(32, 8);
    const dim3 grid(unsigned((n + 31) / 32), unsigned((m + 7) / 8));
    static cudaStream_t streams[8] = {};
    static unsigned call = 0;
    if (streams[0] == nullptr) {
        for (cudaStream_t& stream : streams) {
            cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        }
    }
    cudaStreamCaptureStatus status;
    cudaStreamIsCapturing(cudaStreamPerThread, &status);
    if (status == cudaStreamCaptureStatusActive) {
        cudaStreamSynchronize(cudaStreamPerThread);  // forbidden: it will not be recorded
        return;
    }
    const cudaStream_t stream = streams[call++ % 8];
    compute<<<grid, block, 0, stream>>>(matrix_a, matrix_b, matrix_c, alpha, output_matrix, m, n, k);
}
