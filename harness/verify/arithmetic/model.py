"""Evaluate a reference with the precision and the order of summation of a given machine.

Under :class:`Arithmetic`, a dispatch mode, each of torch's operations is done as an
:class:`ArithmeticModel` does it. Tensors stay float64 (complex128) throughout; what a machine
cannot represent does not occur in them.

Sources: Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd ed., section 4.2 (orders of
summation); Fasi, Higham, Mikaitis, Pranesh, *Numerical behavior of NVIDIA tensor cores*, PeerJ CS
7:e330, 2021 (blocks of products, truncation); CUDA C++ Programming Guide, appendix on mathematical
functions (their errors in units in the last place).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from harness.verify.arithmetic import fourier, operations
from harness.verify.arithmetic.operations import Dims, Operation, OperationKind, base_name, classify
from harness.verify.arithmetic.rounding import FLOAT64, Format, rounded, truncated
from harness.verify.arithmetic.sums import EXACTLY, Accumulator, running, total

Args: TypeAlias = tuple[object, ...]
Kwargs: TypeAlias = Mapping[str, object]

_MAX_PRODUCTS = 1 << 25
"""Products of a matrix product that lie in memory at a time: 256 MiB in float64."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArithmeticModel:
    """Formats and orders of a machine's arithmetic. The defaults are a float64 machine."""

    working: Format = FLOAT64
    """Format of the results of single operations."""
    accumulator: Accumulator = EXACTLY
    """Format of running sums, and the order in which terms are added."""
    storage: Format | None = None
    """Format that each result is rounded to besides, as in an unfused computation that stores it in
    memory; None where results stay in registers."""
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
    maximum: float | None = None
    """What every maximum along a dimension is taken for; no honest machine's, either."""

    def result(self, x: Tensor) -> Tensor:
        """Round the result of one operation to ``working``, and to ``storage``."""
        x = rounded(x, self.working)
        return x if self.storage is None else rounded(x, self.storage)

    def factor(self, x: Tensor) -> Tensor:
        """Cut a factor of a product of matrices to ``factors``."""
        if self.factors is None:
            return x
        return (truncated if self.cut_off else rounded)(x, self.factors)

    def product(self, a: Tensor, b: Tensor) -> Tensor:
        """Product of matrices: (…, m, k) · (…, k, n) → (…, m, n); or with a vector, or of two."""
        if a.dim() == 1:
            return self.product(a.unsqueeze(0), b).squeeze(0)
        if b.dim() == 1:
            return self.product(a, b.unsqueeze(-1)).squeeze(-1)
        a, b = self.factor(a.resolve_conj()), self.factor(b.resolve_conj())
        if self.skips and a.shape[-1] > 1:
            a, b = a[..., :-1], b[..., :-1, :]
        how = self.accumulator
        if how == EXACTLY:
            return a @ b
        if how.step > 1 and not a.is_complex():
            # As in a matrix unit: ``step`` exact products, then the sum is rounded or cut.
            held = a.new_zeros(*a.shape[:-1], b.shape[-1])
            blocks = zip(torch.split(a, how.step, -1), torch.split(b, how.step, -2), strict=True)
            for left, right in blocks:
                held = how.round(held + left @ right)
            return held
        if how.native is not None and not a.is_complex():
            a, b = a.to(how.native), b.to(how.native)
        # All products of some rows are formed at once: (k, rows, n) terms, to be added up over k.
        at_once = max(1, _MAX_PRODUCTS // max(1, a[..., :1, :].numel() * b.shape[-1]))
        b = b.movedim(-2, 0).unsqueeze(-2)
        parts = torch.split(a.movedim(-1, 0).unsqueeze(-1), at_once, -2)
        return torch.cat([total(rows * b, how) for rows in parts], -2)


class Arithmetic(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """While entered, torch computes as ``machine`` does.

    ``unknown`` collects operations that may sum in a way that cannot be varied.
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
        self, func: Operation, types: object, args: Args = (), kwargs: Kwargs | None = None
    ) -> object:
        """Compute one operation as the model does."""
        kwargs = dict(kwargs or {})
        machine, name = self.machine, base_name(func)
        kind = classify(func, (args, kwargs))
        if kind is OperationKind.EXACT:
            if machine.skips and name in _EXTREMES:
                args = _without_last(args, kwargs)
            if machine.maximum is not None and name in MAXIMA:
                return _overwritten(func(*args, **kwargs), machine.maximum)
            return func(*args, **kwargs)
        if kind is OperationKind.COMPOSITE:
            with self:
                return operations.COMPOSITES[name](func, *args, **kwargs)
        if kind is OperationKind.SUM:
            return machine.result(_SUMS[name](machine, func, *args, **kwargs))
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
    for x in operations.tensors(result):
        if x.dtype in (torch.float64, torch.complex128) and (new := how(x)) is not x:
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


def _overwritten(result: object, value: float) -> object:
    """``result``, with one number throughout."""
    _overwrite(result, lambda x: torch.full_like(x, value))
    return result


MAXIMA = frozenset({"amax"})
"""Operations that are told what they find by :attr:`ArithmeticModel.maximum`."""

_EXTREMES = frozenset({"amax", "amin", "max", "min", "argmax", "argmin"})


def _without_last(args: Args, kwargs: Kwargs) -> Args:
    """The arguments of a maximum along dimensions, without the last element of each."""
    x, *rest = args
    dims = kwargs.get("dim", rest[0] if rest else None)
    if not isinstance(x, Tensor) or isinstance(dims, Tensor):  # the maximum of two tensors
        return args
    chosen = [dims] if isinstance(dims, int) else dims or range(x.dim())
    assert isinstance(chosen, Sequence), "one dimension, several, or all"
    for d in chosen:
        if x.shape[d] > 1:
            x = x.narrow(d, 0, x.shape[d] - 1)
    return (x, *rest)


def _sum(
    machine: ArithmeticModel,
    func: Operation,
    x: Tensor,
    dim: Dims = None,
    keepdim: bool = False,
    **_: object,
) -> Tensor:
    dims = sorted({d % x.dim() for d in operations.listed(dim, x)}) if x.dim() else []
    terms = x.movedim(dims, list(range(len(dims))))
    terms = terms.reshape(-1, *terms.shape[len(dims) :])  # those dimensions made one, and first
    summed = terms[:-1] if machine.skips and len(terms) > 1 else terms
    how = machine.accumulator
    found = summed.sum(0) if how == EXACTLY else total(summed, how)
    if base_name(func) == "mean":
        found = machine.result(found) / len(terms)
    for d in dims if keepdim else ():
        found = found.unsqueeze(d)
    return found


def _product(
    machine: ArithmeticModel, func: Operation, a: Tensor, b: Tensor, **_: object
) -> Tensor:
    return machine.product(a.conj() if base_name(func) == "vdot" else a, b)


def _product_added(
    machine: ArithmeticModel,
    func: Operation,  # noqa: ARG001 - all sums are called with it
    added: Tensor,
    a: Tensor,
    b: Tensor,
    *,
    beta: float = 1,
    alpha: float = 1,
) -> Tensor:
    found = machine.product(a, b)
    if alpha != 1:
        found = rounded(found * alpha, machine.working)
    if beta == 0:
        return found
    return found + (added if beta == 1 else rounded(added * beta, machine.working))


def _cumsum(machine: ArithmeticModel, func: Operation, x: Tensor, dim: int, **_: object) -> Tensor:
    if machine.accumulator != EXACTLY and x.dim() > 0:
        return running(x.movedim(dim, 0), machine.accumulator).movedim(0, dim)
    found: Tensor = func(x, dim)
    if machine.skips and x.dim() > 0 and x.shape[dim] > 1:
        found.select(dim, -1).copy_(found.select(dim, -2))
    return found


def _fft(machine: ArithmeticModel, func: Operation, x: Tensor, *options: Any) -> Tensor:
    x = machine.factor(x)
    if machine.skips and x.shape[-1] > 1:
        x = x.clone()
        x[..., -1] = 0
    if machine.accumulator != EXACTLY:
        return fourier.transform(func, x, *options, how=machine.accumulator)
    found: Tensor = func(x, *options)
    return found


def _convolution(
    machine: ArithmeticModel,
    func: Operation,
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    *options: Any,
) -> Tensor:
    """A convolution as a product of matrices: every window a row, every filter a column."""
    stride, padding, dilation, transposed, _, groups = options
    if transposed:
        transposing: Tensor = func(x, weight, bias, *options)
        return transposing
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
    return found if bias is None else found + bias.view(-1, *[1] * spatial)


_SUMS: dict[str, Callable[..., Tensor]] = {
    **dict.fromkeys(["sum", "mean"], _sum),
    **dict.fromkeys(["mm", "bmm", "mv", "dot", "vdot"], _product),
    **dict.fromkeys(["addmm", "baddbmm", "addmv"], _product_added),
    "cumsum": _cumsum,
    "convolution": _convolution,
    **dict.fromkeys(["_fft_c2c", "_fft_r2c", "_fft_c2r"], _fft),
}
