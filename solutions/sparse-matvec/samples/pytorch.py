"""PyTorch: all products first, then the sum of each row's, which go through memory between."""

import torch


def solution(row_ptr, col_idx, entries, x, y, rows, cols, nnz):
    products = entries * x[col_idx]
    row = torch.arange(rows, dtype=torch.int64, device=y.device)
    # output_size spares the device from being asked how many there are.
    row = torch.repeat_interleave(row, row_ptr[1:] - row_ptr[:-1], output_size=nnz)
    y.zero_()
    y.index_add_(0, row, products)
