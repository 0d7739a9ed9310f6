// Powers of two instead of e, results below the normal range flushed to zero, the exponentials
// kept in the output until the sum is known: less accurate than expf, and within what is allowed.
// verdict: accepted

#include <cfloat>

__device__ float flushed(float x) { return x < FLT_MIN ? 0.0f : x; }

__global__ void softmax(const VAR* x, VAR* y, size_t m, size_t n) {
    const size_t row = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (row >= m) return;
    x += row * n;
    y += row * n;
    float largest = static_cast<float>(x[0]);
    for (size_t j = 1; j < n; ++j) largest = fmaxf(largest, static_cast<float>(x[j]));
    float sum = 0.0f;
    for (size_t j = 0; j < n; ++j) {
        const float term =
            flushed(exp2f((static_cast<float>(x[j]) - largest) * 1.44269504f));
        sum += term;
        y[j] = static_cast<VAR>(term);
    }
    const float share = 1.0f / sum;
    for (size_t j = 0; j < n; ++j) {
        y[j] = static_cast<VAR>(flushed(static_cast<float>(y[j]) * share));
    }
}

extern "C" void solution(const VAR* input_matrix, VAR* output_matrix, size_t m, size_t n) {
    softmax<<<unsigned((m + 63) / 64), 64>>>(input_matrix, output_matrix, m, n);
}
