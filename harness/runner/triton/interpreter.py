"""Adds bounds, bfloat16 and TF32 to Triton's interpreter: see :mod:`harness.runner.triton.cpu`.

Importing this imports Triton, so ``TRITON_INTERPRET`` must be set before. The interpreter executes
a kernel's Python source; every operation lands in a method of its ``InterpreterBuilder``, on
handles that hold NumPy arrays. We subclass that builder, and hold one invariant where all handles
are made: a handle of type bfloat16 holds float32 values that are representable in bfloat16.

Works with Triton 3.6 to 3.9, whose builders differ in trailing arguments; those are passed on
unseen.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import NoReturn

import numpy as np
import triton.language as tl
from numpy.typing import NDArray
from triton.language import dtype as Dtype  # noqa: N812
from triton.runtime import interpreter
from triton.runtime.interpreter import TensorHandle as Handle

from harness.runner.triton import bfloat16, libdevice
from harness.runner.triton.fake_cuda import NotEmulated, refuse
from harness.runner.triton.kernels import Rewriter, run
from harness.runner.triton.language import make_executable
from harness.runner.triton.memory import LaunchMemory
from harness.runner.triton.stub_driver import activate

_Base = interpreter.InterpreterBuilder
_plain_np_dtype = interpreter._get_np_dtype
_plain_validate = interpreter._validate_np_data_size
_plain_convert_argument = interpreter._implicit_cvt
_plain_patch_tensor = interpreter._patch_lang_tensor
_plain_post_init = Handle.__post_init__


def install(arch: int, memory: LaunchMemory) -> None:
    """Replace the parts of Triton by those below; ``memory`` checks their accesses."""
    _Grid.memory = _Builder.memory = memory
    interpreter._get_np_dtype = _np_dtype
    interpreter._validate_np_data_size = _validate_size
    interpreter._implicit_cvt = _convert_argument
    interpreter._patch_lang_tensor = _patch_tensor
    interpreter.GridExecutor = _Grid
    interpreter.FunctionRewriter = Rewriter
    interpreter.InterpretedFunction.run = run
    interpreter.InterpreterBuilder = _Builder
    builder = interpreter.interpreter_builder
    builder.__class__ = _Builder
    precisions = (*builder.options.allowed_dot_input_precisions, *_BFLOAT16_TERMS)
    builder.options = replace(builder.options, allowed_dot_input_precisions=precisions)
    Handle.__post_init__ = _post_init
    make_executable()
    # The same time for all configurations, so that the first is chosen.
    activate(arch, bench=lambda _launch: 1.0, load=_cannot_load)


def _cannot_load(name: str, _cubin: bytes) -> NoReturn:
    raise NotEmulated(f"{name} is compiled for a GPU; Triton's interpreter cannot run it")


def _is_bfloat16(dtype: Dtype) -> bool:
    return getattr(dtype.scalar, "name", "") == "bf16"


def _holds_bfloat16(dtype: Dtype) -> bool:
    """Whether handles of the type hold such values, not pointers to them."""
    return _is_bfloat16(dtype) and not isinstance(dtype, tl.pointer_type)


def _np_dtype(dtype: Dtype) -> "np.dtype[np.generic]":
    if _holds_bfloat16(dtype):
        return np.dtype(np.float32)
    plain: np.dtype[np.generic] = _plain_np_dtype(dtype)
    return plain


def _validate_size(data: NDArray[np.generic], dtype: Dtype) -> bool:
    if _holds_bfloat16(dtype):
        return bool(data.itemsize <= 4)
    return bool(_plain_validate(data, dtype))


def _post_init(handle: Handle) -> None:
    # Comparisons make handles of their operands' type that hold truth values: leave those alone.
    if _is_bfloat16(handle.dtype) and handle.data.dtype.kind == "f":
        handle.data = bfloat16.rounded(handle.data)
    _plain_post_init(handle)


def _convert_argument(argument: object) -> Handle:
    converted = _plain_convert_argument(argument)
    if hasattr(argument, "data_ptr") and hasattr(converted, "handle"):
        converted.handle.attr["extent"] = _Grid.memory.extents.get(argument.data_ptr())
    return converted


def _patch_tensor(tensor: object, scope: interpreter._LangPatchScope) -> None:
    _plain_patch_tensor(tensor, scope)
    # Triton 3.6 calls int() on an array of one element, which NumPy 2.4 refuses.
    scope.set_attr(tensor, "__index__", lambda self: int(self.handle.data.item()))


class _Grid(interpreter.GridExecutor):  # type: ignore[misc]
    """One launch: declares what it may touch, and lets errors through as they are."""

    memory: LaunchMemory

    def __call__(self, *args: object, **kwargs: object) -> None:
        names = self.arg_names
        given = {**dict(zip(names, args, strict=False)), **kwargs}
        self.memory.launch(self.fn.__name__, [(n, given[n]) for n in names if n in given])
        try:
            with np.errstate(all="ignore"):
                super().__call__(*args, **kwargs)
        except interpreter.InterpreterError as error:
            cause: BaseException = error
            while isinstance(cause, interpreter.InterpreterError) and cause.__cause__ is not None:
                cause = cause.__cause__
            raise cause from None

    def _restore_args_dev(self, *_args: object) -> None:
        """Nothing to copy back: tensors are on the CPU, and the kernel worked on them directly."""


_BFLOAT16_TERMS = {"bf16x3": 2, "bf16x6": 3}
"""How many bfloat16 numbers a float32 factor of a dot product becomes."""


def _factor(values: NDArray[np.generic], precision: object) -> NDArray[np.generic]:
    """A float32 factor as a tensor core gets it."""
    name = str(getattr(precision, "name", precision)).lower()
    single = rest = values.astype(np.float32)
    if name == "tf32":
        return bfloat16.tf32(single)
    if name not in _BFLOAT16_TERMS:
        return single
    for _ in range(_BFLOAT16_TERMS[name]):
        rest = rest - bfloat16.rounded(rest)
    return single - rest


def _keep_extent(name: str) -> Callable[..., Handle]:
    """Wrap an operation on pointers that leaves them inside the tensor they came from."""

    def keep(self: object, *args: object) -> Handle:
        result = getattr(_Base, name)(self, *args)
        for arg in args:
            if isinstance(arg, Handle) and "extent" in arg.attr:
                result.attr["extent"] = arg.attr["extent"]
        return result

    return keep


class _Builder(interpreter.InterpreterBuilder):  # type: ignore[misc]
    """Executes the operations of a kernel."""

    memory: LaunchMemory

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise NotEmulated(f"Triton's interpreter does not implement {name}")

    def set_grid_idx(self, x: int, y: int, z: int) -> None:
        self.memory.program = (x, y, z)
        super().set_grid_idx(x, y, z)

    create_addptr = _keep_extent("create_addptr")
    create_splat = _keep_extent("create_splat")
    create_broadcast = _keep_extent("create_broadcast")
    create_expand_dims = _keep_extent("create_expand_dims")
    create_reshape = _keep_extent("create_reshape")
    create_trans = _keep_extent("create_trans")

    def _check(self, access: str, pointers: Handle, mask: Handle | bool) -> None:
        size = max(1, pointers.get_element_ty().primitive_bitwidth // 8)
        lanes = mask.data if isinstance(mask, Handle) else mask
        self.memory.check(access, pointers.data, lanes, size, pointers.attr.get("extent"))

    def create_masked_load(
        self, ptrs: Handle, mask: Handle | bool, other: Handle, *rest: object, **named: object
    ) -> Handle:
        """Load, checked; the 16 bits of a bfloat16 become its value."""
        self._check("load", ptrs, mask)
        if not _is_bfloat16(ptrs.get_element_ty()):
            return super().create_masked_load(ptrs, mask, other, *rest, **named)
        if other is not None:
            other = Handle(bfloat16.to_bits(other.data), tl.uint16)
        raw = Handle(ptrs.data, tl.pointer_type(tl.uint16))
        bits = super().create_masked_load(raw, mask, other, *rest, **named)
        return Handle(bfloat16.from_bits(bits.data), tl.bfloat16)

    def create_masked_store(
        self, ptrs: Handle, value: Handle, mask: Handle | bool, *rest: object, **named: object
    ) -> Handle:
        """Store, checked; the value of a bfloat16 becomes its 16 bits."""
        self._check("store", ptrs, mask)
        if _is_bfloat16(ptrs.get_element_ty()):
            value = Handle(bfloat16.to_bits(value.data), tl.uint16)
        return super().create_masked_store(ptrs, value, mask, *rest, **named)

    def create_atomic_cas(self, ptr: Handle, cmp: Handle, val: Handle, *rest: object) -> Handle:
        self._refuse_bfloat16("atomic_cas", val)
        self._check("atomic", ptr, True)
        return super().create_atomic_cas(ptr, cmp, val, *rest)

    def create_atomic_rmw(
        self, op: object, ptr: Handle, val: Handle, mask: Handle | bool, *rest: object
    ) -> Handle:
        self._refuse_bfloat16(f"atomic {op}", val)
        self._check("atomic", ptr, mask)
        if op == interpreter._ir.ATOMIC_OP.XCHG and val.data.dtype.kind == "f":
            bits = Handle(val.data.view(f"i{val.data.itemsize}"), tl.int64)
            before = super().create_atomic_rmw(op, ptr, bits, mask, *rest)
            return Handle(before.data.view(val.data.dtype), val.dtype.scalar)
        return super().create_atomic_rmw(op, ptr, val, mask, *rest)

    def _refuse_bfloat16(self, what: str, *handles: object) -> None:
        if any(isinstance(h, Handle) and _is_bfloat16(h.dtype) for h in handles):
            raise NotEmulated(f"Triton's interpreter cannot do {what} on bfloat16")

    def get_bf16(self, value: float) -> Handle:
        return Handle(np.array([value], dtype=np.float32), tl.bfloat16)

    def cast_impl(self, src: Handle, dst_type: Dtype) -> Handle:
        if _is_bfloat16(src.dtype) or _is_bfloat16(dst_type):
            # The constructor of handles rounds.
            return Handle(src.data.astype(_np_dtype(dst_type)), dst_type.scalar)
        return super().cast_impl(src, dst_type)

    def create_fp_to_fp(self, src: Handle, dst_type: Dtype, rounding_mode: object) -> Handle:
        """Convert with a chosen rounding, and 8-bit types."""
        if _is_bfloat16(src.dtype):
            src = Handle(src.data, tl.float32)
        if not _is_bfloat16(dst_type):
            return super().create_fp_to_fp(src, dst_type, rounding_mode)
        if src.dtype.scalar.is_fp8():
            src = super().create_fp_to_fp(src, tl.float32, rounding_mode)
        if rounding_mode == interpreter._ir.ROUNDING_MODE.RTZ:
            return Handle(bfloat16.truncated(src.data), tl.bfloat16)
        return Handle(src.data.astype(np.float32), tl.bfloat16)

    def create_bitcast(self, src: Handle, dst_type: Dtype) -> Handle:
        if _holds_bfloat16(src.dtype):
            src = Handle(bfloat16.to_bits(src.data), tl.uint16)
        if not isinstance(dst_type.scalar, tl.pointer_type) and _is_bfloat16(dst_type):
            return Handle(bfloat16.from_bits(src.data.view(np.uint16)), tl.bfloat16)
        return super().create_bitcast(src, dst_type)

    def create_fabs(self, arg: Handle) -> Handle:
        if _is_bfloat16(arg.dtype):
            return Handle(np.abs(arg.data), arg.dtype.scalar)
        return super().create_fabs(arg)

    def create_dot_scaled(self, *args: object) -> Handle:
        self._refuse_bfloat16("dot_scaled", *args)
        return super().create_dot_scaled(*args)

    def create_dot(
        self, a: Handle, b: Handle, d: Handle, input_precision: object, *rest: object
    ) -> Handle:
        """Multiply blocks, in the precision that the kernel allows."""
        if a.data.dtype == np.float32 and not _is_bfloat16(a.dtype):
            a, b = (Handle(_factor(x.data, input_precision), x.dtype) for x in (a, b))
        return super().create_dot(a, b, d, input_precision, *rest)

    def create_extern_elementwise(
        self, _library: str, path: str, symbol: str, args: list[Handle], kind: Dtype, _pure: bool
    ) -> Handle:
        shapes = np.broadcast_shapes(*(arg.data.shape for arg in args))
        arrays = [np.broadcast_to(arg.data, shapes) for arg in args]
        result = None if path else libdevice.call(symbol, arrays, _np_dtype(kind))
        if result is None:
            raise NotEmulated(f"Triton's interpreter cannot call the external function {symbol}")
        return Handle(result, kind.scalar)

    create_inline_asm = refuse("Triton's interpreter cannot execute inline assembly")
