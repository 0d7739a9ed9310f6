// Adds to an output that nobody has set to zero.
// verdict: wrong_answer

__global__ void add_up(const VAR* x, float scale, float* row_mean, size_t m, size_t n) {
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < m * n) atomicAdd(&row_mean[i / n], static_cast<float>(x[i]) * scale);
}

__global__ void find(const VAR* x, int* largest, size_t m, size_t n) {
    const size_t row = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (row >= m) return;
    x += row * n;
    size_t index = 0;
    for (size_t j = 1; j < n; ++j) {
        if (static_cast<float>(x[j]) > static_cast<float>(x[index])) index = j;
    }
    largest[row] = int(index);
}

extern "C" void solution(const VAR* input_matrix, float scale, float* row_mean, int* largest,
                         size_t m, size_t n) {
    add_up<<<unsigned((m * n + 255) / 256), 256>>>(input_matrix, scale, row_mean, m, n);
    find<<<unsigned((m + 31) / 32), 32>>>(input_matrix, largest, m, n);
}
