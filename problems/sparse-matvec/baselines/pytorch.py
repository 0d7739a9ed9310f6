"""PyTorch's own product with a matrix in CSR: the vendor's library on a GPU."""

import torch


def solution(row_ptr, col_idx, entries, x, y, rows, cols, nnz):
    matrix = torch.sparse_csr_tensor(
        row_ptr, col_idx, entries, size=(rows, cols), check_invariants=False
    )
    y.copy_(torch.mv(matrix, x))
