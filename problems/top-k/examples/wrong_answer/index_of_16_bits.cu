// Element and index in one word of 32 bits, 16 for each: rows of more than 65536 elements have
// indices that it cannot hold.
// verdict: wrong_answer
// dtypes: bfloat16

__device__ unsigned key_of(VAR value) {
    const unsigned bits = __float_as_uint(static_cast<float>(value));
    return (bits & 0x80000000u ? ~bits : bits | 0x80000000u) >> 16;
}

__global__ void top_k(const VAR* x, VAR* values, int* indices, size_t m, size_t n, size_t k) {
    const size_t row = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (row >= m) return;
    x += row * n;
    unsigned last = 0xffffffffu;
    for (size_t round = 0; round < k; ++round) {
        unsigned best = 0;
        for (size_t j = 0; j < n; ++j) {
            const unsigned key = key_of(x[j]) << 16 | (0xffffu - unsigned(j & 0xffffu));
            if (key < last && key > best) best = key;
        }
        const unsigned index = 0xffffu - (best & 0xffffu);
        values[row * k + round] = x[index];
        indices[row * k + round] = int(index);
        last = best;
    }
}

extern "C" void solution(const VAR* input_matrix, VAR* values, int* indices, size_t m, size_t n,
                         size_t k) {
    top_k<<<unsigned((m + 31) / 32), 32>>>(input_matrix, values, indices, m, n, k);
}
