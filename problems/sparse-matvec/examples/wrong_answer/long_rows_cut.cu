// Has room for 1024 entries of a row, and drops the rest of longer ones.
// verdict: wrong_answer

__global__ void multiply(const int* row_ptr, const int* col_idx, const VAR* entries, const VAR* x,
                         VAR* y, size_t rows, size_t nnz) {
    const size_t row = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (row >= rows) return;
    const int begin = row_ptr[row];
    const int end = min(row_ptr[row + 1], begin + 1024);
    VAR sum = 0;
    for (int p = begin; p < end; ++p) sum += entries[p] * x[col_idx[p]];
    y[row] = sum;
}

extern "C" void solution(const int* row_ptr, const int* col_idx, const VAR* entries, const VAR* x,
                         VAR* y, size_t rows, size_t cols, size_t nnz) {
    multiply<<<unsigned((rows + 63) / 64), 64>>>(row_ptr, col_idx, entries, x, y, rows, nnz);
}
