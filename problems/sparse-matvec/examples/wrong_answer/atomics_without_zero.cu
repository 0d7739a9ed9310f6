// Adds to an output that nobody has set to zero.
// verdict: wrong_answer

__global__ void multiply(const int* row_ptr, const int* col_idx, const VAR* entries, const VAR* x,
                         VAR* y) {
    for (int p = row_ptr[blockIdx.x] + threadIdx.x; p < row_ptr[blockIdx.x + 1]; p += 32) {
        atomicAdd(&y[blockIdx.x], entries[p] * x[col_idx[p]]);
    }
}

extern "C" void solution(const int* row_ptr, const int* col_idx, const VAR* entries, const VAR* x,
                         VAR* y, size_t rows, size_t cols, size_t nnz) {
    multiply<<<unsigned(rows), 32>>>(row_ptr, col_idx, entries, x, y);
}
