// A list of 32 elements per row, sorted by insertion: enough for most k, and not for all.
// verdict: wrong_answer

constexpr int LONGEST = 32;

__global__ void top_k(const VAR* x, VAR* values, int* indices, size_t m, size_t n, size_t k) {
    const size_t row = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (row >= m) return;
    x += row * n;
    float best[LONGEST];
    int places[LONGEST];
    const int length = k < LONGEST ? int(k) : LONGEST;
    int filled = 0;
    for (size_t j = 0; j < n; ++j) {
        const float value = static_cast<float>(x[j]);
        if (filled == length && value <= best[length - 1]) continue;
        int i = filled < length ? filled++ : length - 1;
        for (; i > 0 && best[i - 1] < value; --i) {
            best[i] = best[i - 1];
            places[i] = places[i - 1];
        }
        best[i] = value;
        places[i] = int(j);
    }
    for (int i = 0; i < length; ++i) {
        values[row * k + i] = static_cast<VAR>(best[i]);
        indices[row * k + i] = places[i];
    }
}

extern "C" void solution(const VAR* input_matrix, VAR* values, int* indices, size_t m, size_t n,
                         size_t k) {
    top_k<<<unsigned((m + 31) / 32), 32>>>(input_matrix, values, indices, m, n, k);
}
