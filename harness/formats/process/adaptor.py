"""What the process asks of a problem, whatever its format, and what several formats do alike."""

import ast
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

import torch
from torch import Tensor

from harness.formats.messages import CasesDescribed, ToldTensor
from harness.formats.process.modes import Uncompiled, deterministic, tensors_in
from harness.formats.process.place import PLACE
from harness.formats.rounding import ROOM, ROUGH, pieces, root_mean_square, with_rounding
from harness.problem.dtypes import NARROW

Tensors = Mapping[str, Tensor]

C_NAMES: Mapping[torch.dtype, str] = {
    torch.float64: "double",
    torch.float32: "float",
    torch.float16: "half",
    torch.bfloat16: "__nv_bfloat16",
    torch.int8: "int8_t",
    torch.int16: "int16_t",
    torch.int32: "int",
    torch.int64: "int64_t",
    torch.uint8: "uint8_t",
    torch.uint16: "uint16_t",
    torch.uint32: "unsigned int",
    torch.uint64: "uint64_t",
    torch.bool: "bool",
    torch.complex64: "cuFloatComplex",
    torch.complex128: "cuDoubleComplex",
}
"""Element types that can be graded, and what C calls them."""

NARROW_TYPES = frozenset(getattr(torch, name) for name in NARROW if hasattr(torch, name))
"""Those that may be read, and are handed over as bytes."""


class UngradableError(Exception):
    """The problem needs what is not there, or is of a kind that is not graded."""


class MistakeError(Exception):
    """The file does not follow the rules of its format."""


class Adaptor(Protocol):
    """One loaded problem. Whatever its code raises comes through."""

    def describe(self, *, small: bool) -> CasesDescribed:
        """The cases; ``small`` ones where kernels are emulated."""

    def draw(self, case: str, seed: int, *, small: bool) -> Tensors:
        """All tensors that a call reads, by name."""

    def weights(self, seed: int, *, small: bool) -> Tensors:
        """All that the reference's module holds when it is made under a seed, as ``self.name``.

        Asked for where cases were described with weights; none where what is called is no module.
        """
        return {}

    def answers(
        self, case: str, inputs: Tensors, weights: int, *, small: bool, own: bool = False
    ) -> Tensors:
        """All outputs by name, as exactly as the reference can; ``inputs`` are not kept.

        With ``own`` they are what it says in its own types. Its module is made under the seed
        ``weights``; what it holds may be among ``inputs``.
        """

    def check(self, case: str, inputs: Tensors, outputs: Tensors, *, small: bool) -> bool:
        """What the format's own check says of outputs; asked where a case says so."""


@contextmanager
def reseeded(seed: int) -> Iterator[None]:
    """Seeds that the file sets itself are mixed with ours: its own are anybody's to read."""
    plain, generator = torch.manual_seed, torch.Generator

    def mixed(own: int) -> int:
        digest = sha256(f"{seed}|{int(own)}".encode()).digest()
        return int.from_bytes(digest[:8], "big") >> 1

    class Mixed(generator):  # type: ignore[misc, valid-type]
        def __new__(cls, *_: object, **__: object) -> Any:  # where is drawn, wherever it says
            return super().__new__(cls, PLACE.drawing)

        def manual_seed(self, own: int) -> Any:
            super().manual_seed(mixed(own))
            return self

    torch.manual_seed = lambda own: plain(mixed(own))  # type: ignore[assignment]
    torch.Generator = Mixed  # type: ignore[misc]
    try:
        yield
    finally:
        torch.manual_seed, torch.Generator = plain, generator  # type: ignore[misc]


@contextmanager
def set_memory() -> Iterator[None]:
    """Memory that nobody sets holds NaN and large numbers: what is 0 is meant to be."""
    with deterministic():
        yield


def load_tree(tree: ast.Module, path: Path, name: str) -> ModuleType:
    """The module made of a parsed file."""
    module = ModuleType(name)
    module.__file__ = str(path)
    sys.modules[name] = module  # what dataclasses and pickle look it up by
    code = compile(tree, str(path), "exec", dont_inherit=True, optimize=1)
    exec(code, vars(module))  # noqa: S102 - that is what it is for
    return module


