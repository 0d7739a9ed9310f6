// Sums in float32 where the data are float64.
// verdict: wrong_answer
// dtypes: float64

__global__ void multiply(const int* row_ptr, const int* col_idx, const VAR* entries, const VAR* x,
                         VAR* y, size_t rows, size_t nnz) {
    const size_t row = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (row >= rows) return;
    float sum = 0.0f;
    for (int p = row_ptr[row]; p < row_ptr[row + 1]; ++p) sum += float(entries[p] * x[col_idx[p]]);
    y[row] = sum;
}

extern "C" void solution(const int* row_ptr, const int* col_idx, const VAR* entries, const VAR* x,
                         VAR* y, size_t rows, size_t cols, size_t nnz) {
    multiply<<<unsigned((rows + 63) / 64), 64>>>(row_ptr, col_idx, entries, x, y, rows, nnz);
}
