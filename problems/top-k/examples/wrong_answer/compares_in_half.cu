// Compares elements in half precision: those that differ in later digits come in any order.
// verdict: wrong_answer
// dtypes: float32

#include <cuda_fp16.h>

__global__ void top_k(const VAR* x, VAR* values, int* indices, size_t m, size_t n, size_t k) {
    const size_t row = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (row >= m) return;
    x += row * n;
    int last = -1;
    for (size_t round = 0; round < k; ++round) {
        int best = -1;
        for (int j = 0; j < int(n); ++j) {
            const float value = __half2float(__float2half(x[j]));
            if (last >= 0) {
                const float found = __half2float(__float2half(x[last]));
                if (value > found || (value == found && j <= last)) continue;
            }
            if (best < 0 || value > __half2float(__float2half(x[best]))) best = j;
        }
        values[row * k + round] = x[best];
        indices[row * k + round] = best;
        last = best;
    }
}

extern "C" void solution(const VAR* input_matrix, VAR* values, int* indices, size_t m, size_t n,
                         size_t k) {
    top_k<<<unsigned((m + 31) / 32), 32>>>(input_matrix, values, indices, m, n, k);
}
