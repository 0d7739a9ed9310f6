// A kernel, but no function `solution` that would launch it.
// verdict: invalid_submission

__global__ void kernel(const VAR* a, const VAR* b, const VAR* c, float alpha, VAR* o, size_t m,
                       size_t n, size_t k) {
    const size_t column = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    const size_t row = blockIdx.y * size_t(blockDim.y) + threadIdx.y;
    if (row >= m || column >= n) return;
    float sum = 0.0f;
    for (size_t i = 0; i < k; ++i) {
        sum += static_cast<float>(a[row * k + i]) * static_cast<float>(b[i * n + column]);
    }
    const float product = sum * static_cast<float>(c[row * n + column]);
    o[row * n + column] = static_cast<VAR>(product >= 0.0f ? product : alpha * product);
}
