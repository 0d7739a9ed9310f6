// One pass over x and x², which float64 has the digits for.
// verdict: accepted

__global__ void layer_norm(const VAR* x, const VAR* gamma, const VAR* beta, float eps, VAR* y,
                           float* mean, float* rstd, size_t m, size_t n) {
    const size_t row = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (row >= m) return;
    x += row * n;
    y += row * n;
    double sum = 0.0, squares = 0.0;
    for (size_t j = 0; j < n; ++j) {
        const double value = static_cast<float>(x[j]);
        sum += value;
        squares += value * value;
    }
    const double mu = sum / n;
    const double r = 1.0 / sqrt(fmax(squares / n - mu * mu, 0.0) + eps);
    for (size_t j = 0; j < n; ++j) {
        const double normalized = (static_cast<float>(x[j]) - mu) * r;
        y[j] = static_cast<VAR>(float(normalized * static_cast<float>(gamma[j]) +
                                      static_cast<float>(beta[j])));
    }
    mean[row] = float(mu);
    rstd[row] = float(r);
}

extern "C" void solution(const VAR* input_matrix, const VAR* gamma, const VAR* beta, float eps,
                         VAR* output_matrix, float* mean, float* rstd, size_t m, size_t n) {
    layer_norm<<<unsigned((m + 63) / 64), 64>>>(input_matrix, gamma, beta, eps, output_matrix,
                                                mean, rstd, m, n);
}
