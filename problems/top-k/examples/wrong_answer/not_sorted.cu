// Finds the right elements, and leaves them in the order in which they stand in the row.
// verdict: wrong_answer

__global__ void top_k(const VAR* x, VAR* values, int* indices, size_t m, size_t n, size_t k) {
    const size_t row = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (row >= m) return;
    x += row * n;
    size_t found = 0;
    for (size_t j = 0; j < n && found < k; ++j) {
        const float value = static_cast<float>(x[j]);
        size_t before = 0;
        for (size_t i = 0; i < n && before < k; ++i) {
            const float other = static_cast<float>(x[i]);
            before += other > value || (other == value && i < j);
        }
        if (before < k) {
            values[row * k + found] = x[j];
            indices[row * k + found] = int(j);
            ++found;
        }
    }
}

extern "C" void solution(const VAR* input_matrix, VAR* values, int* indices, size_t m, size_t n,
                         size_t k) {
    top_k<<<unsigned((m + 31) / 32), 32>>>(input_matrix, values, indices, m, n, k);
}
