// Adds eps to the standard deviation instead of the variance.
// verdict: wrong_answer

__global__ void layer_norm(const VAR* x, const VAR* gamma, const VAR* beta, float eps, VAR* y,
                           float* mean, float* rstd, size_t m, size_t n) {
    const size_t row = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (row >= m) return;
    x += row * n;
    y += row * n;
    float sum = 0.0f;
    for (size_t j = 0; j < n; ++j) sum += static_cast<float>(x[j]);
    const float mu = sum / n;
    float squares = 0.0f;
    for (size_t j = 0; j < n; ++j) {
        const float difference = static_cast<float>(x[j]) - mu;
        squares += difference * difference;
    }
    const float r = 1.0f / (sqrtf(squares / n) + eps);
    for (size_t j = 0; j < n; ++j) {
        const float normalized = (static_cast<float>(x[j]) - mu) * r;
        y[j] = static_cast<VAR>(normalized * static_cast<float>(gamma[j]) +
                                static_cast<float>(beta[j]));
    }
    mean[row] = mu;
    rstd[row] = r;
}

extern "C" void solution(const VAR* input_matrix, const VAR* gamma, const VAR* beta, float eps,
                         VAR* output_matrix, float* mean, float* rstd, size_t m, size_t n) {
    layer_norm<<<unsigned((m + 63) / 64), 64>>>(input_matrix, gamma, beta, eps, output_matrix,
                                                mean, rstd, m, n);
}