def widened(tensor: Tensor) -> Tensor:
    """A copy in float64 (complex128) if it holds such numbers, else in its own type.

    So are narrow ones: they are exact, and a reference says itself what they mean.
    """
    if tensor.dtype in NARROW_TYPES:
        return tensor.clone()
    if tensor.is_complex():
        return tensor.to(torch.complex128, copy=True)
    return tensor.to(torch.float64, copy=True) if tensor.is_floating_point() else tensor.clone()


def is_wide(tensor: Tensor) -> bool:
    """Whether nothing was rounded to less than float64."""
    return tensor.dtype in (torch.float64, torch.complex128) or not (
        tensor.is_floating_point() or tensor.is_complex()
    )


def same(one: Tensors, other: Tensors) -> bool:
    """Whether two sets of tensors are equal, NaN to NaN."""
    if one.keys() != other.keys():
        return False
    return all(_equal(one[name], other[name]) for name in one)


def _equal(one: Tensor, other: Tensor) -> bool:
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    if one.dtype in NARROW_TYPES:
        one, other = one.view(torch.uint8), other.view(torch.uint8)
    return all(bool(((a == b) | ((a != a) & (b != b))).all()) for a, b in pieces(one, other))


def agree(right: Tensors, wide: Tensors, rtol: float, atol: float) -> bool:
    """Whether answers in float64 stand for a reference's own: exact, and as it says itself.

    Where they differ by more than is allowed and rounding brings, a reference counts as it is.
    """
    if right.keys() != wide.keys() or not all(is_wide(x) for x in wide.values()):
        return False
    for name, one in right.items():
        other = wide[name]
        if one.shape != other.shape:
            return False
        if not (one.is_floating_point() or one.is_complex()):
            if not same({name: one}, {name: other}):
                return False
        elif not all(_near(a, b, rtol, atol) for a, b in pieces(one, other)):
            return False
    return True


def _near(one: Tensor, exact: Tensor, rtol: float, atol: float) -> bool:
    if not one.numel():
        return True
    known, bounds = one.to(exact.dtype), exact.abs().mul_(rtol).add_(atol)
    # Nearly always all are near without a rounding, which takes many passes to allow for.
    if bool(((known - exact).abs() <= bounds).all() & (bounds.amax() < torch.inf)):
        return True
    with_rounding(exact, bounds, one.dtype)
    near = (known == exact) | (known.isnan() & exact.isnan())
    near |= exact.isfinite() & ((known - exact).abs() <= bounds)
    return bool(near.all())


@dataclass(frozen=True, slots=True, kw_only=True)
class Exactness:
    """How exact a reference is, run with its inputs in float64."""

    wide: bool
    """Whether it evaluates in float64, and says there what it says itself."""
    rounded: bool
    """Whether its answers are rounded to their types all the same."""
    errors: Mapping[str, float] = field(default_factory=dict)
    """Of outputs where its own answers are off those in float64 by more than its tolerance: by how
    much at most, in units of the output's root mean square, with some room for other inputs."""


def tried_wide(run: Callable[[], Tensors], right: Tensors, rtol: float, atol: float) -> Exactness:
    """How exact ``run``, the reference in float64, is beside its own answers ``right``.

    A reference whose own factors are cut, as a convolution's are on a card (TF32), is off by more
    than its tolerance, which stands around those answers in its format.
    """
    narrow = _Narrow()
    try:
        with narrow:
            wide = run()
    except torch.OutOfMemoryError:  # of the card: elsewhere it may evaluate
        raise
    except (RuntimeError, TypeError, ValueError, AssertionError):  # it makes others of its own
        return Exactness(wide=False, rounded=True)
    errors: Mapping[str, float] | None = {}
    if not agree(right, wide, rtol, atol):
        errors = roughly(right, wide)
    if errors is None:
        return Exactness(wide=False, rounded=True)
    rounded = any(x.dtype in narrow.seen for x in right.values())
    return Exactness(wide=True, rounded=rounded, errors=errors)


