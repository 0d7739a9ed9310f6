// The plainest right answer: one thread per element of the output.
//
// Each thread walks along a row of A and a column of B. Threads that lie next to each other in x
// read neighbouring columns of B (one wide transaction) and the same element of A (a broadcast).
// Still, every element of A and B is fetched again and again: see tiled.cu for what to do about it.
//
// VAR is the element type; the judge's build defines it as float, __half or __nv_bfloat16.

__global__ void gemm_multiply_leakyrelu(const VAR* a, const VAR* b, const VAR* c, float alpha,
                                        VAR* o, size_t m, size_t n, size_t k) {
    const size_t column = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    const size_t row = blockIdx.y * size_t(blockDim.y) + threadIdx.y;
    if (row >= m || column >= n) return;  // the grid is rounded up to whole blocks

    float sum = 0.0f;  // float32 whatever VAR is: a sum of k terms in half would lose digits
    for (size_t i = 0; i < k; ++i) {
        sum += static_cast<float>(a[row * k + i]) * static_cast<float>(b[i * n + column]);
    }
    const float product = sum * static_cast<float>(c[row * n + column]);
    o[row * n + column] = static_cast<VAR>(product >= 0.0f ? product : alpha * product);
}

extern "C" void solution(const VAR* matrix_a, const VAR* matrix_b, const VAR* matrix_c,
                         float alpha, VAR* output_matrix, size_t m, size_t n, size_t k) {
    const dim3 block(32, 8);
    const dim3 grid(unsigned((n + block.x - 1) / block.x), unsigned((m + block.y - 1) / block.y));
    gemm_multiply_leakyrelu<<<grid, block>>>(matrix_a, matrix_b, matrix_c, alpha, output_matrix,
                                             m, n, k);
}
