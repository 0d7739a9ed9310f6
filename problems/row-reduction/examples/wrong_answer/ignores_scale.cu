// Sums, and forgets to scale.
// verdict: wrong_answer

__global__ void reduce(const VAR* x, float scale, float* row_mean, int* largest, size_t m,
                       size_t n) {
    const size_t row = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (row >= m) return;
    x += row * n;
    float sum = 0.0f, top = static_cast<float>(x[0]);
    int index = 0;
    for (size_t j = 0; j < n; ++j) {
        const float value = static_cast<float>(x[j]);
        sum += value;
        if (value > top) {
            top = value;
            index = int(j);
        }
    }
    row_mean[row] = sum;
    largest[row] = index;
}

extern "C" void solution(const VAR* input_matrix, float scale, float* row_mean, int* largest,
                         size_t m, size_t n) {
    reduce<<<unsigned((m + 31) / 32), 32>>>(input_matrix, scale, row_mean, largest, m, n);
}
