// Cuts the factors to TF32 and sums up in float32.
// verdict: accepted
// dtypes: float32

__device__ float gelu(float z) { return 0.5f * z * erfcf(z * -0.70710678f); }

// TF32 as a matrix unit takes it from memory: the last 13 bits of the fraction are not looked at.
__device__ float cut(float x) {
    return __uint_as_float(__float_as_uint(x) & 0xffffe000u);
}

__global__ void kernel(const VAR* a, const VAR* b, const VAR* bias, VAR* output, size_t m, size_t n,
                       size_t k) {
    const size_t column = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    const size_t row = blockIdx.y * size_t(blockDim.y) + threadIdx.y;
    if (row >= m || column >= n) return;
    float sum = 0.0f;
    for (size_t i = 0; i < k; ++i) {
        sum += cut(a[row * k + i]) * cut(b[i * n + column]);
    }
    const float z = sum + static_cast<float>(bias[column]);
    output[row * n + column] = static_cast<VAR>(gelu(z));
}

extern "C" void solution(const VAR* matrix_a, const VAR* matrix_b, const VAR* bias,
                         VAR* output_matrix, size_t m, size_t n, size_t k) {
    const dim3 block(32, 8);
    const dim3 grid(unsigned((n + 31) / 32), unsigned((m + 7) / 8));
    kernel<<<grid, block>>>(matrix_a, matrix_b, bias, output_matrix, m, n, k);
}
