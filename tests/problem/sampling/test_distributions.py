"""The contents of tensors."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from support.corpus import rest_in_corpus
from support.drawing import draw_tensor
from support.error_model import cut
from support.live_memory import LiveMemory

from harness.problem.case import FAMILIES, Case
from harness.problem.dtypes import DTYPES, DtypeKind
from harness.problem.model import Distribution, Parameter
from harness.problem.sampling import distributions, pieces
from harness.problem.sampling.distributions import fill
from harness.problem.terms import Role
from harness.problem.tolerance import allowed_error, weights_of

FLOATS = ("float32", "float16", "bfloat16", "float64")
NORMAL = Parameter(name="x", type="[VAR]", role=Role.TENSOR, line=1)
NAN = replace(NORMAL, nonfinite=True)
UNIFORM = replace(NORMAL, values=Distribution(kind="uniform", a=2.0, b=5.0))


def filled(
    dtype: str,
    shape: tuple[int, ...] = (400, 50),
    family: str = "declared",
    parameter=NORMAL,
    seed: int = 1,
) -> torch.Tensor:
    out = torch.full(shape, 99, dtype=getattr(torch, dtype))
    fill(out, parameter, generator=torch.Generator().manual_seed(seed), family=family)
    return out


@pytest.mark.parametrize("dtype", FLOATS)
def test_declared_distributions(dtype: str) -> None:
    normal = filled(dtype).double()
    assert abs(float(normal.mean())) < 0.05
    assert abs(float(normal.std()) - 1) < 0.05
    uniform = filled(dtype, parameter=UNIFORM).double()
    assert 2 <= float(uniform.min()) < 2.1
    assert 4.9 < float(uniform.max()) <= 5


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("dtype", FLOATS)
def test_families_are_finite_and_not_trivial(dtype: str, family: str) -> None:
    out = filled(dtype, family=family)
    assert out.isfinite().all()
    assert out.ne(0).any()


def test_what_makes_a_family() -> None:
    declared = filled("float32")
    assert torch.equal(filled("float32", family="large"), declared * 2**20)
    assert torch.equal(filled("float32", family="tiny"), declared * 2**-20)
    zeros = filled("float32", family="zeros")
    zero = zeros == 0
    assert 0.8 < float(zero.double().mean()) < 0.95
    assert zeros[zero].signbit().any()
    assert not zeros[zero].signbit().all()
    assert set(filled("float16", family="integers").unique().tolist()) == set(range(-3, 4))
    assert filled("float32", family="constant").unique().numel() == 1
    assert float(filled("float32", family="mixed").abs().max()) > 100


def single_values(rows: torch.Tensor) -> list[float]:
    """The one value of each row."""
    assert all(row.unique().numel() == 1 for row in rows)
    return rows[:, 0].tolist()


@pytest.mark.parametrize("dtype", FLOATS)
def test_rows_and_constants_are_powers_of_two(dtype: str) -> None:
    powers = {sign * 2.0**e for sign in (1, -1) for e in range(-3, 1)}
    assert set(single_values(filled(dtype, family="rows"))) == powers
    assert len(set(single_values(filled(dtype, (3, 5), "constant")))) == 1
    several = filled(dtype, (3, 4, 5), "rows")
    assert len(set(single_values(several.view(12, 5)))) > 1
    found = {
        float(out.unique())
        for seed in range(40)
        for out in [torch.empty(7, dtype=getattr(torch, dtype))]
        if fill(out, NORMAL, generator=torch.Generator().manual_seed(seed), family="constant")
        is None
    }
    assert found == powers


@pytest.mark.parametrize("family", ["constant", "rows"])
def test_sums_of_what_is_alike_are_exact(family: str) -> None:
    a = filled("float32", (4, 1 << 17), family)
    b = filled("float32", (1 << 17, 3), family)
    total = torch.zeros(4, 3)
    for start in range(0, a.shape[1], 1 << 14):  # in order, in float32
        total += (a[:, start : start + (1 << 14)] @ b[start : start + (1 << 14)]).float()
    assert torch.equal(total.double(), a.double() @ b.double())


def test_uniform_is_positive_and_has_a_mean() -> None:
    out = filled("float32", family="uniform")
    assert float(out.min()) >= 0
    assert 0.45 < float(out.mean()) < 0.55
    declared = filled("float32", family="uniform", parameter=UNIFORM)
    assert float(declared.min()) >= 2
    assert float(declared.max()) <= 5
    both_signs = replace(NORMAL, values=Distribution(kind="uniform", a=-4.0, b=1.0))
    out = filled("float32", family="uniform", parameter=both_signs)
    assert 0 <= float(out.min()) < 0.1
    assert 3.9 < float(out.max()) <= 4


@pytest.mark.parametrize("shape", [(300,), (20, 30), (21, 31), (3, 5, 7), (1, 2), (2, 1), (1,)])
@pytest.mark.parametrize("dtype", [*FLOATS, "complex64"])
def test_cancellation(dtype: str, shape: tuple[int, ...]) -> None:
    out = filled(dtype, shape, "cancellation").to(torch.complex128)
    even, odd = out[..., 0::2], out[..., 1::2]
    pairs = odd.shape[-1]
    difference = (even[..., :pairs] + odd).abs()
    assert (difference <= even[..., :pairs].abs() * 2.0**-4).all()
    for dimension in range(out.dim() - 1):
        count = out.shape[dimension] // 2
        pairs_along = out.narrow(dimension, 0, 2 * count).unflatten(dimension, (count, 2))
        first, second = pairs_along.unbind(dimension + 1)
        assert torch.equal(first, second)
    if shape[-1] > 20:
        assert float(out.sum(-1).abs().mean()) < 0.05 * float(out.abs().sum(-1).mean())


def test_products_of_matrices_cancel() -> None:
    a, b = (filled("float32", shape, "cancellation").double() for shape in ((64, 300), (300, 64)))
    assert float((a @ b).abs().mean()) < 0.02 * float((a.abs() @ b.abs()).mean())
    declared = filled("float32", (64, 300)).double() @ filled("float32", (300, 64)).double()
    assert float((a @ b).abs().mean()) < 0.2 * float(declared.abs().mean())


@pytest.mark.parametrize("dtype", [*FLOATS, "complex64"])
@pytest.mark.parametrize("shape", [(1,), (5,), (4000,), (300, 300), (1, 1), (3, 40, 40)])
def test_nonfinite(dtype: str, shape: tuple[int, ...]) -> None:
    out = filled(dtype, shape, "nonfinite", NAN)
    strange = ~out.isfinite()
    count, longest = int(strange.sum()), max(shape)
    assert 1 <= count <= max(1, min(out.numel() // 32, longest // 8))
    if len(shape) == 2 and longest > 1:
        assert float(strange.any(0).double().mean()) < 0.2
        assert float(strange.any(1).double().mean()) < 0.2
    assert filled(dtype, shape, "nonfinite").isfinite().all(), "not declared"
    if out.is_complex():
        assert not out.isinf().any()


def test_of_values_for_one_place_the_last_counts() -> None:
    """Plain indexing leaves that open: on a GPU it is another one each time."""
    generator = torch.Generator().manual_seed(4)
    for shape in ((50,), (6, 9), (2, 3, 4)):
        where = tuple(torch.randint(0, size, (400,), generator=generator) for size in shape)
        values = torch.rand(400, generator=generator)
        out, right = torch.full(shape, math.nan), torch.full(shape, math.nan)
        distributions._put(out, where, values)
        for number in range(400):
            right[tuple(int(index[number]) for index in where)] = values[number]
        assert torch.equal(out.nan_to_num(nan=-1), right.nan_to_num(nan=-1))


@pytest.mark.gpu
def test_what_is_drawn_again_on_a_gpu_is_the_same() -> None:
    """Of 2^24 numbers up to 2^19 are NaN or infinite, at places some of which come twice."""
    out = torch.empty(2, 1 << 24, device="cuda")
    for family in FAMILIES:
        for seed in range(6):
            for copy in out:
                generator = torch.Generator("cuda").manual_seed(seed)
                fill(copy, NAN, generator=generator, family=family)
            assert torch.equal(*out.view(torch.int32)), (family, seed)


def test_nonfinite_has_every_kind_and_leaves_the_rest() -> None:
    drawn = [filled("float32", (4000,), "nonfinite", NAN, seed=seed) for seed in range(8)]
    assert all(out.isnan().any() for out in drawn)
    assert any(out.isposinf().any() for out in drawn)
    assert any(out.isneginf().any() for out in drawn)
    for seed, out in enumerate(drawn):
        rest = out.isfinite()
        assert torch.equal(out[rest], filled("float32", (4000,), seed=seed)[rest])


def test_a_look_at_four_elements_seldom_meets_what_is_not_finite() -> None:
    drawn = [filled("float32", (100_000,), "nonfinite", NAN, seed=seed) for seed in range(100)]
    counts = [int((~out.isfinite()).sum()) for out in drawn]
    assert min(counts) <= 4
    assert max(counts) >= 500
    met = sum(not bool(out[::25_000].isfinite().all()) for out in drawn)
    assert met <= 5


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_type_and_family_fills_gaps_in_nothing(dtype: str, family: str) -> None:
    """Strided views of odd shapes, for every type: all elements are written, and no others."""
    kind = getattr(torch, dtype)
    for shape in ((1,), (7,), (5, 6), (2, 3, 5)):
        memory = torch.full([2 * n for n in shape], 1, dtype=kind)
        view = memory[tuple(slice(0, n) for n in shape)]
        fill(view, NAN, generator=torch.Generator().manual_seed(3), family=family)
        dense = torch.empty(shape, dtype=kind)
        fill(dense, NAN, generator=torch.Generator().manual_seed(3), family=family)
        assert torch.equal(
            view.nan_to_num(7) if view.is_floating_point() else view.isnan(),
            dense.nan_to_num(7) if dense.is_floating_point() else dense.isnan(),
        )
        rest = torch.ones_like(memory, dtype=torch.bool)
        rest[tuple(slice(0, n) for n in shape)] = False
        assert (memory[rest] == 1).all()


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("dtype", ["int8", "int32", "uint8", "uint32", "int64", "bool"])
def test_whole_numbers_stay_within_their_bounds(dtype: str, family: str) -> None:
    for low, high in ((0, 9), (-3, 100), (4, 6), (-500, 500)):
        values = Distribution(kind="uniform", a=float(low), b=float(high))
        out = filled(dtype, (33, 21), family, replace(NORMAL, values=values)).long()
        limits = (
            (0, 1)
            if dtype == "bool"
            else (
                max(low, torch.iinfo(getattr(torch, dtype)).min),
                min(high, torch.iinfo(getattr(torch, dtype)).max),
            )
        )
        assert limits[0] <= int(out.min()) <= int(out.max()) <= limits[1]


def test_families_of_whole_numbers() -> None:
    def found(family: str) -> set[int]:
        return set(filled("int32", family=family).unique().tolist())

    assert found("large") == {-8, 8}
    assert found("tiny") == {-1, 0, 1}
    assert found("integers") == set(range(-3, 4))
    assert found("uniform") == set(range(9))
    assert 0.8 < float((filled("int32", family="zeros") == 0).double().mean()) < 0.95
    assert float(filled("int32", family="mixed").abs().double().mean()) < 3
    assert len(found("constant")) == 1
    assert len(set(single_values(filled("int32", family="rows")))) > 10
    assert int(filled("int32", family="cancellation").sum()) == 0


def test_one_value_throughout_however_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.problem.sampling.pieces.MAX_CHUNK", 1000)
    assert filled("float32", (30, 100), "constant").unique().numel() == 1
    assert len(single_values(filled("float32", (30, 3000), "rows"))) == 30


@pytest.mark.parametrize("family", FAMILIES)
def test_float16_has_room_for_every_family(gemm, family: str) -> None:
    for seed in ("0", "1"):
        case = Case(sizes={"m": 300, "n": 300, "k": 300}, family=family)
        a, b, c = (draw_tensor(gemm, p, case, "float16", seed).double() for p in gemm.tensors[:3])
        assert float((a @ b).abs().max()) < 65504 / 4
        assert float((a @ b * c).abs().max()) < 65504 / 4


def test_strided_views_are_filled_and_nothing_else() -> None:
    memory = torch.full((3, 20), 99.0)
    fill(memory[:, 4:14], NORMAL, generator=torch.Generator().manual_seed(1))
    assert memory[:, :4].eq(99).all()
    assert memory[:, 14:].eq(99).all()
    assert memory[:, 4:14].ne(99).all()
    assert not torch.equal(memory[0, 4:14], memory[1, 4:14])


def test_large_tensors_come_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.problem.sampling.pieces.MAX_CHUNK", 1000)
    out = filled("float32", (30, 100))
    assert out.ne(99).all()
    assert abs(float(out.std()) - 1) < 0.1


@pytest.mark.parametrize(
    "dtype",
    [name for name, t in DTYPES.items() if t.kind in (DtypeKind.INTEGER, DtypeKind.BOOLEAN)],
)
def test_whole_numbers(dtype: str) -> None:
    values = set(filled(dtype).long().unique().tolist())
    low = 0 if dtype == "bool" or dtype.startswith("uint") else -8
    assert values == set(range(low, 2 if dtype == "bool" else 9))
    if dtype != "bool":
        assert set(filled(dtype, parameter=UNIFORM).unique().tolist()) == {2, 3, 4, 5}


def test_complex_numbers() -> None:
    out = filled("complex64")
    assert abs(float(out.real.std()) - 1) < 0.05
    assert abs(float(out.imag.std()) - 1) < 0.05


def test_empty_and_unknown() -> None:
    assert filled("float32", (0, 3)).shape == (0, 3)
    with pytest.raises(ValueError, match="no family of values 'other'"):
        filled("float32", family="other")


def test_draws_depend_on_seed_case_and_name_alone(gemm) -> None:
    a, b, c, _ = gemm.tensors
    case = Case(sizes={"m": 4, "n": 4, "k": 4}, scalars={"alpha": 0.5})
    x = draw_tensor(gemm, a, case, "float32", "00")
    assert x.shape == (4, 4)
    torch.manual_seed(7)
    assert torch.equal(x, draw_tensor(gemm, a, case, "float32", "00"))
    assert torch.equal(x.half(), draw_tensor(gemm, a, case, "float16", "00"))
    others = [
        draw_tensor(gemm, b, case, "float32", "00"),
        draw_tensor(gemm, c, case, "float32", "00"),
        draw_tensor(gemm, a, case, "float32", "01"),
        draw_tensor(gemm, a, replace(case, scalars={"alpha": 0.25}), "float32", "00"),
    ]
    assert not any(torch.equal(x, other) for other in others)


def test_draws_are_the_same_everywhere(gemm) -> None:
    """Recorded: a change would make recorded seeds replay something else."""
    case = Case(sizes={"m": 1, "n": 1, "k": 3}, scalars={"alpha": 0.5})
    drawn = draw_tensor(gemm, gemm.tensors[0], case, "bfloat16", "5eed")
    assert drawn.tolist() == RECORDED


RECORDED: list[list[float]] = [[0.388671875, 0.796875, -1.859375]]


@pytest.mark.parametrize("dtype", [*FLOATS, "complex64"])
def test_offset_moves_each_row_by_much_more_than_it_spreads(dtype: str) -> None:
    far = replace(NORMAL, values=Distribution(a=100.0, b=1.0))
    out = filled(dtype, (300, 50), "offset", far)
    parts = torch.view_as_real(out).movedim(-1, 0) if out.is_complex() else out[None]
    for part in parts.double():
        moved = part.mean(1) - 100
        reach = 101 if dtype == "float16" else 404
        assert (moved.abs() > reach / 2 - 2).all()
        assert (moved.abs() < reach + 2).all()
        assert 0.4 < float((moved > 0).double().mean()) < 0.6
        if dtype != "bfloat16":  # whose numbers are four apart here
            assert 0.8 < float(part.std(1).mean()) < 1.2


@pytest.mark.parametrize("length", [1 << 10, 1 << 20])
def test_offsets_of_long_rows_leave_room_for_sums_in_float32(length: int) -> None:
    """A sum of a whole row has units in the last place no larger than the spread of the terms."""
    out = filled("float32", (2, length), "offset")
    total = out.double().sum(1).abs()
    assert (total * 2.0**-23 < 1).all()
    moved = out.double().mean(1).abs()
    assert (moved > 100 * 4 * math.sqrt(length) * 2.0**-24 * moved).all(), "more than is allowed"


def test_offset_of_uniform_numbers_and_of_single_ones() -> None:
    uniform = replace(NORMAL, values=Distribution(kind="uniform", a=-10000.0, b=10000.0))
    assert float(filled("float16", (50, 400), "offset", uniform).abs().max()) <= 20000
    assert filled("float32", (), "offset").abs().item() < 10
    same = replace(NORMAL, values=Distribution(kind="uniform", a=3.0, b=3.0))
    assert set(filled("float32", (5, 6), "offset", same).unique().tolist()) == {3.0}


def test_offset_of_whole_numbers() -> None:
    wide = replace(NORMAL, values=Distribution(kind="uniform", a=-320.0, b=320.0))
    rows = filled("int32", (200, 50), "offset", wide).double()
    assert float((rows.amax(1) - rows.amin(1)).max()) <= 80
    assert float(rows.mean(1).std()) > 100


@pytest.mark.parametrize("dtype", rest_in_corpus([*FLOATS, "complex64", "int32"], always=2))
def test_sparse_keeps_few_pairs_and_they_cancel(dtype: str) -> None:
    out = filled(dtype, (400, 1 << 14), "sparse").to(torch.complex128)
    kept = (out != 0).sum(1)
    few = kept < 60  # 8 or 362 on average
    assert 0.3 < float(few.double().mean()) < 0.7
    assert 4 < float(kept[few].double().mean()) < 16
    assert 300 < float(kept[~few].double().mean()) < 400
    assert torch.equal(out[0::2] != 0, out[1::2] != 0), "rows go in pairs"
    even, odd = out[:, 0::2], out[:, 1::2]
    assert ((even + odd).abs() <= even.abs() * 2.0**-4).all()
    if dtype in ("float32", "float64"):
        both = even != 0
        assert ((even + odd)[both] != 0).all(), "opposites would be rounded alike"
        assert 0.4 < float((even[both].real > 0).double().mean()) < 0.6


@pytest.mark.parametrize("k", [4096, 1 << 17])
def test_sparse_shows_what_two_bfloat16_numbers_lose(gemm, k: int) -> None:
    """Terms with full mantissas, few in each sum, that cancel: declared ones hide it."""
    shapes = (32, k), (k, 32)
    for family, shows in (("sparse", True), ("declared", False)):
        a, b = (filled("float32", s, family, seed=n).double() for n, s in enumerate(shapes))
        cut_a, cut_b = (cut(x, 16) for x in (a, b))
        case = Case(sizes={"m": 32, "n": 32, "k": k}, scalars={"alpha": 1.0}, family=family)
        expected, magnitude = a @ b, a.abs() @ b.abs()
        weights = weights_of(gemm, case, gemm.outputs[0], "float32")
        allowed = allowed_error(weights, expected, magnitude)
        wrong = (cut_a @ cut_b - expected).abs() > allowed
        assert bool(wrong.any()) is shows
        single = (a.float() @ b.float()).double()
        assert ((single - expected).abs() <= allowed / 2).all(), "honest"


class TestOnADevice:
    """What is drawn on a device, piece by piece; here as if the CPU were one."""

    @pytest.fixture(autouse=True)
    def pieces(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(pieces, "on_host", lambda _: False)
        monkeypatch.setattr(pieces, "MAX_DEVICE_CHUNK", 1000)

    @pytest.mark.parametrize(
        "shape",
        rest_in_corpus(
            [((60_001,),), ((301, 200),), ((3, 101, 199),), ((20_000, 3),), ((3, 20_001),)],
            always=2,
        ),
    )
    @pytest.mark.parametrize("family", FAMILIES)
    @pytest.mark.parametrize("dtype", ["float32", "int32", "uint8", "complex64"])
    def test_memory_is_that_of_a_piece(self, dtype: str, family: str, shape: tuple[int]) -> None:
        out = torch.empty(shape, dtype=getattr(torch, dtype))
        with LiveMemory() as memory:
            fill(out, NAN, generator=torch.Generator().manual_seed(3), family=family)
        # Four int64 of each element: what _MAX_DEVICE_CHUNK says.
        assert memory.peak <= 1000 * 4 * 8

    @pytest.mark.parametrize("shape", [(3001,), (30, 101), (31, 100), (3, 51, 40), (1001, 3)])
    @pytest.mark.parametrize("family", FAMILIES)
    def test_all_elements_are_written_once(self, family: str, shape: tuple[int]) -> None:
        for dtype in ("float32", "complex64"):
            one, other = (torch.full(shape, at, dtype=getattr(torch, dtype)) for at in (99.0, 77.0))
            for out in (one, other):
                fill(out, NAN, generator=torch.Generator().manual_seed(3), family=family)
            assert torch.equal(one.nan_to_num(5.0), other.nan_to_num(5.0))
            assert one.ne(99).all()

    @pytest.mark.parametrize(
        "shape", [(3001,), (3000,), (30, 101), (31, 100), (3, 51, 40), (1001, 3)]
    )
    def test_opposites_stay_together(self, shape: tuple[int]) -> None:
        test_cancellation("float32", shape)
        test_cancellation("complex64", shape)

    @pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
    def test_numbers_with_an_offset_are_rounded_once(self, dtype: str) -> None:
        """Else a row's numbers lie at a few places between two units of its sum, all rounded so."""
        length = 200_000
        low = replace(NORMAL, values=Distribution(a=-2.0, b=1.0))
        drawn = filled(dtype, (6, length), "offset", low)
        in_order = np.add.accumulate(drawn.float().numpy(), axis=1)[:, -1]
        error = torch.from_numpy(in_order).double() - drawn.double().sum(1)
        sizes = drawn.double().abs().sum(1)
        assert (error.abs() <= math.sqrt(length) * 2.0**-24 * sizes).all()

    def test_rows_have_one_value_each(self) -> None:
        for shape in ((3000, 7), (7, 3000), (3, 1500, 2)):
            out = filled("float32", shape, "rows")
            assert torch.equal(out, out[..., :1].expand(shape))
            assert len(out[..., 0].unique()) > 3

    def test_families_are_what_they_are_on_the_cpu(self) -> None:
        large = filled("float32", (100, 100), "large")
        assert 2.0**19 < float(large.std()) < 2.0**21
        assert 0.8 < float((filled("float32", (100, 100), "zeros") == 0).double().mean()) < 0.95
        test_nonfinite("float32", (4000,))
        test_nonfinite("float32", (300, 300))
