"""Row by row, by torch's sparse product."""

import torch


def solution(row_ptr, col, val, x, y, rows, cols, nnz):
    matrix = torch.sparse_csr_tensor(row_ptr.long(), col.long(), val, (rows, cols))
    y.copy_(matrix @ x)