def roughly(right: Tensors, wide: Tensors) -> dict[str, float] | None:
    """How far answers are off those in float64, by output; None if they are not the same ones."""
    if right.keys() != wide.keys() or not all(is_wide(x) for x in wide.values()):
        return None
    found = {}
    for name, one in right.items():
        other = wide[name]
        if one.shape != other.shape or not other.numel():
            return None
        if not (one.is_floating_point() or one.is_complex()):
            if not same({name: one.to(other.dtype)}, {name: other}):
                return None
            continue
        worst = total = 0.0
        for got, wanted in pieces(one, other):
            known, finite = got.to(wanted.dtype), wanted.isfinite()
            if not bool(((known == wanted) | (known.isnan() & wanted.isnan()) | finite).all()):
                return None
            error = (known - wanted).abs().where(finite, 0)
            worst = max(worst, float(error.max()))
            total += float(error.square().sum())
        size = float(root_mean_square(other))
        if not (total / other.numel()) ** 0.5 <= ROUGH * size:  # nor where it is infinite
            return None
        found[name] = ROOM * worst / size if size else 0.0
    return found


class _Narrow(Uncompiled):
    """While entered, notes the inexact types below float64 that results have."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[torch.dtype] = set()

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> object:
        """Compute one operation, then look at what it made; moving to a card rounds nothing."""
        result = func(*args, **(kwargs or {}))
        if func is torch.ops.aten._to_copy.default and result.dtype is args[0].dtype:
            return result
        self.seen.update(x.dtype for x in tensors_in(result) if not is_wide(x))
        return result


def c_name(dtype: torch.dtype) -> str:
    """What C calls an element type; ``?`` for one that is not graded."""
    return "uint8_t" if dtype in NARROW_TYPES else C_NAMES.get(dtype, "?")


def told(
    name: str,
    tensor: Tensor,
    *,
    zeroed: bool = False,
    compared: bool = False,
    strided: bool = False,
    on_host: Tensor | None = None,
) -> ToldTensor:
    """What the judge is told of a tensor; ``compared`` if it is right or wrong after a call.

    With ``strided`` it is handed over with its strides. ``on_host`` are the values of one that lies
    in the host's memory.
    """
    narrow = tensor.dtype in NARROW_TYPES
    plain = (narrow and not compared) or tensor.dtype in C_NAMES
    if not plain or tensor.layout is not torch.strided:
        kind = tensor.dtype if tensor.layout is torch.strided else tensor.layout
        raise UngradableError(f"{name} is a tensor of {kind}, which is not graded")
    dtype = str(tensor.dtype).removeprefix("torch.")
    return ToldTensor(
        name=name,
        dtype="uint8" if narrow else dtype,
        shape=tuple(tensor.shape),
        zeroed=zeroed,
        strides=tuple(tensor.stride()) if strided and not tensor.is_contiguous() else (),
        seen_as=dtype if narrow else "",
        on_host="" if on_host is None else _hex(on_host),
    )


def _hex(tensor: Tensor) -> str:
    return tensor.contiguous().view(torch.uint8).numpy().tobytes().hex()


def without_gaps(tensor: Tensor) -> Tensor:
    """The tensor, or a row-major copy where elements share a place or leave some between them."""
    return tensor if torch.ops.aten.is_non_overlapping_and_dense(tensor) else tensor.contiguous()


def named(values: Sequence[object], name: str) -> dict[str, Tensor]:
    """Tensors that were returned, by a name and, where there are several, their numbers."""
    found: dict[str, Tensor] = {}
    for number, value in enumerate(values):
        if not isinstance(value, Tensor):
            raise UngradableError(f"its reference returns a {type(value).__name__} among tensors")
        if value.layout is not torch.strided:
            raise UngradableError(f"its reference returns a tensor of {value.layout}")
        found[name if len(values) == 1 else f"{name}_{number}"] = value.detach()
    return found
