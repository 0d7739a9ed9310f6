// Welford's updates: one pass, and errors proportional to the ratio of mean to spread.
// verdict: accepted

__global__ void layer_norm(const VAR* x, const VAR* gamma, const VAR* beta, float eps, VAR* y,
                           float* mean, float* rstd, size_t m, size_t n) {
    const size_t row = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (row >= m) return;
    x += row * n;
    y += row * n;
    float mu = 0.0f, squares = 0.0f;
    for (size_t j = 0; j < n; ++j) {
        const float value = static_cast<float>(x[j]);
        const float difference = value - mu;
        mu += difference / (j + 1);
        squares += difference * (value - mu);
    }
    const float r = 1.0f / sqrtf(squares / n + eps);
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
