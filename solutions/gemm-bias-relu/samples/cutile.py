"""A tiled product in cuTile: beyond the edges tiles are padded with zeros, which add nothing.

The result is scattered, for `scatter` checks each index. `ct.store` of a tile that reaches beyond
the last column wrote into the next row (cuda-tile 1.7, tileiras 13.4, sm_90).
"""

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
    rows = ct.reshape(row * ROWS + ct.arange(ROWS, dtype=ct.int32), (ROWS, 1))
    columns = ct.reshape(column * COLUMNS + ct.arange(COLUMNS, dtype=ct.int32), (1, COLUMNS))
    ct.scatter(out, (rows, columns), ct.astype(result, out.dtype))


def solution(matrix_a, matrix_b, bias, output_matrix, m, n, k):
    grid = (ct.cdiv(m, ROWS), ct.cdiv(n, COLUMNS), 1)
    stream = torch.cuda.current_stream()
    ct.launch(stream, grid, layer, (matrix_a, matrix_b, bias, output_matrix))
