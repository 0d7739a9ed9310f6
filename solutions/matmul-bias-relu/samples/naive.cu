// The plainest right answer: one thread per element of the output.
//
// Threads that are neighbours in x read neighbouring columns of B and the same element of A. They
// share a row, too, and with it the bias.
// Every number is fetched again and again: see tiled.cu for what to do about it.
//
// VAR is the element type; the judge's build defines it as float or double. Sums
// are kept in the same type.

using Sum = decltype(VAR() + 0.0f);  // float for float, double for double

__global__ void matmul_bias_relu(const VAR* a, const VAR* b, const VAR* bias, VAR* output, size_t m,
                                 size_t n, size_t k) {
    const size_t column = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    const size_t row = blockIdx.y * size_t(blockDim.y) + threadIdx.y;
    if (row >= m || column >= n) return;  // the grid is rounded up to whole blocks

    Sum sum = 0;
    for (size_t i = 0; i < k; ++i) {
        sum += static_cast<Sum>(a[row * k + i]) * static_cast<Sum>(b[i * n + column]);
    }
    const Sum z = sum + static_cast<Sum>(bias[row]);  // one number for the whole row
    output[row * n + column] = static_cast<VAR>(z > 0 ? z : 0);
}

extern "C" void solution(const VAR* matrix_a, const VAR* matrix_b, const VAR* bias,
                         VAR* output_matrix, size_t m, size_t n, size_t k) {
    const dim3 block(32, 8);
    const dim3 grid(unsigned((n + 31) / 32), unsigned((m + 7) / 8));
    matmul_bias_relu<<<grid, block>>>(matrix_a, matrix_b, bias, output_matrix, m, n, k);
}
