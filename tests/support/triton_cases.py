"""What the patched interpreter must do, run as one child process by test_triton_cpu.py.

A child, because setting up the interpreter changes torch and Triton for good; one, because
importing both takes seconds. Prints {case: "" or what went wrong} as JSON on its last line.
"""

# ruff: noqa: N803 - Triton's compile-time constants are written in capitals

import contextlib
import ctypes
import importlib
import json
import os
import sys
import traceback

import torch

from harness.runner.triton import cpu as triton_cpu
from harness.runner.triton import lacking
from harness.runner.triton.fake_cuda import NotEmulated
from harness.runner.triton.memory import OutOfBounds

triton_cpu.enable()

import triton  # noqa: E402
import triton.language as tl  # noqa: E402
import triton.language.math as tlm  # noqa: E402
from triton.language import associative_scan, program_id, static_range  # noqa: E402
from triton.language import load as ld  # noqa: E402
from triton.language import multiple_of as whole_lines  # noqa: E402
from triton.language import reduce as folded  # noqa: E402
from triton.language import sum as total  # noqa: E402
from triton.language.extra import libdevice  # noqa: E402
from triton.language.extra.cuda import libdevice as cuda_libdevice  # noqa: E402
from triton.language.math import rsqrt  # noqa: E402

from harness.runner.program import ProgramFailed  # noqa: E402
from harness.runner.python import reported  # noqa: E402
from harness.runner.triton.lacking import lack  # noqa: E402
from harness.wire.messages import FaultCode  # noqa: E402

BF16 = torch.bfloat16


def same(got: torch.Tensor, want: torch.Tensor) -> None:
    """Equal to the bit, but for which NaN it is."""
    assert got.dtype == want.dtype
    equal = (got == want) | (got.isnan() & want.isnan())
    assert equal.all(), f"{int((~equal).sum())} differ: {got[~equal][:5]} {want[~equal][:5]}"


def every_bfloat16() -> torch.Tensor:
    return torch.arange(65536, dtype=torch.int32).to(torch.int16).view(BF16)


def floats(count: int) -> torch.Tensor:
    """Float32 of all magnitudes, with the ties and specials that rounding can get wrong."""
    bits = torch.randint(-(2**31), 2**31, (count,), dtype=torch.int64).to(torch.int32)
    ties = (bits & ~0xFFFF) | 0x8000
    return torch.cat([bits, ties, ties + 1, ties - 1]).view(torch.float32)


@triton.jit
def copy(x_ptr, y_ptr, count, BLOCK: tl.constexpr, CAST: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < count)
    if CAST:
        x = x.to(y_ptr.dtype.element_ty)
    tl.store(y_ptr + at, x, mask=at < count)


@triton.jit
def copy_unmasked(x_ptr, y_ptr, offset, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + at, tl.load(x_ptr + at + offset))


