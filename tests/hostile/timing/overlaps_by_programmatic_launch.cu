// Lets the next call begin as soon as its own blocks have begun, by programmatic dependent launch
// without ever waiting for the one before.
// threat: 28, 30
// problem: gemm-multiply-leakyrelu
// no faster than: timing/honest.cu
// verdict: rejected
__global__ void compute(const VAR* a, const VAR* b, const VAR* c, float alpha, VAR* o, size_t m,
                        size_t n, size_t k) {
#if __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
#endif
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
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t launch = {};
    launch.gridDim = grid;
    launch.blockDim = block;
    launch.stream = cudaStreamPerThread;
    launch.attrs = &attribute;
    launch.numAttrs = 1;
    cudaLaunchKernelEx(&launch, compute, matrix_a, matrix_b, matrix_c, alpha, output_matrix, m, n,
                       k);
}
