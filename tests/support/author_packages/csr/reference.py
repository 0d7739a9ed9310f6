"""A sparse matrix times a vector."""

import torch


def draw(generator, family, rows, cols, nnz):
    """Rows of random lengths, some of them empty; columns in order within each."""
    cuts = torch.randint(0, nnz + 1, (rows - 1,), generator=generator).sort().values
    row_ptr = torch.cat([torch.tensor([0]), cuts, torch.tensor([nnz])])
    col = torch.randint(0, cols, (nnz,), generator=generator)
    row = torch.repeat_interleave(torch.arange(rows), row_ptr.diff())
    return {"row_ptr": row_ptr, "col": col[(row * cols + col).argsort()]}


def _sums(row_ptr, terms, rows):
    row = torch.repeat_interleave(torch.arange(rows, device=terms.device), row_ptr.diff())
    return torch.zeros(rows, dtype=terms.dtype, device=terms.device).index_add_(0, row, terms)


def reference(row_ptr, col, val, x, rows, cols, nnz):
    return _sums(row_ptr, val * x[col], rows)


def magnitude(row_ptr, col, val, x, rows, cols, nnz):
    return _sums(row_ptr, (val * x[col]).abs(), rows)
