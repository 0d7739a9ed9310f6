// A thread per entry, which looks for its row and adds to it with atomics; zeroed before.
// verdict: accepted

__global__ void clear(VAR* y, size_t rows) {
    const size_t row = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (row < rows) y[row] = 0;
}

__global__ void add_up(const int* row_ptr, const int* col_idx, const VAR* entries, const VAR* x,
                       VAR* y, size_t rows, size_t nnz) {
    const size_t p = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (p >= nnz) return;
    // The last row that begins at p or before: not one of the empty rows that begin there, too.
    size_t row = 0, after = rows;
    while (after - row > 1) {
        const size_t middle = (row + after) / 2;
        if (size_t(row_ptr[middle]) <= p) {
            row = middle;
        } else {
            after = middle;
        }
    }
    atomicAdd(&y[row], entries[p] * x[col_idx[p]]);
}

extern "C" void solution(const int* row_ptr, const int* col_idx, const VAR* entries, const VAR* x,
                         VAR* y, size_t rows, size_t cols, size_t nnz) {
    clear<<<unsigned((rows + 255) / 256), 256>>>(y, rows);
    add_up<<<unsigned((nnz + 255) / 256), 256>>>(row_ptr, col_idx, entries, x, y, rows, nnz);
}
