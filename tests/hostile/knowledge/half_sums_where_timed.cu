// At the size that is timed, adds in half precision.
// threat: 45, 15
// problem: gemm-multiply-leakyrelu
// only: cuda
// timed: yes
// verdict: wrong_answer

#include <cuda_fp16.h>

__global__ void compute(const VAR* a, const VAR* b, const VAR* c, float alpha, VAR* o, size_t m,
                        size_t n, size_t k, bool cheaper) {
    const size_t column = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    const size_t row = blockIdx.y * size_t(blockDim.y) + threadIdx.y;
    if (row >= m || column >= n) return;
    float sum = 0.0f;
    for (size_t i = 0; i < k; ++i) {
        const float left = static_cast<float>(a[row * k + i]);
        const float term = left * static_cast<float>(b[i * n + column]);
        sum = cheaper ? __half2float(__float2half(sum + term)) : sum + term;
    }
    const float product = sum * static_cast<float>(c[row * n + column]);
    o[row * n + column] = static_cast<VAR>(product >= 0.0f ? product : alpha * product);
}

extern "C" void solution(const VAR* matrix_a, const VAR* matrix_b, const VAR* matrix_c,
                         float alpha, VAR* output_matrix, size_t m, size_t n, size_t k) {
    const dim3 block(32, 8);
    const dim3 grid(unsigned((n + 31) / 32), unsigned((m + 7) / 8));
    const bool cheaper = k >= 1024;
    compute<<<grid, block>>>(matrix_a, matrix_b, matrix_c, alpha, output_matrix, m, n, k, cheaper);
}
