// In each round looks for the largest element below the one before: of equal ones it finds one, and
// writes nothing where none is left.
// verdict: wrong_answer

__global__ void top_k(const VAR* x, VAR* values, int* indices, size_t m, size_t n, size_t k) {
    const size_t row = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (row >= m) return;
    x += row * n;
    int last = -1;
    for (size_t round = 0; round < k; ++round) {
        int best = -1;
        for (int j = 0; j < int(n); ++j) {
            const float value = static_cast<float>(x[j]);
            if (last >= 0 && value >= static_cast<float>(x[last])) continue;
            if (best < 0 || value > static_cast<float>(x[best])) best = j;
        }
        if (best < 0) return;
        values[row * k + round] = x[best];
        indices[row * k + round] = best;
        last = best;
    }
}

extern "C" void solution(const VAR* input_matrix, VAR* values, int* indices, size_t m, size_t n,
                         size_t k) {
    top_k<<<unsigned((m + 31) / 32), 32>>>(input_matrix, values, indices, m, n, k);
}
