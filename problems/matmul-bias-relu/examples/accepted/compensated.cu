// Carries along what every addition and every product loses (Ogita, Rump and Oishi's Dot2): about
// twice the digits. Better than was asked for must never be worse.
// verdict: accepted

using Sum = decltype(VAR() + 0.0f);  // float for float, double for double

__global__ void kernel(const VAR* a, const VAR* b, const VAR* bias, VAR* output, size_t m, size_t n,
                       size_t k) {
    const size_t column = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    const size_t row = blockIdx.y * size_t(blockDim.y) + threadIdx.y;
    if (row >= m || column >= n) return;
    Sum sum = 0, lost = 0;
    for (size_t i = 0; i < k; ++i) {
        const Sum x = a[row * k + i], y = b[i * n + column];
        const Sum product = x * y;
        lost += fma(x, y, -product);
        const Sum next = sum + product, part = next - sum;
        lost += (sum - (next - part)) + (product - part);
        sum = next;
    }
    const Sum z = sum + (lost + static_cast<Sum>(bias[row]));
    output[row * n + column] = z > 0 ? z : 0;
}

extern "C" void solution(const VAR* matrix_a, const VAR* matrix_b, const VAR* bias,
                         VAR* output_matrix, size_t m, size_t n, size_t k) {
    const dim3 block(32, 8);
    const dim3 grid(unsigned((n + 31) / 32), unsigned((m + 7) / 8));
    kernel<<<grid, block>>>(matrix_a, matrix_b, bias, output_matrix, m, n, k);
}
