"""How far float32 may be off: a reference run again with the errors that honest kernels make.

The reference computes in float64, and what each operation rounds is put in: a unit roundoff of
every result, and of a sum of n terms what adding them up in order loses by chance, which is about
√n roundoffs of the largest partial sum (Higham and Mary, *A new approach to probabilistic rounding
error analysis*, SIAM J. Sci. Comput. 41, 2019). The partial sums of terms of one sign grow to the
sum, those of both signs to the root of the sum of their squares; the larger of both counts. Factors
that are cut, as TF32's are, are no part of it.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from harness.formats.process.adaptor import Adaptor, Tensors
from harness.formats.process.modes import Uncompiled, tensors_in
from harness.formats.rounding import root_mean_square

RUNS = 3
"""Runs with other errors; the worst counts."""
ROOM = 4.0
"""What an answer may be off, in terms of that."""
ROUNDOFF = 2.0**-24
"""Of float32, in which kernels are taken to compute."""

_EXACT = frozenset({
    "abs", "amax", "amin", "arange", "argmax", "argmin", "cat", "clamp", "clamp_max",
    "clamp_min", "clone", "constant_pad_nd", "copy", "detach", "empty", "empty_like",
    "empty_strided", "expand", "eye", "fill", "flip", "floor", "ceil", "round", "full",
    "full_like", "gather", "hardtanh", "index", "index_select", "lift_fresh", "masked_fill",
    "max", "max_pool2d_with_indices", "max_pool3d_with_indices", "maximum", "min", "minimum",
    "neg", "new_empty", "new_full", "new_ones", "new_zeros", "nonzero", "one_hot", "ones",
    "ones_like", "permute", "rand", "randint", "randn", "randperm", "reflection_pad1d",
    "reflection_pad2d", "relu", "repeat", "replication_pad2d", "reshape", "roll",
    "scalar_tensor", "scatter", "select_scatter", "sign", "slice_scatter", "sort", "stack",
    "threshold", "topk", "tril", "triu", "unfold", "upsample_nearest2d", "where", "zero",
    "zeros", "zeros_like", "_to_copy", "_unsafe_view",
})  # fmt: skip
"""Operations whose results are among their arguments, or no results of arithmetic."""
_PRODUCTS = frozenset({"mm", "bmm", "mv", "dot", "convolution", "addmm", "baddbmm", "addmv"})
_BEHIND = frozenset({"addmm", "baddbmm", "addmv"})
"""Products that are added to their first argument."""
_COMPOSED = 4.0
"""Roundoffs of an operation that normalizes, sums or interpolates inside."""
_COMPOSED_OF = ("norm", "softmax", "pool", "upsample", "attention", "logsumexp", "var", "std")


def relative_error(problem: Adaptor, case: str, *, small: bool) -> dict[str, float]:
    """For each output what it may be off, in units of the larger of its size and the output's rms.

    Where arithmetic is exact, 0. Inputs and weights are those of fixed seeds, so that all
    submissions are judged alike.
    """
    inputs = problem.draw(case, 1, small=small)

    def run() -> Tensors:
        given = {name: tensor.clone() for name, tensor in inputs.items()}
        return problem.answers(case, given, 1, small=small)

    exact = run()
    worst = dict.fromkeys(exact, 0.0)
    for seed in range(RUNS):
        with Noise(seed):
            found = run()
        for name, right in exact.items():
            worst[name] = max(worst[name], _relative(found[name], right))
    return {name: ROOM * error for name, error in worst.items()}


def _relative(found: Tensor, right: Tensor) -> float:
    if not (right.is_floating_point() or right.is_complex()) or right.numel() == 0:
        return 0.0
    known = right.isfinite() & found.isfinite()
    size = right.abs().where(known, 0)
    rms = float(root_mean_square(size))
    error = (found - right).abs().where(known, 0) / size.clamp(min=rms or 1.0)
    return float(error.max())


class Noise(Uncompiled):
    """While entered, float64 operations have the errors of float32, drawn from a seed."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._seed = seed
        self._draws: dict[torch.device, torch.Generator] = {}

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> object:
        """Compute one operation, then put its errors in."""
        kwargs = kwargs or {}
        name = str(func.overloadpacket.__name__).removesuffix("_")
        if func.is_view or name in _EXACT:
            return func(*args, **kwargs)
        spread = _spread(func, name, args, kwargs)  # before: it may write to an argument
        result = func(*args, **kwargs)
        for x in tensors_in(result):
            if x.dtype is torch.float64 and x.numel():
                self._put(x, spread)
        return result

    def _put(self, x: Tensor, spread: "Tensor | float") -> None:
        """Errors in proportion to the result, or to what a sum's terms came to."""
        noise = self._drawn(x).mul_(2).sub_(1)
        size = x.abs()
        if isinstance(spread, Tensor):
            size = (
                torch.maximum(size, spread.reshape(x.shape))
                if spread.numel() == x.numel()
                else size
            )
        else:
            size = size * spread
        x.add_(noise.mul_(size.nan_to_num_(0, 0, 0)).mul_(ROUNDOFF))

    def _drawn(self, x: Tensor) -> Tensor:
        """Numbers from 0 to 1, drawn on the card where they belong there."""
        where = x.device if x.is_cuda else torch.device("cpu")
        if where not in self._draws:
            self._draws[where] = torch.Generator(where).manual_seed(self._seed)
        draws = self._draws[where]
        return torch.rand(x.shape, generator=draws, dtype=x.dtype, device=where).to(x.device)


