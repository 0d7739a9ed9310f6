"""A tiled product in cuTile: beyond the edges tiles are padded with zeros, which add nothing."""

# dtypes: float16, bfloat16

import cuda.tile as ct
import torch

ROWS, COLUMNS, DEPTH = 128, 128, 64


@ct.kernel
def layer(a, b, bias, out):
    row, column = ct.bid(0), ct.bid(1)
    sums = ct.full((ROWS, COLUMNS), 0, dtype=ct.float32)
    for step in range(ct.num_tiles(a, axis=1, shape=(ROWS, DEPTH))):
        tile_a = ct.load(a, (row, step), (ROWS, DEPTH), padding_mode=ct.PaddingMode.ZERO)
        tile_b = ct.load(b, (step, column), (DEPTH, COLUMNS), padding_mode=ct.PaddingMode.ZERO)
        sums = ct.mma(tile_a, tile_b, sums)
    shift = ct.load(bias, (column,), (COLUMNS,), padding_mode=ct.PaddingMode.ZERO)
    result = ct.maximum(sums + ct.reshape(ct.astype(shift, ct.float32), (1, COLUMNS)), 0.0)
    ct.store(out, (row, column), ct.astype(result, out.dtype))


def solution(matrix_a, matrix_b, bias, output_matrix, m, n, k):
    grid = (ct.cdiv(m, ROWS), ct.cdiv(n, COLUMNS), 1)
    stream = torch.cuda.current_stream()
    ct.launch(stream, grid, layer, (matrix_a, matrix_b, bias, output_matrix))
