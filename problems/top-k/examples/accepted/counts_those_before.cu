// One thread per element counts how many come before it: that is its place in the result. Equal
// elements stand in an order that depends on their indices' parity.
// verdict: accepted

__device__ bool before(float a, size_t at_a, float b, size_t at_b) {
    if (a != b) return a > b;
    if (at_a % 2 != at_b % 2) return at_a % 2 > at_b % 2;
    return at_a < at_b;
}

__global__ void top_k(const VAR* x, VAR* values, int* indices, size_t n, size_t k) {
    const size_t row = blockIdx.x;
    x += row * n;
    for (size_t j = threadIdx.x; j < n; j += blockDim.x) {
        const float value = static_cast<float>(x[j]);
        size_t rank = 0;
        for (size_t i = 0; i < n && rank < k; ++i) {
            rank += before(static_cast<float>(x[i]), i, value, j);
        }
        if (rank < k) {
            values[row * k + rank] = x[j];
            indices[row * k + rank] = int(j);
        }
    }
}

extern "C" void solution(const VAR* input_matrix, VAR* values, int* indices, size_t m, size_t n,
                         size_t k) {
    top_k<<<unsigned(m), 64>>>(input_matrix, values, indices, n, k);
}
