"""Evaluate a reference with the precision and the order of summation of a given machine.

A reference is written in torch and computes in float64. Under :class:`Arithmetic`, a dispatch mode,
each of its operations is done as an :class:`ArithmeticModel` does it: factors cut, sums in some
order and accumulator, results rounded. Tensors stay float64 throughout (complex128 for complex
numbers); what a machine cannot represent does not occur in them.

Sources: Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd ed., section 4.2 (orders of
summation); Fasi, Higham, Mikaitis, Pranesh, *Numerical behavior of NVIDIA tensor cores*, PeerJ CS
7:e330, 2021 (blocks of products, truncation); CUDA C++ Programming Guide, appendix on mathematical
functions (their errors in units in the last place).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from harness.verify.arithmetic import composites, fourier
from harness.verify.arithmetic.composites import Dims, Operation
from harness.verify.arithmetic.operations import OperationKind, base_name, classify
from harness.verify.arithmetic.rounding import FLOAT64, Format, rounded, truncated
from harness.verify.arithmetic.sums import EXACTLY, Accumulator, running, total

_MAX_PRODUCTS = 1 << 25
"""Products of a matrix product that lie in memory at a time: 256 MiB in float64."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArithmeticModel:
    """Formats and orders of a machine's arithmetic. The defaults are a float64 machine."""

    working: Format = FLOAT64
    """Format of the results of single operations."""
    accumulator: Accumulator = EXACTLY
    """Where sums are kept, and in which order terms get there."""
    storage: Format | None = None
    """Format that each result is rounded to besides, as an unfused computation does that keeps it
    in memory; None where results stay in registers."""
    factors: Format | None = None
    """Format that the factors of products of matrices are cut to; None for uncut."""
    cut_off: bool = False
    """Whether factors are cut without rounding."""
    additions: bool = False
    """Whether plain additions go to the accumulator's format, too."""
    ulps: float = 0.0
    """Error of exponentials, logarithms and the like, units in the last place of ``working``."""
    skips: bool = False
    """Whether the last term of every sum is left out; no honest machine's."""

    @property
    def exact(self) -> bool:
        """Whether sums are torch's own, in float64."""
        return self.accumulator == EXACTLY and not self.skips

    def result(self, x: Tensor) -> Tensor:
        """Round the result of one operation to ``working``, and to ``storage``."""
        x = rounded(x, self.working)
        return x if self.storage is None else rounded(x, self.storage)

    def factor(self, x: Tensor) -> Tensor:
        """Cut a factor of a product of matrices to ``factors``."""
        if self.factors is None:
            return x
        return (truncated if self.cut_off else rounded)(x, self.factors)

    def sum(self, terms: Tensor) -> Tensor:
        """Sum over the first dimension: (length, …) → (…)."""
        if self.skips and terms.shape[0] > 1:
            terms = terms[:-1]
        return terms.sum(0) if self.accumulator == EXACTLY else total(terms, self.accumulator)

    def product(self, a: Tensor, b: Tensor) -> Tensor:
        """Product of matrices: (…, m, k) · (…, k, n) → (…, m, n)."""
        a, b = self.factor(a), self.factor(b)
        if self.skips and a.shape[-1] > 1:
            a, b = a[..., :-1], b[..., :-1, :]
        how = self.accumulator
        if how == EXACTLY:
            return a @ b
        if how.step > 1 and not a.is_complex():
            return self._product_in_blocks(a, b)
        # All products of some rows are formed at once: (k, rows, n) terms, to be added up over k.
        rows, size = a.shape[-2], a[..., :1, :].numel() * b.shape[-1]
        at_once = max(1, _MAX_PRODUCTS // max(1, size))
        kind = how.native
        if kind is not None and not a.is_complex():
            a, b = a.to(kind), b.to(kind)
        pieces = []
        for start in range(0, rows, at_once):
            left = a[..., start : start + at_once, :].movedim(-1, 0).unsqueeze(-1)
            terms = left * b.movedim(-2, 0).unsqueeze(-2)
            pieces.append(total(terms, how))
        return torch.cat(pieces, -2) if pieces else a.new_zeros(*a.shape[:-1], b.shape[-1])

    def _product_in_blocks(self, a: Tensor, b: Tensor) -> Tensor:
        """Product as in a matrix unit: ``step`` exact products, then the sum is rounded or cut."""
        how = self.accumulator
        kept = a.new_zeros(*a.shape[:-1], b.shape[-1])
        for start in range(0, a.shape[-1], how.step):
            stop = start + how.step
            term = a[..., start:stop] @ b[..., start:stop, :]
            kept = (truncated if how.truncates else rounded)(kept + term, how.format)
        return kept


class Arithmetic(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """While entered, torch computes as ``machine`` does.

    ``unknown`` collects operations that sum up something in a way that cannot be varied: they are
    done in float64, and their results rounded.
    """

    def __init__(self, machine: ArithmeticModel) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.machine = machine
        self.unknown: set[str] = set()

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Not compiled, so that nothing must be kept from the compiler, whose import takes 3 s."""
        return False

    def __torch_dispatch__(
        self,
        func: Operation,
        types: object,
        args: tuple[object, ...] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> object:
        """Compute one operation as the model does."""
        kwargs = dict(kwargs or {})
        kind = classify(func, args, kwargs)
        result = self._compute(func, kind, args, kwargs)
        self.done(func, kind, args, kwargs, result)
        return result

    def done(
        self,
        func: Operation,
        kind: OperationKind,
        args: tuple[object, ...],
        kwargs: Mapping[str, object],
        result: object,
    ) -> None:
        """Called after each operation; :mod:`survey` counts in it."""

    def _compute(
        self,
        func: Operation,
        kind: OperationKind,
        args: tuple[object, ...],
        kwargs: dict[str, object],
    ) -> object:
        machine = self.machine
        name = base_name(func)
        if kind is OperationKind.EXACT:
            if machine.skips and name in _EXTREMES:
                args = _without_last(args, kwargs)
            return func(*args, **kwargs)
        if kind is OperationKind.COMPOSITE:
            with self:
                return composites.COMPOSITES[name](func, *args, **kwargs)
        if kind is OperationKind.SUM:
            return _SUMS[name](machine, func, *args, **kwargs)
        if kind is OperationKind.UNKNOWN:
            self.unknown.add(str(func).removesuffix(".default"))
        result = func(*args, **kwargs)
        if kind is OperationKind.FUNCTION and machine.ulps:
            _overwrite(result, lambda x: _blurred(x, machine))
        if kind is OperationKind.ADDITION and machine.additions:
            _overwrite(result, lambda x: rounded(x, machine.accumulator.format))
        _overwrite(result, machine.result)
        return result


def _overwrite(result: object, how: Callable[[Tensor], Tensor]) -> None:
    """Replace what is in the floating-point results of an operation, new or changed in place."""
    for x in result if isinstance(result, (tuple, list)) else (result,):
        if isinstance(x, Tensor) and x.dtype in (torch.float64, torch.complex128):
            new = how(x)
            if new is not x:
                x.copy_(new)


def _blurred(x: Tensor, machine: ArithmeticModel) -> Tensor:
    """Move ``x`` by up to ``ulps`` units in the last place, this way and that."""
    if x.is_complex():
        return torch.view_as_complex(_blurred(torch.view_as_real(x), machine))
    # Multiples of the golden ratio spread evenly over (−1, 1), the same ones every time.
    number = torch.arange(x.numel(), device=x.device, dtype=torch.float64).view(x.shape)
    spread = (number * 0.6180339887498949).frac().mul_(2).sub_(1)
    # A unit in the last place is between one and two unit roundoffs, relative to the number.
    moved = x * (1 + spread * (machine.ulps * machine.working.roundoff))
    return torch.where(x.isfinite() & (x != 1), moved, x)  # exp(0) and the like are exact


_EXTREMES = frozenset({"amax", "amin", "max", "min", "argmax", "argmin"})


def _without_last(args: tuple[object, ...], kwargs: dict[str, object]) -> tuple[object, ...]:
    """The arguments of a maximum along dimensions, without the last element of each."""
    if not args or not isinstance(args[0], Tensor):
        return args
    x: Tensor = args[0]
    dims = kwargs.get("dim", args[1] if len(args) > 1 else None)
    if isinstance(dims, Tensor):  # the maximum of two tensors
        return args
    if isinstance(dims, int):
        dims = [dims]
    for d in dims if isinstance(dims, (list, tuple)) and dims else range(x.dim()):
        if x.shape[d] > 1:
            x = x.narrow(d, 0, x.shape[d] - 1)
    return (x, *args[1:])


# -- sums --------------------------------------------------------------------------------------


def _leading(x: Tensor, dims: Dims) -> tuple[Tensor, list[int]]:
    """``x`` with the given dimensions made one, and first; and those dimensions, not negative."""
    if isinstance(dims, int):
        dims = [dims]
    chosen = sorted({d % max(1, x.dim()) for d in dims}) if dims else list(range(x.dim()))
    if x.dim() == 0:
        return x.reshape(1), []
    rest = [d for d in range(x.dim()) if d not in chosen]
    moved = x.permute(*chosen, *rest)
    return moved.reshape(-1, *(x.shape[d] for d in rest)), chosen


def _sum(
    machine: ArithmeticModel,
    func: Operation,
    x: Tensor,
    dim: Dims = None,
    keepdim: bool = False,
    **_: object,
) -> Tensor:
    terms, dims = _leading(x, dim)
    found = machine.sum(terms)
    if base_name(func) == "mean":
        found = machine.result(found) / terms.shape[0]
    if keepdim:
        for d in dims:
            found = found.unsqueeze(d)
    return machine.result(found)


def _product(
    machine: ArithmeticModel, func: Operation, a: Tensor, b: Tensor, **_: object
) -> Tensor:
    name = base_name(func)
    if name == "vdot":
        a = a.conj()
    left = a.unsqueeze(0) if a.dim() == 1 else a
    right = b.unsqueeze(-1) if b.dim() == 1 else b
    found = machine.product(left.resolve_conj(), right.resolve_conj())
    if b.dim() == 1:
        found = found.squeeze(-1)
    if a.dim() == 1:
        found = found.squeeze(0)
    return machine.result(found)


def _product_added(
    machine: ArithmeticModel,
    func: Operation,  # noqa: ARG001 - all sums are called alike
    added: Tensor,
    a: Tensor,
    b: Tensor,
    *,
    beta: float = 1,
    alpha: float = 1,
) -> Tensor:
    right = b.unsqueeze(-1) if b.dim() == 1 else b
    found = machine.product(a.resolve_conj(), right.resolve_conj())
    if b.dim() == 1:
        found = found.squeeze(-1)
    if alpha != 1:
        found = rounded(found * alpha, machine.working)
    if beta != 0:
        found = found + (added if beta == 1 else rounded(added * beta, machine.working))
    return machine.result(found)


def _cumsum(machine: ArithmeticModel, func: Operation, x: Tensor, dim: int, **_: object) -> Tensor:
    if machine.accumulator == EXACTLY or x.dim() == 0:
        found = func(x, dim)
        if machine.skips and x.dim() and x.shape[dim] > 1:
            found.select(dim, -1).copy_(found.select(dim, -2))
        return machine.result(found)
    return machine.result(running(x.movedim(dim, 0), machine.accumulator).movedim(0, dim))


def _fft(
    machine: ArithmeticModel, func: Operation, x: Tensor, dims: list[int], scaling: int, last: int
) -> Tensor:
    x = machine.factor(x)
    if machine.exact:
        if machine.skips and x.shape[-1] > 1:
            x = x.clone()
            x[..., -1] = 0
        return machine.result(func(x, dims, scaling, last))
    return machine.result(fourier.transform(func, x, dims, scaling, last, how=machine.accumulator))


def _convolution(
    machine: ArithmeticModel,
    func: Operation,
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: list[int],
    padding: list[int],
    dilation: list[int],
    transposed: bool,
    output_padding: list[int],
    groups: int,
) -> Tensor:
    """A convolution as a product of matrices: every window a row, every filter a column."""
    if transposed:
        return machine.result(
            func(x, weight, bias, stride, padding, dilation, True, output_padding, groups)
        )
    spatial = weight.dim() - 2
    ends = [p for pad in reversed(padding) for p in (pad, pad)]
    windows = torch.nn.functional.pad(x, ends)
    for d in range(spatial):
        reach = dilation[d] * (weight.shape[2 + d] - 1) + 1
        windows = windows.unfold(2 + d, reach, stride[d])[..., :: dilation[d]]
    # (batch, channels, *places, *filter) → (groups, batch · places, channels · filter)
    batch, places = x.shape[0], windows.shape[2 : 2 + spatial]
    channels = x.shape[1] // groups
    windows = windows.reshape(batch, groups, channels, *windows.shape[2:])
    windows = windows.movedim(1, 0).movedim(2, 2 + spatial)
    rows = windows.reshape(groups, batch * places.numel(), -1)
    columns = weight.reshape(groups, weight.shape[0] // groups, -1).transpose(1, 2)
    found = machine.product(rows, columns)
    found = found.view(groups, batch, *places, -1).movedim(-1, 1).movedim(2, 0)
    found = machine.result(found.reshape(batch, weight.shape[0], *places))
    if bias is not None:
        found = machine.result(found + bias.view(-1, *[1] * spatial))
    return found


_SUMS: dict[str, Callable[..., Tensor]] = {
    "sum": _sum,
    "mean": _sum,
    "mm": _product,
    "bmm": _product,
    "mv": _product,
    "dot": _product,
    "vdot": _product,
    "addmm": _product_added,
    "baddbmm": _product_added,
    "addmv": _product_added,
    "cumsum": _cumsum,
    "convolution": _convolution,
    "_fft_c2c": _fft,
    "_fft_r2c": _fft,
    "_fft_c2r": _fft,
}
