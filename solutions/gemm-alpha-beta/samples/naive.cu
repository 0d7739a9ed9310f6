// The plainest right answer: one thread per element of C.
//
// A leading dimension is the distance between the starts of two rows, so row i of A starts at
// a + i * ld_a. Single elements are loaded and stored, so that it does not matter where in memory
// the matrices start.

template <typename T>
struct Sum {
    using Type = float;  // for half precision too: a sum of k terms in half would lose digits
};
template <>
struct Sum<double> {
    using Type = double;
};
using Real = Sum<VAR>::Type;

__global__ void gemm(const VAR* a, const VAR* b, VAR* c, Real alpha, Real beta, size_t m, size_t n,
                     size_t k, size_t ld_a, size_t ld_b, size_t ld_c) {
    const size_t column = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    const size_t row = blockIdx.y * size_t(blockDim.y) + threadIdx.y;
    if (row >= m || column >= n) return;  // the grid is rounded up to whole blocks

    Real sum = 0;
    for (size_t i = 0; i < k; ++i) {
        sum += static_cast<Real>(a[row * ld_a + i]) * static_cast<Real>(b[i * ld_b + column]);
    }
    VAR* place = c + row * ld_c + column;
    Real result = alpha * sum;
    // Not 0 * C: that is NaN where C holds NaN or infinity.
    if (beta != 0) result += beta * static_cast<Real>(*place);
    *place = static_cast<VAR>(result);
}

extern "C" void solution(const VAR* matrix_a, const VAR* matrix_b, VAR* matrix_c, float alpha,
                         float beta, size_t m, size_t n, size_t k, size_t ld_a, size_t ld_b,
                         size_t ld_c) {
    const dim3 block(32, 8);
    const dim3 grid(unsigned((n + block.x - 1) / block.x), unsigned((m + block.y - 1) / block.y));
    gemm<<<grid, block>>>(matrix_a, matrix_b, matrix_c, alpha, beta, m, n, k, ld_a, ld_b, ld_c);
}
