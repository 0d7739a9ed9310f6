"""Triton: one program per tile of the output, the tile sizes chosen by autotuning.

How to read it: the kernel below is written for one tile. `tl.arange` gives the tile's row and
column numbers, a *mask* says which of them exist, and `tl.dot` multiplies two small blocks (on
tensor cores where the data type allows). Everything after the loop is the fused epilogue: the
product never goes to memory before it has been multiplied by C and sent through LeakyReLU.
"""

import triton
import triton.language as tl


def _config(rows, columns, depth, warps, stages):
    tile = {"ROWS": rows, "COLUMNS": columns, "DEPTH": depth}
    return triton.Config(tile, num_warps=warps, num_stages=stages)


# What is best depends on the data type and on the shape, so Triton times all candidates once per
# key and keeps the winner. Timing takes seconds, so the key is a class of sizes, not the sizes. Big tiles reuse each loaded element most; small ones keep all the
# multiprocessors busy when the output is small. `stages` is how many loads are in flight.
_CONFIGS = [
    _config(128, 128, 32, 8, 3),
    _config(128, 256, 64, 8, 3),
    _config(128, 128, 64, 4, 4),
    _config(128, 64, 32, 4, 4),
    _config(64, 64, 32, 4, 4),
]


_SMALL = 512


def _size_class(m, n, k):
    """Sizes between the same powers of two share a winner; small ones are all one class."""
    if max(m, n, k) <= _SMALL:
        return 0
    return (m.bit_length() << 16) + (n.bit_length() << 8) + k.bit_length()


def _fitting(configs, arguments, **_):
    """What is worth trying: for small sizes nothing but the small tile.

    Full float32 runs on ordinary cores, where deep tiles only fill up the registers.
    """
    if arguments["size_class"] == 0:
        return configs[-1:]
    if arguments["a_ptr"].element_size() < 4:
        return configs
    return [config for config in configs if config.kwargs["DEPTH"] <= 32]


@triton.autotune(_CONFIGS, key=["size_class"], prune_configs_by={"early_config_prune": _fitting})
@triton.jit(do_not_specialize=["m", "n", "k", "size_class"])
def gemm_multiply_leakyrelu(
    a_ptr,
    b_ptr,
    c_ptr,
    o_ptr,
    alpha,
    m,
    n,
    k,
    size_class,
    ALIGNED: tl.constexpr,
    PRECISION: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    DEPTH: tl.constexpr,
    GROUP: tl.constexpr = 8,
):
    # By default Triton compiles anew for every mix of sizes that do or do not divide by 16. Two
    # variants are enough: rows that start at multiples of 16 elements can be loaded in wide words.
    if ALIGNED:
        n = n // 16 * 16
        k = k // 16 * 16
    # Programs run roughly in order of their number. Walking down GROUP tiles before moving right
    # lets neighbours in time share rows of A and columns of B in the L2 cache.
    tiles_down = tl.cdiv(m, ROWS)
    tiles_across = tl.cdiv(n, COLUMNS)
    program = tl.program_id(0)
    group = program // (GROUP * tiles_across)
    first = group * GROUP
    height = min(tiles_down - first, GROUP)
    within = program % (GROUP * tiles_across)
    tile_row = first + within % height
    tile_column = within // height

    # 64-bit, because row * k can pass 2**31.
    rows = (tile_row * ROWS + tl.arange(0, ROWS)).to(tl.int64)
    columns = (tile_column * COLUMNS + tl.arange(0, COLUMNS)).to(tl.int64)
    depth = tl.arange(0, DEPTH).to(tl.int64)
    a_tile = a_ptr + rows[:, None] * k + depth[None, :]
    b_tile = b_ptr + depth[:, None] * n + columns[None, :]

    total = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    for start in range(0, k, DEPTH):
        left = k - start
        a = tl.load(a_tile, mask=(rows[:, None] < m) & (depth[None, :] < left), other=0.0)
        b = tl.load(b_tile, mask=(depth[:, None] < left) & (columns[None, :] < n), other=0.0)
        # For float32 the default would be TF32, which keeps ten digits of the fraction: too few.
        total = tl.dot(a, b, total, input_precision=PRECISION)
        a_tile += DEPTH
        b_tile += DEPTH * n

    inside = (rows[:, None] < m) & (columns[None, :] < n)
    where = rows[:, None] * n + columns[None, :]
    product = total * tl.load(c_ptr + where, mask=inside, other=0.0).to(tl.float32)
    result = tl.where(product >= 0, product, alpha * product)
    tl.store(o_ptr + where, result.to(o_ptr.dtype.element_ty), mask=inside)


def solution(matrix_a, matrix_b, matrix_c, alpha, output_matrix, m, n, k):
    def grid(meta):
        return (triton.cdiv(m, meta["ROWS"]) * triton.cdiv(n, meta["COLUMNS"]),)

    gemm_multiply_leakyrelu[grid](
        matrix_a,
        matrix_b,
        matrix_c,
        output_matrix,
        alpha,
        m,
        n,
        k,
        _size_class(m, n, k),
        ALIGNED=n % 16 == 0 and k % 16 == 0,
        PRECISION="ieee",
    )