def _spread(func: Any, name: str, args: Any, kwargs: Mapping[str, Any]) -> "Tensor | float":
    """What a sum's error is in proportion to, in roundoffs of 1; a factor for other operations."""
    tensors = [x for x in args if isinstance(x, Tensor) and x.dtype is torch.float64]
    if name in _PRODUCTS and tensors:
        return _product_spread(func, name, args, kwargs)
    if name in ("sum", "mean", "cumsum") and tensors:
        return _sum_spread(func, name, args, kwargs)
    if name in ("prod", "cumprod") and tensors:
        return math.sqrt(tensors[0].shape[args[1]] if len(args) > 1 else tensors[0].numel())
    if any(part in name for part in _COMPOSED_OF):
        most = max((x.numel() for x in tensors), default=1)
        return _COMPOSED * max(1.0, math.log2(most))
    return 1.0


def _product_spread(func: Any, name: str, args: Any, kwargs: Mapping[str, Any]) -> Tensor:
    """√n times the larger of |sum| and the root of the sum of squared products."""
    first = 1 if name in _BEHIND else 0
    a, b = args[first], args[first + 1]
    if name == "convolution":
        terms = b.numel() // max(1, b.shape[1 if args[6] else 0])
        squares: Tensor = func(a.square(), b.square(), None, *args[3:], **kwargs)
        sums: Tensor = func(*args, **kwargs)
    else:
        plain = {"addmm": torch.mm, "baddbmm": torch.bmm, "addmv": torch.mv}
        call: Callable[[Tensor, Tensor], Tensor] = plain.get(name, func)
        terms = a.shape[-1]
        squares, sums = call(a.square(), b.square()), call(a, b)
    return torch.maximum(squares.sqrt(), sums.abs()).mul_(math.sqrt(terms))


def _sum_spread(func: Any, name: str, args: Any, kwargs: Mapping[str, Any]) -> Tensor:
    x, *rest = args
    sums: Tensor = func(*args, **kwargs)
    squares: Tensor = func(x.square(), *rest, **kwargs)
    terms = (
        x.numel() / max(1, sums.numel()) if name != "cumsum" else x.shape[rest[0]] if x.dim() else 1
    )
    if name == "mean":  # the root of a sum of squares, divided by the number of terms
        squares = squares / terms
    return torch.maximum(squares.sqrt(), sums.abs()).mul_(math.sqrt(terms))