@triton.jit
def arithmetic(x_ptr, y_ptr, out_ptr, count, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    y = tl.load(y_ptr + at)
    tl.store(out_ptr + at, x + y)
    tl.store(out_ptr + count + at, x - y)
    tl.store(out_ptr + 2 * count + at, x * y)
    tl.store(out_ptr + 3 * count + at, (x / y).to(tl.bfloat16))
    tl.store(out_ptr + 4 * count + at, -x)
    tl.store(out_ptr + 5 * count + at, tl.abs(x))
    tl.store(out_ptr + 6 * count + at, tl.where(x > y, x, y * 0.1))
    tl.store(out_ptr + 7 * count + at, tl.full((BLOCK,), 0.1, tl.bfloat16) + x)


@triton.jit
def multiply(a_ptr, b_ptr, o_ptr, SIZE: tl.constexpr, PRECISION: tl.constexpr):
    i = tl.arange(0, SIZE)
    where = i[:, None] * SIZE + i[None, :]
    product = tl.dot(tl.load(a_ptr + where), tl.load(b_ptr + where), input_precision=PRECISION)
    tl.store(o_ptr + where, product)


@triton.jit
def reduce(x_ptr, o_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.store(o_ptr, tl.sum(x, 0).to(tl.float32))
    tl.store(o_ptr + 1, tl.max(x, 0).to(tl.float32))
    tl.store(o_ptr + 2, (x > 0).to(tl.float32).sum(0))


@triton.jit
def reinterpret(x_ptr, o_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    bits = tl.load(x_ptr + at).to(tl.int16, bitcast=True)
    tl.store(o_ptr + at, (bits ^ 1).to(tl.bfloat16, bitcast=True))


@triton.jit
def add_atomically(x_ptr, o_ptr, offset, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.atomic_add(o_ptr + offset + tl.arange(0, BLOCK) * 0, x)


@triton.jit
def assembly(x_ptr):
    x = tl.load(x_ptr)
    tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [x], tl.float32, True, 1)


@triton.jit
def library(x_ptr):
    tl.store(x_ptr, libdevice.rsqrt_rn(libdevice.byte_perm(tl.load(x_ptr).to(tl.int32), 1, 2)))


@triton.jit
def library_functions(x_ptr, o_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    tl.store(o_ptr + at, libdevice.tanh(x))
    tl.store(o_ptr + BLOCK + at, cuda_libdevice.fast_expf(x))
    tl.store(o_ptr + 2 * BLOCK + at, tl.extra.cuda.libdevice.pow(x, 2.0))
    tl.store(o_ptr + 3 * BLOCK + at, libdevice.isnan(x).to(tl.float32))
    tl.store(o_ptr + 4 * BLOCK + at, libdevice.float2int_rn(x * 1.5).to(tl.float32))
    tl.store(o_ptr + 5 * BLOCK + at, libdevice.erf(x))


@triton.jit
def add(a, b):
    return a + b


@triton.jit
def helper(x_ptr, at):
    x = ld(whole_lines(x_ptr + at, [1]))
    return rsqrt(x) + tlm.exp(-x)


@triton.jit
def by_other_names(x_ptr, o_ptr, BLOCK: tl.constexpr):
    at = program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = helper(x_ptr, at)
    for _ in static_range(2):
        value = value + 1.0
    tl.store(o_ptr + at, value + total(value * 0.0, 0))
    tl.store(o_ptr + BLOCK, folded(value, 0, add))
    tl.store(o_ptr + BLOCK + 1 + at, associative_scan(value, 0, add))


def make_nested(scale):
    from triton.language import arange, store
    from triton.language import load as read

    @triton.jit
    def nested(x_ptr, o_ptr, BLOCK: tl.constexpr):
        at = arange(0, BLOCK)
        store(o_ptr + at, read(x_ptr + at) * scale)

    return nested


@triton.autotune([triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 8})], key=["count"])
@triton.heuristics({"TWICE": lambda args: args["count"] * 2})
@triton.jit
def tuned(o_ptr, count, TWICE: tl.constexpr, BLOCK: tl.constexpr):
    tl.store(o_ptr, BLOCK)
    tl.store(o_ptr + 1, TWICE)


@triton.jit
def from_table(table_ptr, o_ptr):
    pointer = tl.load(table_ptr).to(tl.pointer_type(tl.float32))
    tl.store(o_ptr, tl.load(pointer))


@triton.jit
def tensor_descriptor(x_ptr, o_ptr, rows, columns, BLOCK: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [rows, columns], [columns, 1], [BLOCK, BLOCK])
    o = tl.make_tensor_descriptor(o_ptr, [rows, columns], [columns, 1], [BLOCK, BLOCK])
    for i in range(0, rows, BLOCK):
        for j in range(0, columns, BLOCK):
            o.store([i, j], x.load([i, j]))


def case_bfloat16_survives_load_and_store():
    x = every_bfloat16()
    y = torch.zeros_like(x)
    copy[(64,)](x, y, x.numel(), BLOCK=1024, CAST=False)
    assert torch.equal(x.view(torch.int16), y.view(torch.int16))


def case_bfloat16_widens_exactly():
    for wide in (torch.float32, torch.float64):
        y = torch.zeros(65536, dtype=wide)
        copy[(64,)](every_bfloat16(), y, 65536, BLOCK=1024, CAST=True)
        same(y, every_bfloat16().to(wide))


def case_float32_rounds_to_nearest_even_bfloat16():
    x = floats(1 << 16)
    y = torch.zeros(x.numel(), dtype=BF16)
    copy[(256,)](x, y, x.numel(), BLOCK=1024, CAST=True)
    same(y, x.to(BF16))


def case_float16_and_integers_round_to_bfloat16():
    for x in (torch.randn(4096).half(), torch.arange(-2048, 2048, dtype=torch.int32)):
        y = torch.zeros(4096, dtype=BF16)
        copy[(4,)](x, y, 4096, BLOCK=1024, CAST=True)
        same(y, x.to(BF16))


def case_bfloat16_arithmetic_rounds_once():
    n = 8192
    x, y = (every_bfloat16()[torch.randint(0, 65536, (n,))] for _ in range(2))
    x[: n // 2], y[: n // 2] = torch.randn(n // 2).to(BF16), torch.randn(n // 2).to(BF16)
    out = torch.zeros(8, n, dtype=BF16)
    arithmetic[(1,)](x, y, out, n, BLOCK=n)
    wide_x, wide_y = x.double(), y.double()
    tenth = torch.tensor(0.1).to(BF16)
    scaled = (wide_y * tenth.double()).float().to(BF16)
    wanted = [
        (x.float() + y.float()).to(BF16),
        (x.float() - y.float()).to(BF16),
        (wide_x * wide_y).float().to(BF16),
        (x.float() / y.float()).to(BF16),
        -x,
        x.abs(),
        torch.where(x > y, x, scaled),
        (tenth.float() + x.float()).to(BF16),
    ]
    for got, want in zip(out, wanted, strict=True):
        same(got, want)


def case_bfloat16_dot_accumulates_in_float32():
    a, b = torch.randn(64, 64).to(BF16), torch.randn(64, 64).to(BF16)
    o = torch.zeros(64, 64)
    multiply[(1,)](a, b, o, SIZE=64, PRECISION="ieee")
    exact = a.double() @ b.double()
    bound = a.double().abs() @ b.double().abs() * 64 * 2**-24
    assert ((o.double() - exact).abs() <= bound).all()


def case_bfloat16_reductions_and_comparisons():
    x = torch.randn(1024).to(BF16)
    o = torch.zeros(3)
    reduce[(1,)](x, o, BLOCK=1024)
    assert o[0].item() == nearest_bfloat16(x.double().sum().item())
    assert o[1].item() == x.max().item()
    assert o[2].item() == (x > 0).sum().item()


def nearest_bfloat16(value: float) -> float:
    """The one bfloat16 that a well-rounded sum must be."""
    return torch.tensor(value).to(BF16).item()


def case_bfloat16_bits():
    x = every_bfloat16()[:32768]
    y = torch.zeros_like(x)
    reinterpret[(1,)](x, y, BLOCK=32768)
    assert torch.equal(y.view(torch.int16), x.view(torch.int16) ^ 1)


def case_bfloat16_atomics_are_refused():
    x = torch.ones(8, dtype=BF16)
    complains((NotEmulated, ValueError), "bf", lambda: add_atomically[(1,)](x, x, 0, BLOCK=8))


def case_dot_is_tf32_unless_told_otherwise():
    a = torch.full((16, 16), 1 + 2**-12)
    b = torch.eye(16)
    o = torch.zeros(16, 16)
    multiply[(1,)](a, b, o, SIZE=16, PRECISION="tf32")
    assert (o == 1.0).all()
    multiply[(1,)](a, b, o, SIZE=16, PRECISION="ieee")
    assert (o == 1 + 2**-12).all()


def complains(kind, words, action):
    try:
        action()
    except kind as error:
        assert words in str(error), str(error)
    else:
        raise AssertionError(f"no {kind}")


def case_load_past_the_end():
    x, y = torch.zeros(100), torch.zeros(128)
    complains(
        OutOfBounds,
        "kernel copy_unmasked, program (1, 0, 0): load outside of its tensors in 28 of 64 lanes, "
        "first in lane 36: 1 element past the end of x_ptr (100 elements)",
        lambda: copy_unmasked[(2,)](x, y, 0, BLOCK=64),
    )


def case_load_before_the_start():
    x, y = torch.zeros(64), torch.zeros(64)
    complains(
        OutOfBounds, "3 elements before the start of x_ptr",
        lambda: copy_unmasked[(1,)](x, y, -3, BLOCK=64),
    )  # fmt: skip


def case_store_past_the_end():
    x, y = torch.zeros(64), torch.zeros(63)
    complains(OutOfBounds, "store outside", lambda: copy_unmasked[(1,)](x, y, 0, BLOCK=64))


def case_atomic_past_the_end():
    x = torch.zeros(8)
    complains(OutOfBounds, "atomic outside", lambda: add_atomically[(1,)](x, x, 8, BLOCK=8))
    add_atomically[(1,)](torch.ones(8), x, 7, BLOCK=8)
    assert x[7] == 8


def case_masked_lanes_may_point_anywhere():
    x, y = torch.arange(100.0), torch.zeros(100)
    copy[(1,)](x, y, 100, BLOCK=1024, CAST=False)
    assert torch.equal(x, y)


def case_neighbouring_tensor_is_outside_too():
    """What a pointer was made from decides, not whether the address happens to be somebody's."""
    arena = torch.zeros(256)
    x, y = arena[:64], arena[64:128]
    triton_cpu.watch([x, y])
    try:
        complains(OutOfBounds, "x_ptr", lambda: copy_unmasked[(1,)](x, y, 1, BLOCK=64))
        copy_unmasked[(1,)](x, y, 0, BLOCK=64)
    finally:
        triton_cpu.watch([])


def case_what_lies_between_rows_is_outside():
    """The gaps of a tensor with strides that was handed out; each view of it has the same."""
    arena = torch.arange(40.0)
    x = arena.as_strided((3, 4), (10, 1), 2)
    o = torch.zeros(4)
    triton_cpu.watch([x])
    try:
        for row in range(3):
            copy_unmasked[(1,)](x, o, 10 * row, BLOCK=4)
            same(o, x[row])
        for offset in (1, 4, 9, 14):
            complains(
                OutOfBounds,
                "between the rows of x_ptr",
                lambda at=offset: copy_unmasked[(1,)](x, o, at, BLOCK=4),
            )
        complains(OutOfBounds, "past the end", lambda: copy_unmasked[(1,)](x, o, 21, BLOCK=4))
        complains(OutOfBounds, "before the start", lambda: copy_unmasked[(1,)](x, o, -1, BLOCK=4))
        copy[(1,)](x, o, 4, BLOCK=16, CAST=False)
        pairs = torch.view_as_real(torch.zeros(12, dtype=torch.complex64)[::3])
        triton_cpu.watch([pairs])
        copy_unmasked[(1,)](pairs, o, 6, BLOCK=2)
        complains(
            OutOfBounds, "between the rows", lambda: copy_unmasked[(1,)](pairs, o, 7, BLOCK=2)
        )
    finally:
        triton_cpu.watch([])


def case_views_reach_their_whole_storage():
    x = torch.arange(64.0)
    y = torch.zeros(32)
    copy_unmasked[(1,)](x[32:], y, -32, BLOCK=32)
    assert torch.equal(y, x[:32])


def case_table_of_pointers_to_arguments():
    x, o = torch.tensor([5.0]), torch.zeros(1)
    triton_cpu.watch([x, o])
    from_table[(1,)](torch.tensor([x.data_ptr()]), o)
    triton_cpu.watch([])
    assert o.item() == 5
    complains(OutOfBounds, "load", lambda: from_table[(1,)](torch.tensor([x.data_ptr() + 64]), o))


def case_tensor_descriptors():
    for dtype in (torch.float32, BF16):
        x = torch.randn(40, 24).to(dtype)
        o = torch.zeros_like(x)
        tensor_descriptor[(1,)](x, o, 40, 24, BLOCK=16)
        assert torch.equal(x, o)


def case_assembly_is_unsupported():
    complains(NotEmulated, "inline assembly", lambda: assembly[(1,)](torch.zeros(1)))


def case_what_libdevice_has_beyond_ours_is_unsupported():
    complains(NotEmulated, "byte_perm", lambda: library[(1,)](torch.zeros(1)))


def case_functions_of_libdevice():
    x = torch.tensor([-1.0, 0.0, 0.5, 3.0])
    o = torch.zeros(6, 4)
    library_functions[(1,)](x, o, BLOCK=4)
    wanted = [x.tanh(), x.exp(), x**2, x * 0, (x * 1.5).round(), x.erf()]
    for got, want in zip(o, wanted, strict=True):
        assert torch.allclose(got, want, rtol=1e-6), (got, want)


def case_builtins_are_known_under_any_name():
    x = torch.rand(8) + 0.5
    o = torch.zeros(17)
    by_other_names[(1,)](x, o, BLOCK=8)
    value = x.rsqrt() + (-x).exp() + 2
    assert torch.allclose(o[:8], value)
    assert torch.allclose(o[8], value.sum())
    assert torch.allclose(o[9:], value.cumsum(0))


def case_a_kernel_holds_what_the_function_around_it_has():
    x, o = torch.rand(8), torch.zeros(8)
    make_nested(3.0)[(1,)](x, o, BLOCK=8)
    same(o, x * 3)


def case_the_submission_gets_no_names_of_the_interpreter():
    before = set(globals())
    o = torch.zeros(17)
    by_other_names[(1,)](torch.ones(8), o, BLOCK=8)
    assert set(globals()) - before <= {"interpreter_semantic"}


def case_a_warm_up_gives_figures():
    o = torch.zeros(2)
    warm = tuned.fn.fn.warmup(o, 21, TWICE=42, BLOCK=8, grid=(1,))
    warm._init_handles()
    assert warm.n_regs > 0
    assert warm.metadata.shared > 0
    assert o.tolist() == [0, 0]
    warm[(1,)](o, 21, 42, 8)
    assert o.tolist() == [8, 42]
    complains(NotEmulated, "asm", lambda: warm.asm["ptx"])


def case_products_into_a_wider_type():
    for half in (torch.float16, BF16):
        a, b, c = (torch.randn(5, 5).to(half) for _ in range(3))
        wide = a.float() @ b.float()
        same(torch.mm(a, b, out_dtype=torch.float32), wide)
        same(torch.mm(a, b, torch.float32), wide)
        same(torch.mm(a, b), a @ b)
        same(torch.bmm(a[None], b[None], out_dtype=torch.float32)[0], wide)
        added = torch.addmm(c.float(), a, b, out_dtype=torch.float32, beta=0.5)
        assert torch.allclose(added, wide + 0.5 * c.float())
        added = torch.baddbmm(c[None], a[None], b[None], out_dtype=torch.float32, alpha=2)
        assert torch.allclose(added[0], 2 * wide + c.float())
        o = torch.zeros(5, 5)
        torch.mm(a, b, out_dtype=torch.float32, out=o)
        same(o, wide)


def case_devices_by_number_and_torch_dynamo():
    assert torch.empty(3, device=0).to(0).is_cuda
    import torch._dynamo as dynamo

    assert dynamo.config is not None
    with torch.cuda.stream(torch.cuda.current_stream()):
        torch.ones(2).record_stream(torch.cuda.default_stream())


@triton.jit
def scaled_dot():
    ones = tl.full((32, 32), 1, tl.uint8)
    tl.dot_scaled(ones, ones, "e4m3", ones, ones, "e4m3")


@triton.jit
def odd_type(x_ptr):
    tl.store(x_ptr, tl.load(x_ptr).to(tl.float8e4b8).to(tl.float32))


@triton.jit
def branches(a):
    if a > 3:
        return a
    else:  # noqa: RET505 - the compiler wants it
        return -a


@triton.jit
def mapped(x_ptr):
    at = tl.arange(0, 8)
    tl.store(x_ptr + at, tl.map_elementwise(branches, tl.load(x_ptr + at)))


@triton.jit
def warps(x_ptr):
    tl.store(x_ptr, tl.extra.cuda.num_warps())


@triton.jit
def unaligned_block(x_ptr):
    x = tl.make_tensor_descriptor(x_ptr, [16, 16], [16, 1], [8, 8])
    x.store([0, 0], x.load([2, 1]))


@triton.jit
def descriptor_sum(x_ptr):
    x = tl.make_tensor_descriptor(x_ptr, [16, 16], [16, 1], [8, 8])
    x.atomic_add([0, 0], x.load([0, 0]))


def cause_of(action):
    """What the emulator lacks, by its own account or by where the error arose."""
    try:
        action()
    except NotEmulated as error:
        return str(error)
    except Exception as error:
        return lack(error)
    return "it ran"


def case_what_the_interpreter_lacks_is_told_by_its_cause():
    x = torch.zeros(256)
    for kernel, words in (
        (odd_type, "fp8e4b8"), (mapped, "new_block"), (warps, "num_warps"),
        (unaligned_block, "materialize_pointers"), (descriptor_sum, "create_descriptor_reduce"),
    ):  # fmt: skip
        assert words in cause_of(lambda kernel=kernel: kernel[(1,)](x)), kernel
    assert "dot_scaled" in cause_of(lambda: scaled_dot[(1,)]())


def case_what_torch_lacks_without_a_card_is_told_too():
    x = torch.eye(4)
    for action in (
        torch.cuda.mem_get_info, lambda: torch.Generator("cuda"), torch.cuda.cudart,
        lambda: torch.cuda.nvtx.range_push("x"), lambda: torch.linalg.cholesky(x.half()),
    ):  # fmt: skip
        assert cause_of(action).startswith("needs a GPU"), cause_of(action)


def case_what_a_library_of_cuda_answers_without_a_card_is_told_too():
    def refused():
        raise RuntimeError("cudaMalloc failed, code 100")

    assert cause_of(refused) == ""
    with contextlib.suppress(OSError):
        ctypes.CDLL("libc.so.6")
        ctypes.CDLL("libcurses.so")
    assert cause_of(refused) == ""
    with contextlib.suppress(OSError):
        ctypes.CDLL("/somewhere/libcudart.so.12")
    try:
        assert "libcudart.so.12 answers for" in cause_of(refused)
    finally:
        lacking._opened.clear()


def case_the_judge_hears_what_is_lacking():
    for kernel, fault in ((odd_type, FaultCode.UNSUPPORTED), (wrong_shapes, FaultCode.EXCEPTION)):
        try:
            with reported():
                kernel[(1,)](torch.zeros(256))
        except ProgramFailed as failed:
            assert failed.fault is fault, failed
            assert failed.message.startswith("Triton's interpreter") is (kernel is odd_type)
        else:
            raise AssertionError(f"{kernel} ran")
    assert "TileLang" in cause_of(lambda: importlib.import_module("tilelang"))
    assert cause_of(lambda: importlib.import_module("no_such_package")) == ""


@triton.jit
def wrong_shapes(x_ptr):
    tl.store(x_ptr + tl.arange(0, 8), tl.load(x_ptr + tl.arange(0, 16)))


@triton.jit
def wrong_range(x_ptr):
    for _ in range(tl.arange(0, 8)):
        tl.store(x_ptr, 1.0)


@triton.jit
def wrong_assertion(x_ptr):
    tl.static_assert(1 > 2, "no")


@triton.jit
def wrong_assumption(x_ptr):
    tl.assume(tl.program_id(0) > 2)


@triton.jit
def wrong_name(x_ptr):
    tl.store(x_ptr, tl.nosuch(1))


@triton.jit
def wrong_alignment(x_ptr):
    tl.make_tensor_descriptor(x_ptr, [16, 15], [15, 1], [8, 8])


@triton.jit
def wrong_precision(x_ptr):
    tl.store(x_ptr, libdevice.tanh(tl.load(x_ptr).to(tl.float16)))


def case_what_a_kernel_does_wrong_is_its_own():
    x = torch.zeros(256)
    for kernel in (
        wrong_shapes, wrong_range, wrong_assertion, wrong_assumption, wrong_name, wrong_alignment,
        wrong_precision,
    ):  # fmt: skip
        assert cause_of(lambda kernel=kernel: kernel[(1,)](x)) == "", kernel
    for action in (
        lambda: wrong_name[(1.5,)](x), lambda: wrong_name[(1,)](), lambda: wrong_name[(1,)](x, x),
        lambda: torch.mm(x, x), lambda: torch.nosuch, lambda: wrong_name[(1, 1, 1, 1)](x),
    ):  # fmt: skip
        assert cause_of(action) == "", cause_of(action)


def case_dot_in_terms_of_bfloat16():
    a = torch.full((16, 16), 1 + 2**-12 + 2**-20)
    o = torch.zeros(16, 16)
    multiply[(1,)](a, torch.eye(16), o, SIZE=16, PRECISION="bf16x3")
    assert (o == 1 + 2**-12).all()
    multiply[(1,)](a, torch.eye(16), o, SIZE=16, PRECISION="bf16x6")
    assert (o == a).all()


def case_autotune_takes_the_first():
    o = torch.zeros(2)
    tuned[(1,)](o, 21)
    assert o.tolist() == [64, 42]
    assert triton.testing.do_bench(lambda: 1 / 0) == 1.0


def case_a_cuda_machine_is_pretended():
    device = triton.runtime.driver.active.get_active_torch_device()
    x = torch.randn(4, device="cuda").cuda().to("cuda:0", non_blocking=True)
    assert x.is_cuda and x.device == device
    assert torch.zeros_like(x, device=torch.device("cuda", 0)).device == device
    with torch.cuda.device(x.device):
        torch.cuda.synchronize()
    assert torch.cuda.get_device_properties(torch.cuda.current_device()).major == 9
    target = triton.runtime.driver.active.get_current_target()
    assert (target.backend, target.arch) == ("cuda", 90)
    complains(NotEmulated, "torch.cuda.Event", lambda: torch.cuda.Event(enable_timing=True))


def case_what_torch_compiles_runs_as_it_is():
    @torch.compile
    def doubled(x):
        return 2 * x

    @torch.compile(dynamic=True, mode="max-autotune")
    def tripled(x):
        return 3 * x

    x = torch.randn(4, device="cuda")
    same(doubled(x), 2 * x)
    same(tripled(x), 3 * x)
    same(torch.compile(doubled, fullgraph=True)(x), 2 * x)


def case_enabling_twice_sets_no_more_than_the_environment():
    others = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    del os.environ["TRITON_INTERPRET"]
    triton_cpu.enable()
    assert dict(os.environ) == others | {"TRITON_INTERPRET": "1"}


def case_errors_come_through_as_they_are():
    @triton.jit
    def broken(x_ptr):
        tl.store(x_ptr, undefined_name)  # noqa: F821

    complains(NameError, "undefined_name", lambda: broken[(1,)](torch.zeros(1)))


def main() -> None:
    torch.manual_seed(0)
    outcome = {}
    for name, case in list(globals().items()):
        if name.startswith("case_"):
            try:
                case()
                outcome[name] = ""
            except BaseException:
                outcome[name] = traceback.format_exc()
    sys.stdout.write(json.dumps(outcome) + "\n")


if __name__ == "__main__":
    main()
