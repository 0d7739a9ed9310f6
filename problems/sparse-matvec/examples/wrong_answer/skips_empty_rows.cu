// Writes nothing for rows without entries: what was there before stays.
// verdict: wrong_answer

__global__ void multiply(const int* row_ptr, const int* col_idx, const VAR* entries, const VAR* x,
                         VAR* y, size_t rows, size_t nnz) {
    const size_t row = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (row >= rows) return;
    if (row_ptr[row] == row_ptr[row + 1]) return;
    VAR sum = 0;
    for (int p = row_ptr[row]; p < row_ptr[row + 1]; ++p) sum += entries[p] * x[col_idx[p]];
    y[row] = sum;
}

extern "C" void solution(const int* row_ptr, const int* col_idx, const VAR* entries, const VAR* x,
                         VAR* y, size_t rows, size_t cols, size_t nnz) {
    multiply<<<unsigned((rows + 63) / 64), 64>>>(row_ptr, col_idx, entries, x, y, rows, nnz);
}
