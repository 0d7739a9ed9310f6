// Takes all rows to be as long as they are on average.
// verdict: wrong_answer

__global__ void multiply(const int* row_ptr, const int* col_idx, const VAR* entries, const VAR* x,
                         VAR* y, size_t rows, size_t nnz) {
    const size_t row = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (row >= rows) return;
    const size_t length = (nnz + rows - 1) / rows;
    VAR sum = 0;
    for (size_t p = row * length; p < (row + 1) * length && p < nnz; ++p) {
        sum += entries[p] * x[col_idx[p]];
    }
    y[row] = sum;
}

extern "C" void solution(const int* row_ptr, const int* col_idx, const VAR* entries, const VAR* x,
                         VAR* y, size_t rows, size_t cols, size_t nnz) {
    multiply<<<unsigned((rows + 63) / 64), 64>>>(row_ptr, col_idx, entries, x, y, rows, nnz);
}
