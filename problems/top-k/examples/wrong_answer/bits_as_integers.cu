// Compares the bits of floats as integers, which is right for positive numbers alone: of negative
// ones the largest in magnitude comes first.
// verdict: wrong_answer

#include <climits>

__global__ void top_k(const VAR* x, VAR* values, int* indices, size_t m, size_t n, size_t k) {
    const size_t row = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (row >= m) return;
    x += row * n;
    long long last = LLONG_MAX;
    for (size_t round = 0; round < k; ++round) {
        long long best = LLONG_MIN;
        for (size_t j = 0; j < n; ++j) {
            const long long bits = __float_as_int(static_cast<float>(x[j]));
            const long long key = bits * (1LL << 32) + (0xffffffffLL - (long long)(j));
            if (key < last && key > best) best = key;
        }
        const size_t index = size_t(0xffffffffLL - (best & 0xffffffffLL));
        values[row * k + round] = x[index];
        indices[row * k + round] = int(index);
        last = best;
    }
}

extern "C" void solution(const VAR* input_matrix, VAR* values, int* indices, size_t m, size_t n,
                         size_t k) {
    top_k<<<unsigned((m + 31) / 32), 32>>>(input_matrix, values, indices, m, n, k);
}
