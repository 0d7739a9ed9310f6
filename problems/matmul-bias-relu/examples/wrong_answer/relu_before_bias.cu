// Rectifies the product and adds the bias afterwards.
// verdict: wrong_answer

using Sum = decltype(VAR() + 0.0f);  // float for float, double for double

__global__ void kernel(const VAR* a, const VAR* b, const VAR* bias, VAR* output, size_t m, size_t n,
                       size_t k) {
    const size_t column = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    const size_t row = blockIdx.y * size_t(blockDim.y) + threadIdx.y;
    if (row >= m || column >= n) return;
    Sum sum = 0;
    for (size_t i = 0; i < k; ++i) {
        sum += static_cast<Sum>(a[row * k + i]) * static_cast<Sum>(b[i * n + column]);
    }
    const Sum z = sum > 0 ? sum : 0;
    output[row * n + column] = static_cast<VAR>(z + static_cast<Sum>(bias[row]));
}

extern "C" void solution(const VAR* matrix_a, const VAR* matrix_b, const VAR* bias,
                         VAR* output_matrix, size_t m, size_t n, size_t k) {
    const dim3 block(32, 8);
    const dim3 grid(unsigned((n + 31) / 32), unsigned((m + 7) / 8));
    kernel<<<grid, block>>>(matrix_a, matrix_b, bias, output_matrix, m, n, k);
}
