// A thread per entry, which takes the first of the rows that begin at an entry: an empty one, where
// there is one.
// verdict: wrong_answer

__global__ void clear(VAR* y, size_t rows) {
    const size_t row = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (row < rows) y[row] = 0;
}

__global__ void add_up(const int* row_ptr, const int* col_idx, const VAR* entries, const VAR* x,
                       VAR* y, size_t rows, size_t nnz) {
    const size_t p = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (p >= nnz) return;
    size_t row = 0;
    while (row + 1 < rows && size_t(row_ptr[row]) < p && size_t(row_ptr[row + 1]) <= p) ++row;
    atomicAdd(&y[row], entries[p] * x[col_idx[p]]);
}

extern "C" void solution(const int* row_ptr, const int* col_idx, const VAR* entries, const VAR* x,
                         VAR* y, size_t rows, size_t cols, size_t nnz) {
    clear<<<unsigned((rows + 255) / 256), 256>>>(y, rows);
    add_up<<<unsigned((nnz + 255) / 256), 256>>>(row_ptr, col_idx, entries, x, y, rows, nnz);
}
