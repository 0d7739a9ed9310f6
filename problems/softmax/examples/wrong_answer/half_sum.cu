// Adds the exponentials up in half precision: small ones are lost beside the sum.
// verdict: wrong_answer
// dtypes: float16

__global__ void softmax(const VAR* x, VAR* y, size_t m, size_t n) {
    const size_t row = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (row >= m) return;
    x += row * n;
    y += row * n;
    float largest = static_cast<float>(x[0]);
    for (size_t j = 1; j < n; ++j) largest = fmaxf(largest, static_cast<float>(x[j]));
    VAR sum = static_cast<VAR>(0.0f);
    for (size_t j = 0; j < n; ++j) {
        const float term = expf(static_cast<float>(x[j]) - largest);
        sum = static_cast<VAR>(static_cast<float>(sum) + term);
    }
    for (size_t j = 0; j < n; ++j) {
        const float term = expf(static_cast<float>(x[j]) - largest);
        y[j] = static_cast<VAR>(term / static_cast<float>(sum));
    }
}

extern "C" void solution(const VAR* input_matrix, VAR* output_matrix, size_t m, size_t n) {
    softmax<<<unsigned((m + 63) / 64), 64>>>(input_matrix, output_matrix, m, n);
}
